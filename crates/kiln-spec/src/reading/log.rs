//! Where findings are collected. In: spans with reports, in any order. Out: the reports in file order, each at its line,
//! the same finding once, errors cut off after twenty with a count of the rest.

use std::cell::{Cell, RefCell};

use kiln_core::{Report, Severity, Span, nearest};

use crate::model::Source;

/// More errors than this help nobody: the first ones explain the rest.
const MOST_ERRORS: usize = 20;
/// Near names are looked for this often: it takes long among many names, and nobody sees more of them.
const MOST_SEARCHES: usize = 50;
/// Longer texts are cut: a value may be as long as the file.
const LONGEST_TEXT: usize = 400;

/// A report and the span it is about, before its line is looked up. Looking it up reads the file up to there, so it is
/// done only for what is shown.
#[derive(Debug, Clone)]
pub(crate) struct Finding {
    pub(crate) span: Option<Span>,
    pub(crate) report: Report,
}

/// The findings about one file.
pub(crate) struct Log {
    source: Source,
    line_starts: Vec<usize>,
    findings: RefCell<Vec<Finding>>,
    searches: Cell<usize>,
}

impl Log {
    pub(crate) fn new(source: Source) -> Log {
        let breaks = source.text.bytes().enumerate().filter(|(_, b)| *b == b'\n').map(|(i, _)| i + 1);
        let line_starts = std::iter::once(0).chain(breaks).collect();
        Log { source, line_starts, findings: RefCell::default(), searches: Cell::new(0) }
    }

    /// The file's name, for findings about all of it.
    pub(crate) fn file(&self) -> &str {
        &self.source.name
    }

    /// The file's text.
    pub(crate) fn text(&self) -> &str {
        &self.source.text
    }

    /// The line an offset is on, from 1.
    pub(crate) fn line(&self, offset: usize) -> usize {
        self.line_starts.partition_point(|start| *start <= offset)
    }

    /// Adds a finding about a part of the file.
    pub(crate) fn add(&self, span: Span, report: Report) {
        self.push(Finding { span: Some(span), report });
    }

    /// Adds a finding about the whole file.
    pub(crate) fn add_whole(&self, report: Report) {
        self.push(Finding { span: None, report });
    }

    pub(crate) fn push(&self, finding: Finding) {
        self.findings.borrow_mut().push(finding);
    }

    /// "did you mean ...?", if a candidate is near enough.
    pub(crate) fn did_you_mean<'c>(
        &self,
        typed: &str,
        candidates: impl IntoIterator<Item = &'c str>,
    ) -> Option<String> {
        self.searches.set(self.searches.get() + 1);
        if self.searches.get() > MOST_SEARCHES {
            return None;
        }
        nearest(typed, candidates).map(|near| format!("did you mean {near}?"))
    }

    /// The errors and the warnings.
    pub(crate) fn finish(self) -> (Vec<Report>, Vec<Report>) {
        let mut findings = self.findings.into_inner();
        // Stable: among findings at one place the first found comes first.
        findings.sort_by_key(|f| f.span.as_ref().map_or(0, |s| s.start));
        let (mut errors, mut warnings): (Vec<Finding>, Vec<Finding>) =
            findings.into_iter().partition(|f| f.report.severity == Severity::Error);
        for list in [&mut errors, &mut warnings] {
            // A shared expression is checked once for each target and may be wrong the same way in all.
            list.dedup_by(|b, a| a.span == b.span && a.report.message == b.report.message);
        }
        let hidden = errors.len().saturating_sub(MOST_ERRORS);
        let place = |f: Finding| {
            let report = one_line(f.report);
            match f.span {
                Some(span) => report.at(self.source.place(span)),
                None => report,
            }
        };
        let mut errors: Vec<Report> = errors.into_iter().take(MOST_ERRORS).map(place).collect();
        if hidden > 0 {
            errors.push(Report::error(format!("and {hidden} more")));
        }
        (errors, warnings.into_iter().map(place).collect())
    }
}

/// The report with texts that fit on a screen: they hold what the file holds, line breaks and all.
fn one_line(mut report: Report) -> Report {
    let tidy = |text: &str| {
        let mut tidy: String = text.chars().map(|c| if c.is_control() { ' ' } else { c }).take(LONGEST_TEXT).collect();
        if text.chars().nth(LONGEST_TEXT).is_some() {
            tidy += " ...";
        }
        tidy
    };
    report.message = tidy(&report.message);
    report.label = tidy(&report.label);
    report.hint = report.hint.as_deref().map(tidy);
    report
}

/// The first words of a list that may be long.
pub(crate) fn shortened(words: &[&str], separator: &str) -> String {
    const MOST_WORDS: usize = 8;
    let shown = words.iter().take(MOST_WORDS).copied().collect::<Vec<_>>().join(separator);
    if words.len() > MOST_WORDS { format!("{shown}{separator}... ({} in all)", words.len()) } else { shown }
}

/// "expected one of a, b, c"; a list of the author's own names may be long, and is cut.
pub(crate) fn expected_one_of<T: AsRef<str>>(words: impl IntoIterator<Item = T>) -> String {
    const MOST_WORDS: usize = 24;
    let mut words: Vec<String> = words.into_iter().take(MOST_WORDS + 1).map(|w| w.as_ref().to_owned()).collect();
    if words.len() > MOST_WORDS {
        words[MOST_WORDS] = "...".into();
    }
    match words.as_slice() {
        [only] => format!("expected {only}"),
        _ => format!("expected one of {}", words.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_come_in_file_order_once_each_and_are_capped() {
        let source = Source { name: "k".into(), text: "a\n".repeat(30).into() };
        let log = Log::new(source);
        for offset in (0..30).rev() {
            log.add(2 * offset..2 * offset + 1, Report::error(format!("e{offset}")));
            log.add(2 * offset..2 * offset + 1, Report::error(format!("e{offset}")));
        }
        assert_eq!(log.line(0), 1);
        assert_eq!(log.line(2), 2);
        let (errors, warnings) = log.finish();
        assert_eq!(errors.len(), 21);
        assert_eq!(errors[0].message, "e0");
        assert_eq!(errors[19].place.as_ref().unwrap().line, 20);
        assert_eq!(errors[20].message, "and 10 more");
        assert!(warnings.is_empty());
    }
}
