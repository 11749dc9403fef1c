//! A case as it is typed: `S=65,D=64; scale=0.5; inputs=spike; seed=7`, the parts in any order, each once. In: the text, the shape
//! that stands for dimensions left out, and the scalars that may vary. Out: the case. Refuses, with the place in the text, dimensions that are not the kernel's,
//! inputs that do not exist, numbers that do not fit, and what is given twice.

use std::sync::Arc;

use kiln_core::{Config, Place, Report, Span, Value, nearest};

use crate::drawn::distribution::Distribution;
use crate::fuzz::case::{FuzzCase, Shape};

const FLAG: &str = "--case";
const INPUTS: &str = "inputs";
const SEED: &str = "seed";

impl FuzzCase {
    /// The case that was typed. Dimensions that were left out are those of `usual`, inputs are as declared, the seed is 0.
    pub fn parse(text: &str, (usual, scalars): (&Shape, &[Arc<str>]), config: Config) -> Result<FuzzCase, Report> {
        let (inputs, shape) = (Distribution::Declared, usual.clone());
        let case = FuzzCase { shape, scalars: Vec::new(), inputs, seed: 0, config };
        let mut reading = Reading { text, case, scalars, given: Vec::new() };
        if let Some((at, odd)) = text.char_indices().find(|(_, c)| c.is_control() && !c.is_whitespace()) {
            let report = Report::error(format!("there is a control character, {}", odd.escape_unicode()));
            return Err(reading.at(at..at + odd.len_utf8(), report.label("expected printable text")));
        }
        for part in parts(text) {
            reading.part(part)?;
        }
        Ok(reading.case)
    }
}

struct Reading<'t> {
    text: &'t str,
    case: FuzzCase,
    scalars: &'t [Arc<str>],
    given: Vec<String>,
}

impl Reading<'_> {
    /// A report about a place in the text.
    fn at(&self, span: Span, report: Report) -> Report {
        let shown: String = self.text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
        // A control character may be longer than a blank.
        let span = if shown.len() == self.text.len() { span } else { 0..0 };
        let message = format!("{FLAG}: {}", report.message);
        Report { message, ..report.at(Place::of(FLAG, &shown, span)) }
    }

    fn part(&mut self, part: Span) -> Result<(), Report> {
        let words = &self.text[part.clone()];
        let key = words.split_once('=').map(|(name, value)| (name.trim(), value.trim()));
        match key {
            Some((INPUTS, name)) => {
                self.once(INPUTS, part.clone())?;
                self.case.inputs = named(name).map_err(|report| self.at(part, report))?;
            }
            Some((SEED, number)) => {
                self.once(SEED, part.clone())?;
                self.case.seed = number.parse().map_err(|_| {
                    let report = Report::error(format!("the seed is `{number}`"));
                    self.at(part, report.label(format!("expected a whole number from 0 to {}", u64::MAX)))
                })?;
            }
            _ => self.dimensions(part)?,
        }
        Ok(())
    }

    /// Refuses what is given for the second time.
    fn once(&mut self, name: &str, span: Span) -> Result<(), Report> {
        if self.given.iter().any(|given| given == name) {
            let report = Report::error(format!("{name} is given twice"));
            return Err(self.at(span, report.label("expected it once").hint("keep the one that is meant")));
        }
        self.given.push(name.into());
        Ok(())
    }

    /// Sets dimensions: `S=65,D=64`.
    fn dimensions(&mut self, part: Span) -> Result<(), Report> {
        let words = self.text[part.clone()].to_string();
        let given = Config::parse(&words).map_err(|error| {
            let report = Report::error(error.to_string()).label("expected NAME=VALUE,NAME=VALUE");
            self.at(part.clone(), report.hint(format!("as kiln prints it: {}", self.case)))
        })?;
        for (name, value) in given.iter() {
            let (span, typed) = pair(&words, name);
            let span = part.start + span.start..part.start + span.end;
            self.once(name, span.clone())?;
            let Some(place) = self.case.shape.iter().position(|(dim, _)| dim == name) else {
                match (self.scalars.iter().find(|scalar| ***scalar == **name), value) {
                    (None, _) => return Err(self.at(span, unknown(name, &self.case.shape, self.scalars))),
                    (Some(scalar), Value::Int(number)) => self.case.scalars.push((scalar.clone(), *number as f64)),
                    (Some(scalar), Value::Float(number)) if number.is_finite() => {
                        self.case.scalars.push((scalar.clone(), *number));
                    }
                    _ => {
                        let report = Report::error(format!("{name} is {typed}")).label("expected a number");
                        return Err(self.at(span, report));
                    }
                }
                continue;
            };
            let dim = &self.case.shape[place].1;
            if dim.kind() != value.kind() {
                let label = match is_whole(typed) && matches!(dim, Value::Int(_)) {
                    true => format!("expected an integer from {} to {}", i64::MIN, i64::MAX),
                    false => format!("expected {}, as in {name}={dim}", article(dim.kind())),
                };
                return Err(self.at(span, Report::error(format!("{name} is {typed}")).label(label)));
            }
            self.case.shape[place].1 = value.clone();
        }
        Ok(())
    }
}

/// The parts between semicolons, without blanks around them; semicolons in quotes are no ends.
fn parts(text: &str) -> Vec<Span> {
    let (mut found, mut start, mut quoted) = (Vec::new(), 0, false);
    for (at, c) in text.char_indices().chain([(text.len(), ';')]) {
        quoted ^= c == '"';
        if c == ';' && (!quoted || at == text.len()) {
            let part = &text[start..at];
            let begin = start + part.len() - part.trim_start().len();
            found.push(begin..begin + part.trim().len());
            start = at + 1;
        }
    }
    found.retain(|part| !part.is_empty());
    found
}

/// Where a name stands with its value among pairs, and the value as it was typed.
fn pair<'t>(words: &'t str, name: &str) -> (Span, &'t str) {
    let is_end = |c: char| c == ',' || c.is_whitespace();
    for (at, _) in words.match_indices(name) {
        let begins = words[..at].chars().next_back().is_none_or(is_end);
        let after = &words[at + name.len()..];
        let Some(value) = after.trim_start().strip_prefix('=').filter(|_| begins) else { continue };
        let value = value.trim_start();
        let start = words.len() - value.len();
        let value = if value.starts_with('"') { value } else { value.split(is_end).next().unwrap_or(value) };
        return (at..start + value.len(), value);
    }
    (0..words.len(), words)
}

fn is_whole(typed: &str) -> bool {
    let digits = typed.trim_start_matches(['-', '+']);
    !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit())
}

fn article(kind: &str) -> String {
    let an = if kind.starts_with('i') { "an" } else { "a" };
    format!("{an} {kind}")
}

/// The distribution of that name. Refuses others, with the list.
fn named(name: &str) -> Result<Distribution, Report> {
    Distribution::named(name).ok_or_else(|| {
        let all: Vec<String> = Distribution::FUZZED.iter().map(ToString::to_string).collect();
        let near = nearest(name, all.iter().map(String::as_str)).map(|near| format!("did you mean {near}?"));
        let report = Report::error(format!("there are no inputs `{name}`"));
        report.label(format!("expected one of {}", all.join(", "))).maybe_hint(near)
    })
}

fn unknown(name: &str, shape: &Shape, scalars: &[Arc<str>]) -> Report {
    let known = shape.iter().map(|(name, _)| &**name).chain(scalars.iter().map(|name| &**name));
    let known: Vec<&str> = known.chain([INPUTS, SEED]).collect();
    let near = nearest(name, known.iter().copied()).map(|near| format!("did you mean {near}?"));
    let report = Report::error(format!("there is no dimension `{name}`"));
    report.label(format!("expected one of {}", known.join(", "))).maybe_hint(near)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn usual() -> Shape {
        let text: Arc<str> = "bhsd".into();
        vec![("S".into(), Value::Int(128)), ("D".into(), Value::Int(64)), ("LAYOUT".into(), Value::Str(text))]
    }

    fn parsed(text: &str) -> Result<FuzzCase, Report> {
        FuzzCase::parse(text, (&usual(), &["scale".into()]), Config::default())
    }

    fn said(text: &str) -> String {
        parsed(text).unwrap_err().to_string()
    }

    #[test]
    fn what_is_printed_reads_back() {
        let case = parsed("S=65; inputs=scaled_4; seed=7").unwrap();
        assert_eq!(case.to_string(), "S=65,D=64,LAYOUT=bhsd; inputs=scaled_4; seed=7");
        assert_eq!(parsed(&case.to_string()), Ok(case.clone()));
        // In any order, with blanks and lines.
        assert_eq!(parsed(" seed = 7 ;\n inputs=scaled_4;; S = 65 "), Ok(case));
        let plain = parsed("").unwrap();
        assert_eq!((plain.shape, plain.inputs, plain.seed), (usual(), Distribution::Declared, 0));
        let scaled = parsed("scale=-0.015625; S=1").unwrap();
        assert_eq!(scaled.scalars, [("scale".into(), -0.015625)]);
        assert_eq!(scaled.to_string(), "S=1,D=64,LAYOUT=bhsd; scale=-0.015625; inputs=declared; seed=0");
        assert_eq!(parsed(&scaled.to_string()), Ok(scaled));
        let quoted = parsed("LAYOUT=\"b; s, d\"; S=2").unwrap();
        assert_eq!((&quoted.shape[2].1, &quoted.shape[0].1), (&Value::from("b; s, d"), &Value::Int(2)));
        assert_eq!(parsed(&quoted.to_string()), Ok(quoted));
    }

    #[test]
    fn mistakes_are_named() {
        let unknown = said("T=65");
        assert!(unknown.contains("--case: there is no dimension `T`"), "{unknown}");
        assert!(unknown.contains("expected one of S, D, LAYOUT, scale, inputs, seed"), "{unknown}");
        assert!(said("input=spike").contains("did you mean inputs?"), "{}", said("input=spike"));
        assert!(said("inputs=spik").contains("did you mean spik"), "{}", said("inputs=spik"));
        assert!(said("S=large").contains("expected an integer, as in S=128"), "{}", said("S=large"));
        assert!(said("scale=big").contains("expected a number"), "{}", said("scale=big"));
        assert!(said("S=1.5").contains("--case: S is 1.5"), "{}", said("S=1.5"));
        assert!(said("S").contains("`S` has no `=`"), "{}", said("S"));
    }

    #[test]
    fn what_is_given_twice_is_marked_where_it_is_the_second() {
        for (text, name, column) in [
            ("inputs=spike; inputs=large", "inputs", 15),
            ("seed=1; S=2; seed=1", "seed", 14),
            ("S=1; D=2, S=3", "S", 11),
        ] {
            let report = parsed(text).unwrap_err();
            assert_eq!(report.message, format!("--case: {name} is given twice"));
            assert_eq!(report.place.as_ref().map(|place| place.column), Some(column), "{report}");
        }
        assert!(said("S=1,S=2").contains("S is given twice"), "{}", said("S=1,S=2"));
    }

    #[test]
    fn numbers_that_do_not_fit_are_told_with_the_range() {
        for text in ["seed=-1", "seed=18446744073709551616", "seed=", "seed=1e3"] {
            assert!(said(text).contains("expected a whole number from 0 to 18446744073709551615"), "{}", said(text));
        }
        let huge = said("D=1, S=99999999999999999999; seed=1");
        assert!(huge.contains("--case: S is 99999999999999999999") && huge.contains("--case:1:6"), "{huge}");
        assert!(huge.contains("expected an integer from -9223372036854775808 to 9223372036854775807"), "{huge}");
    }

    #[test]
    fn control_characters_are_not_printed() {
        let report = said("S=\u{1b}[31m5");
        assert!(report.contains("control character, \\u{1b}") && !report.contains('\u{1b}'), "{report}");
    }

    proptest! {
        #[test]
        fn any_text_is_read_or_refused_in_printable_words(text in "[SDLAYOUTinputsed=;, \"0-9a-z\u{1b}é\n-]{0,40}") {
            match parsed(&text) {
                // A quote within a word cannot be typed.
                Ok(case) if case.shape[2].1.to_string().contains('"') => {}
                Ok(case) => prop_assert_eq!(parsed(&case.to_string()), Ok(case.clone()), "{}", case),
                Err(report) => prop_assert!(!report.to_string().contains('\x1b'), "{}", report),
            }
        }
    }
}
