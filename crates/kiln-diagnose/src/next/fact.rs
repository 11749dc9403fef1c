//! One thing that is known of a kernel, under its name in the tree. In: typed evidence. Out: data that questions compare and words
//! show. A fact that is not in the map is not known; one that is known not to be is `Is(false)`.

use std::collections::BTreeMap;

use kiln_core::quoted;
use serde::{Serialize, Serializer};

/// Every name that the tree may use besides thresholds.
pub const FACTS: [&str; 83] = [
    "at",
    "back_to",
    "baseline",
    "baseline_measured",
    "baselines",
    "before",
    "bench_seconds",
    "best",
    "blind",
    "blind_changes",
    "broken_here",
    "cause",
    "chosen",
    "confirmed",
    "correct",
    "decided",
    "edited",
    "ending",
    "environment_fault",
    "environment_fix",
    "examined",
    "failing_case",
    "fault_cause",
    "fault_command",
    "fix",
    "fix_enough",
    "fix_gain",
    "fix_kept",
    "fix_promise",
    "fix_workload",
    "fixed_cause",
    "folder",
    "goal",
    "gpu_state",
    "gpu_stopped",
    "guard",
    "guarded",
    "has_baseline",
    "has_reference",
    "kernel",
    "last_fault",
    "last_good",
    "limit",
    "logged",
    "measured_by",
    "message",
    "noisy",
    "other_cause",
    "other_promise",
    "other_workload",
    "path",
    "profiled",
    "promise",
    "reachable",
    "recorded",
    "refusal",
    "refusal_gate",
    "refusal_kind",
    "refusal_stage",
    "refusals_alike",
    "refused_config",
    "repository",
    "retired",
    "revert",
    "running_study",
    "settled",
    "several_changed",
    "smallest_workload",
    "speedup",
    "speedup_interval",
    "stashed",
    "stop_rule",
    "study",
    "target",
    "too_short",
    "tune_seconds",
    "tuned",
    "unchecked",
    "uncommitted",
    "unfinished_study",
    "unpushed",
    "validated",
    "workload",
];

/// What is known under a name.
#[derive(Debug, Clone, PartialEq)]
pub enum Datum {
    /// Whether it is so.
    Is(bool),
    /// How many times as fast.
    Times(f64),
    /// A part of a whole.
    Share(f64),
    /// How long.
    Seconds(f64),
    /// How many.
    Count(u64),
    /// A name or a sentence; a shell takes it as one word.
    Words(String),
    /// A part of a command, quoted already.
    Typed(String),
}

/// What is known, by name.
pub type Facts = BTreeMap<&'static str, Datum>;

impl Datum {
    /// The number that thresholds are compared with.
    pub fn number(&self) -> Option<f64> {
        match self {
            Datum::Times(value) | Datum::Share(value) | Datum::Seconds(value) => Some(*value),
            Datum::Count(count) => Some(*count as f64),
            Datum::Is(_) | Datum::Words(_) | Datum::Typed(_) => None,
        }
    }

    /// For people; none for what is only so or not.
    pub fn shown(&self) -> Option<String> {
        Some(match self {
            Datum::Is(_) => return None,
            Datum::Times(value) => format!("{}x", three(*value)),
            Datum::Share(value) => format!("{} %", three(100.0 * value)),
            Datum::Seconds(value) => seconds(*value),
            Datum::Count(count) => count.to_string(),
            Datum::Words(words) | Datum::Typed(words) => words.clone(),
        })
    }

    /// For a command line.
    pub fn typed(&self) -> Option<String> {
        match self {
            Datum::Words(words) => Some(quoted(words)),
            other => other.shown(),
        }
    }
}

impl Serialize for Datum {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Datum::Is(so) => serializer.serialize_bool(*so),
            Datum::Times(value) | Datum::Share(value) | Datum::Seconds(value) => serializer.serialize_f64(*value),
            Datum::Count(count) => serializer.serialize_u64(*count),
            Datum::Words(words) | Datum::Typed(words) => serializer.serialize_str(words),
        }
    }
}

/// Three digits that count.
fn three(value: f64) -> String {
    let digits = match value.abs() {
        v if v >= 100.0 || v == 0.0 => 0,
        v => (2 - v.log10().floor() as i32).clamp(0, 9) as usize,
    };
    format!("{value:.digits$}")
}

/// A time in the unit that reads best.
fn seconds(value: f64) -> String {
    match value {
        s if s < 1e-3 => format!("{} us", three(1e6 * s)),
        s if s < 1.0 => format!("{} ms", three(1e3 * s)),
        s if s < 60.0 => format!("{} s", three(s)),
        s if s < 3600.0 => format!("{:.0} min {:02.0} s", (s / 60.0).floor(), (s % 60.0).floor()),
        s => format!("{:.0} h {:02.0} min", (s / 3600.0).floor(), (s % 3600.0 / 60.0).floor()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_three_digits_and_a_unit() {
        let shown = [0.0931, 0.5, 1.42, 16.92, 123.4].map(|x| Datum::Times(x).shown().unwrap());
        assert_eq!(shown, ["0.0931x", "0.500x", "1.42x", "16.9x", "123x"]);
        let shown = [3.2e-6, 0.0153, 12.0, 83.7, 7380.0].map(|x| Datum::Seconds(x).shown().unwrap());
        assert_eq!(shown, ["3.20 us", "15.3 ms", "12.0 s", "1 min 23 s", "2 h 03 min"]);
        assert_eq!(Datum::Share(0.123).shown().unwrap(), "12.3 %");
        assert_eq!(Datum::Is(true).shown(), None);
    }

    #[test]
    fn a_command_takes_words_whole() {
        assert_eq!(Datum::Words("it's".into()).typed().unwrap(), r"'it'\''s'");
        assert_eq!(Datum::Typed("k --target cpu".into()).typed().unwrap(), "k --target cpu");
    }

    #[test]
    fn names_are_in_order_and_once() {
        assert!(FACTS.windows(2).all(|pair| pair[0] < pair[1]));
    }
}
