//! A message about a file: what is wrong, the line with a caret, what was expected, a hint. In: a span in a source text.
//! Out: a self-contained record that prints the same with or without a terminal.

use std::fmt;
use std::ops::Range;

use serde::Serialize;

/// A byte range in a source text.
pub type Span = Range<usize>;

/// How bad it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// Nothing can be built from this file.
    Error,
    /// It works, but is probably not what was meant.
    Warning,
}

/// A line of a file with a marked part.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Place {
    /// The file's name as the user gave it.
    pub file: String,
    /// Line, from 1.
    pub line: usize,
    /// Column in characters, from 1.
    pub column: usize,
    /// The line's text, cut around the mark when it is very long.
    pub text: String,
    /// Where the mark begins in `text`, from 1.
    #[serde(skip)]
    pub caret: usize,
    /// How many characters are marked.
    pub width: usize,
}

/// Lines longer than this are cut around the mark: a minified file would fill the screen.
const WIDEST_LINE: usize = 160;

impl Place {
    /// The place of `span` in `text`. A span over several lines marks the rest of its first line.
    pub fn of(file: &str, text: &str, span: Span) -> Place {
        let at = floor_boundary(text, span.start);
        let start = text[..at].rfind('\n').map_or(0, |i| i + 1);
        let end = text[at..].find('\n').map_or(text.len(), |i| at + i);
        let stop = floor_boundary(text, span.end).clamp(at, end);
        let column = text[start..at].chars().count() + 1;
        let mut line: Vec<char> = text[start..end].trim_end_matches('\r').replace('\t', " ").chars().collect();
        let mut skipped = 0;
        if line.len() > WIDEST_LINE {
            skipped = (column - 1).saturating_sub(WIDEST_LINE / 4);
            line = line.into_iter().skip(skipped).take(WIDEST_LINE).collect();
        }
        let caret = column - skipped;
        let room = (line.len() + 1).saturating_sub(caret).max(1);
        Place {
            file: file.into(),
            line: text[..at].bytes().filter(|b| *b == b'\n').count() + 1,
            column,
            text: line.into_iter().collect(),
            caret,
            width: text[at..stop].chars().count().clamp(1, room),
        }
    }
}

fn floor_boundary(text: &str, at: usize) -> usize {
    let mut at = at.min(text.len());
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}

/// One finding.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Report {
    /// How bad.
    pub severity: Severity,
    /// What is wrong, in one line.
    pub message: String,
    /// Where; none when it concerns the whole file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub place: Option<Place>,
    /// Beside the caret: what was expected there.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub label: String,
    /// What to do about it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
}

impl Report {
    /// An error without a place yet.
    pub fn error(message: impl Into<String>) -> Report {
        Report { severity: Severity::Error, message: message.into(), place: None, label: String::new(), hint: None }
    }

    /// A warning without a place yet.
    pub fn warning(message: impl Into<String>) -> Report {
        Report { severity: Severity::Warning, ..Report::error(message) }
    }

    /// The same finding, at a place.
    pub fn at(mut self, place: Place) -> Report {
        self.place = Some(place);
        self
    }

    /// The same finding with words beside the caret.
    pub fn label(mut self, label: impl Into<String>) -> Report {
        self.label = label.into();
        self
    }

    /// The same finding with a hint.
    pub fn hint(mut self, hint: impl Into<String>) -> Report {
        self.hint = Some(hint.into());
        self
    }

    /// The same finding, with a hint if there is one.
    pub fn maybe_hint(mut self, hint: Option<String>) -> Report {
        self.hint = hint.or(self.hint);
        self
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let severity = match self.severity {
            Severity::Error => "error",
            Severity::Warning => "warning",
        };
        write!(f, "{severity}: {}", self.message)?;
        let mut gutter = String::from("  ");
        if let Some(place) = &self.place {
            let number = place.line.to_string();
            gutter = " ".repeat(number.len() + 1);
            write!(f, "\n{gutter}--> {}:{}:{}", place.file, place.line, place.column)?;
            write!(f, "\n{gutter}|\n{number} | {}", place.text)?;
            let caret = format!("{}{}", " ".repeat(place.caret - 1), "^".repeat(place.width));
            write!(f, "\n{gutter}| {caret} {}", self.label)?;
        } else if !self.label.is_empty() {
            write!(f, "\n{gutter}= {}", self.label)?;
        }
        if let Some(hint) = &self.hint {
            write!(f, "\n{gutter}= hint: {hint}")?;
        }
        Ok(())
    }
}

impl std::error::Error for Report {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_caret_stands_under_the_marked_part() {
        let text = "[a]\nrows = \"BLOK_M == 0\"\n";
        let at = text.find("BLOK").unwrap();
        let report = Report::error("BLOK_M is not defined")
            .at(Place::of("k.toml", text, at..at + 6))
            .label("not a tunable")
            .hint("did you mean BLOCK_M?");
        assert_eq!(
            report.to_string(),
            "error: BLOK_M is not defined\n  --> k.toml:2:9\n  |\n2 | rows = \"BLOK_M == 0\"\n  |         ^^^^^^ not a tunable\n  = hint: did you mean BLOCK_M?"
        );
    }

    #[test]
    fn long_lines_and_odd_spans_are_survived() {
        let text = format!("{}é{}", "x".repeat(500), "y".repeat(500));
        for span in [0..1, 500..501, 501..502, 900..5000, 5000..6000] {
            let place = Place::of("f", &text, span);
            assert!(place.text.chars().count() <= WIDEST_LINE);
            assert!(place.caret <= WIDEST_LINE + 1 && place.width >= 1);
        }
    }
}
