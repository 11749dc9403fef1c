//! The form of a rule. A cause is claimed when all its conditions hold; each condition is a metric of the page against a threshold in that
//! metric's unit. Those that say what is wrong are cited as evidence, where a healthy value of them alone ends the claim.

use serde::{Deserialize, Serialize};

use super::cause::Bottleneck;
use super::metric::{self as m, Metric};
use super::subject::Subject;
use crate::model::Expected;

/// A metric that speaks for a cause.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Evidence {
    /// The metric's name, as the page has it.
    pub metric: String,
    /// Its value there.
    pub value: f64,
    /// Where a healthy value begins.
    pub threshold: f64,
}

/// Something to change.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Fix {
    /// What to change.
    pub what: String,
    /// How, with a sketch of the code.
    pub how: String,
    /// The speedup that is promised.
    pub expected_speedup: f64,
    /// What to expect by what promises gave before; none where the model was not asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expected: Option<Expected>,
}

/// On which side of its threshold a metric speaks for the cause.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Side {
    Above,
    Below,
}

/// A metric against its threshold.
#[derive(Debug, Clone, PartialEq)]
pub struct Condition {
    /// The metric's name.
    pub metric: &'static str,
    /// Its value; none if the page does not have it.
    pub value: Option<f64>,
    /// Where a healthy value begins.
    pub threshold: f64,
    pub(crate) side: Side,
    /// Whether it only tells the cause from others: its value is not what is wrong.
    pub(crate) context: bool,
}

impl Condition {
    /// The same, as a condition that tells the cause from others.
    pub(crate) fn context(self) -> Self {
        Self { context: true, ..self }
    }

    /// Whether it speaks for the cause.
    pub fn holds(&self) -> bool {
        self.value.is_some_and(|value| match self.side {
            Side::Above => value > self.threshold,
            Side::Below => value < self.threshold,
        })
    }

    /// Whether values above the threshold are the unhealthy ones.
    pub fn above(&self) -> bool {
        self.side == Side::Above
    }

    /// How far the value is beyond the threshold, as a part of the larger of the two. None for what a launch was given: such numbers are exact.
    pub(crate) fn margin(&self) -> Option<f64> {
        if EXACT.iter().any(|metric| metric.contains(&self.metric)) {
            return None;
        }
        let (value, threshold) = (self.value?.abs(), self.threshold.abs());
        let (less, more) = if self.above() { (threshold, value) } else { (value, threshold) };
        Some(if more > 0.0 { (1.0 - less / more).clamp(0.0, 1.0) } else { 0.0 })
    }
}

/// Numbers of the launch and of the device, which do not vary from run to run.
const EXACT: &[Metric] =
    &[m::GRID, m::WAVES, m::THEORETICAL, m::LIMIT_BLOCKS, m::LIMIT_REGISTERS, m::LIMIT_SHARED, m::LIMIT_WARPS];

/// A metric that is too high.
pub(crate) fn above(subject: &Subject, metric: Metric, threshold: f64) -> Condition {
    condition(subject, metric, threshold, Side::Above)
}

/// A metric that is too low.
pub(crate) fn below(subject: &Subject, metric: Metric, threshold: f64) -> Condition {
    condition(subject, metric, threshold, Side::Below)
}

fn condition(subject: &Subject, metric: Metric, threshold: f64, side: Side) -> Condition {
    let reading = subject.reading(metric);
    let metric = reading.map_or(metric.first().copied().unwrap_or_default(), |reading| reading.name);
    Condition { metric, value: reading.map(|reading| reading.value), threshold, side, context: false }
}

/// One cause: when it is claimed, what its removal is worth, and what to do.
pub(crate) struct Rule {
    pub(crate) cause: Bottleneck,
    /// The metrics without which nothing is claimed: those of the conditions, their thresholds, and what chooses between them.
    pub(crate) needs: &'static [&'static [Metric]],
    /// All of these must hold. The most telling comes first.
    pub(crate) conditions: fn(&Subject) -> Vec<Condition>,
    /// The speedup when the cause is removed.
    pub(crate) gain: fn(&Subject) -> f64,
    /// Two sentences with the numbers in them.
    pub(crate) explain: fn(&Subject) -> String,
    /// What to change, for a kernel that gains this much by it.
    pub(crate) fixes: fn(&Subject, f64) -> Vec<Fix>,
}

impl Rule {
    /// The metrics that the claim rests on and the page does not have.
    pub(crate) fn missing(&self, subject: &Subject) -> impl Iterator<Item = Metric> {
        self.needs.iter().copied().flatten().copied().filter(|metric| subject.lacks(metric))
    }

    /// Whether the cause is claimed.
    pub(crate) fn holds(&self, subject: &Subject) -> bool {
        if self.missing(subject).next().is_some() {
            return false;
        }
        let conditions = (self.conditions)(subject);
        !conditions.is_empty() && conditions.iter().all(Condition::holds)
    }

    /// The smallest margin of all conditions: 1 where none has one.
    pub(crate) fn margin(&self, subject: &Subject) -> f64 {
        (self.conditions)(subject).iter().filter_map(Condition::margin).fold(1.0, f64::min)
    }

    /// What the claim promises. A large gain fades in from the threshold on, so that a number that varies by a percent does not
    /// turn one diagnosis into another.
    pub(crate) fn promise(&self, subject: &Subject) -> f64 {
        let gain = (self.gain)(subject);
        let beyond = (gain / AT_ONCE).max(1.0);
        gain.min(AT_ONCE * beyond.powf((self.margin(subject) / FADES_IN).min(1.0)))
    }
}

/// Promised from the threshold on: what a unit at 80 % leaves.
const AT_ONCE: f64 = 1.25;

/// From this margin on the whole gain is promised.
const FADES_IN: f64 = 0.1;

/// A fix.
pub(crate) fn fix(what: &str, how: &str, expected_speedup: f64) -> Fix {
    Fix { what: what.into(), how: how.into(), expected_speedup: rounded(expected_speedup), expected: None }
}

/// A speedup to three significant digits.
pub(crate) fn rounded(gain: f64) -> f64 {
    let digits = 10f64.powi(2 - gain.abs().max(1e-9).log10().floor() as i32);
    (gain * digits).round() / digits
}
