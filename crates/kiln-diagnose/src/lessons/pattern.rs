//! One way in which a lesson shows itself. Everything it states must hold; of a list, any entry will do.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::OnceLock;

use kiln_core::Gate;
use regex::{Regex, RegexBuilder};

use super::{Habit, Symptoms};

/// A regular expression, without case, compiled when it is first needed: most are never reached.
#[derive(Clone)]
pub struct Words {
    source: String,
    compiled: OnceLock<Option<Regex>>,
}

/// Compiled expressions larger than this are refused: a lesson is words, not a program.
const LARGEST: usize = 1 << 20;

impl Words {
    /// Words that are known to be an expression.
    pub(super) fn new(source: impl Into<String>) -> Words {
        Words { source: source.into(), compiled: OnceLock::new() }
    }

    /// What is wrong with them, if anything.
    pub(super) fn mistake(&self) -> Option<String> {
        let error = match compile(&self.source) {
            // Whatever was said, it would be this lesson's.
            Ok(regex) if regex.is_match("") => return Some("it matches everything".into()),
            Ok(_) => return None,
            Err(error) => error.to_string(),
        };
        // The last line says what is wrong, the others draw it.
        let last = error.lines().last().unwrap_or_default();
        Some(last.strip_prefix("error: ").unwrap_or(last).to_string())
    }

    /// The expression as it is written.
    pub fn source(&self) -> &str {
        &self.source
    }

    fn found_in(&self, text: &str) -> bool {
        let compiled = self.compiled.get_or_init(|| compile(&self.source).ok());
        compiled.as_ref().is_some_and(|regex| regex.is_match(text))
    }
}

fn compile(source: &str) -> Result<Regex, regex::Error> {
    RegexBuilder::new(source).case_insensitive(true).multi_line(true).size_limit(LARGEST).build()
}

impl PartialEq for Words {
    fn eq(&self, other: &Words) -> bool {
        self.source == other.source
    }
}

impl fmt::Debug for Words {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", self.source)
    }
}

/// The values of a metric for which a lesson applies.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Range {
    /// More than this.
    pub above: Option<f64>,
    /// Less than this.
    pub below: Option<f64>,
}

impl Range {
    fn holds(&self, value: f64) -> bool {
        self.above.is_none_or(|least| value > least) && self.below.is_none_or(|most| value < most)
    }
}

/// One way in which a lesson shows itself.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Pattern {
    /// Any of these gates.
    pub gate: Vec<Gate>,
    /// Any of these in the name of the gate's rule.
    pub rule: Vec<Words>,
    /// Any of these in what was said.
    pub text: Vec<Words>,
    /// Any of these causes.
    pub causes: Vec<String>,
    /// Any of these findings of the doctor.
    pub findings: Vec<String>,
    /// Any of these habits.
    pub habits: Vec<Habit>,
    /// An architecture that begins like one of these.
    pub arch: Vec<String>,
    /// Any of these kinds of kernels.
    pub kinds: Vec<String>,
    /// Every one of these metrics within its range.
    pub metrics: BTreeMap<String, Range>,
}

/// What each kind of evidence is worth: words and causes name a failure, a gate only where it was met.
const NAMES_IT: u32 = 3;
const PLACES_IT: u32 = 2;
const NARROWS_IT: u32 = 1;

impl Pattern {
    /// How specific the match is; none where something that is stated does not hold.
    pub(super) fn score(&self, seen: &Symptoms) -> Option<u32> {
        let any = |wanted: &[String], found: &[String]| wanted.iter().any(|one| found.contains(one));
        let parts = [
            (self.gate.is_empty(), PLACES_IT, seen.gate.is_some_and(|gate| self.gate.contains(&gate))),
            (self.rule.is_empty(), PLACES_IT, self.rule.iter().any(|words| words.found_in(&seen.rule))),
            (self.causes.is_empty(), NAMES_IT, any(&self.causes, &seen.causes)),
            (self.findings.is_empty(), NAMES_IT, any(&self.findings, &seen.findings)),
            (self.habits.is_empty(), NAMES_IT, self.habits.iter().any(|habit| seen.habits.contains(habit))),
            (self.metrics.is_empty(), PLACES_IT, self.metrics.iter().all(|(name, range)| within(seen, name, range))),
            (self.arch.is_empty(), NARROWS_IT, self.arch.iter().any(|one| on(seen, one))),
            (self.kinds.is_empty(), NARROWS_IT, any(&self.kinds, &seen.kinds)),
        ];
        if parts.iter().any(|(free, _, holds)| !free && !holds) {
            return None;
        }
        // Text comes last: it is the only part that takes time.
        let said = self.text.is_empty() || self.text.iter().any(|words| words.found_in(&seen.text));
        let text = if self.text.is_empty() { 0 } else { NAMES_IT };
        let worth = |(free, worth, _): &(bool, u32, bool)| if *free { 0 } else { *worth };
        said.then(|| text + parts.iter().map(worth).sum::<u32>())
    }

    /// Whether it says what went wrong, and not only on what.
    pub(super) fn says_something(&self) -> bool {
        let Pattern { gate, rule, text, causes, findings, habits, metrics, .. } = self;
        let lists = [rule.is_empty(), text.is_empty(), causes.is_empty(), findings.is_empty()];
        !(gate.is_empty() && habits.is_empty() && metrics.is_empty() && lists.iter().all(|empty| *empty))
    }

    /// Everything it states, as text.
    pub(super) fn words(&self) -> impl Iterator<Item = &str> {
        let expressions = self.rule.iter().chain(&self.text).map(Words::source);
        let names = self.causes.iter().chain(&self.findings).chain(&self.kinds).chain(&self.arch).map(String::as_str);
        let lists = self.gate.iter().map(|gate| gate.name()).chain(self.habits.iter().map(|habit| habit.id()));
        expressions.chain(names).chain(lists).chain(self.metrics.keys().map(String::as_str))
    }
}

fn within(seen: &Symptoms, name: &str, range: &Range) -> bool {
    seen.metrics.get(name).is_some_and(|value| range.holds(*value))
}

fn on(seen: &Symptoms, arch: &str) -> bool {
    seen.arch.as_deref().is_some_and(|own| own.starts_with(arch))
}
