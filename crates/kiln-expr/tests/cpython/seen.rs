//! What the cases have covered.

use std::collections::BTreeMap;

use kiln_core::Value;
use kiln_expr::Function;

use crate::case::*;
use crate::trees::*;

#[derive(Default)]
pub(crate) struct Seen {
    pub(crate) cases: u64,
    pub(crate) rows: u64,
    pub(crate) known: u64,
    /// How often each form, and each kind of result.
    pub(crate) counts: BTreeMap<String, u64>,
}

impl Seen {
    pub(crate) fn note(&mut self, case: &Case, own: &Own) {
        self.cases += 1;
        self.rows += case.rows.len() as u64;
        self.known += u64::from(own.known_range);
        case.tree.forms(&mut |form| *self.counts.entry(form.to_string()).or_default() += 1);
        for outcome in &own.outcomes {
            let kind = match outcome {
                Outcome::Value(Value::Float(v)) if v.is_nan() => "gives NaN".into(),
                Outcome::Value(v) => format!("gives {}", v.kind()),
                Outcome::Fail(kind) => format!("fails with {kind:?}"),
                Outcome::Other(_) => continue,
            };
            *self.counts.entry(kind).or_default() += 1;
        }
    }

    pub(crate) fn merge(&mut self, other: Seen) {
        self.cases += other.cases;
        self.rows += other.rows;
        self.known += other.known;
        other.counts.into_iter().for_each(|(k, n)| *self.counts.entry(k).or_default() += n);
    }

    /// A test that has stopped generating something would pass without holding it.
    pub(crate) fn covers_the_language(&self) {
        let mut wanted: Vec<String> = NAMES.iter().map(|(name, _)| name.to_string()).collect();
        wanted.extend(Function::ALL.iter().map(|(_, name, ..)| name.to_string()));
        wanted.extend(
            "+ - * / // % ** == != < <= > >= and or if in".split(' ').map(str::to_string).chain(
                [
                    "not in",
                    "unary -",
                    "unary +",
                    "unary not",
                    "a chain",
                    "membership in a chain",
                    "round to digits",
                    "gives integer",
                    "gives float",
                    "gives boolean",
                    "gives string",
                    "gives NaN",
                    "fails with DivisionByZero",
                    "fails with Overflow",
                    "fails with Domain",
                    "fails with Type",
                ]
                .map(str::to_string),
            ),
        );
        for form in wanted {
            let count = self.counts.get(&form).copied().unwrap_or_default();
            assert!(count * 500 >= self.cases, "only {count} of {} expressions for: {form}", self.cases);
        }
        assert!(self.known * 10 >= self.cases, "only {} of {} ranges are known", self.known, self.cases);
    }
}
