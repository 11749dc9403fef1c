//! What happens during an operation, for whoever listens: a terminal, a file of JSON lines, later a page. In: what the study
//! and the apparatus say, and the operation's own remarks. Out: owned records with the moment and the study they belong to,
//! each of which makes one line of JSON. The format has a version; docs/json.md describes it.

mod said;

use std::sync::Arc;

use kiln_core::{Config, Refusal, Report};
use kiln_store::TrialState;
use serde::Serialize;
use serde::ser::Serializer;

use crate::ending::Ending;

/// The version of the line an event makes. Keys may be added within one version.
pub const EVENT_VERSION: u32 = 1;

/// Something that happened.
#[derive(Debug, Clone, PartialEq)]
pub struct Event {
    /// When, in milliseconds since 1970.
    pub at_ms: i64,
    /// The study it belongs to; none before one has begun, and where there is none.
    pub study: Option<Arc<str>>,
    /// What it was.
    pub what: What,
}

impl Event {
    /// Whether it is a warning.
    pub fn is_warning(&self) -> bool {
        matches!(self.what, What::Warning { .. })
    }
}

/// What happened.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum What {
    /// A study begins, or goes on.
    Study {
        /// The kernel's name.
        kernel: String,
        /// The target's name.
        target: String,
        /// Valid configurations.
        configurations: Count,
        /// The workloads tuned for.
        workloads: Vec<String>,
        /// The seed of everything random.
        seed: u64,
        /// Trials that are taken from the record.
        recorded: usize,
    },
    /// Something that is probably not as it was meant.
    Warning {
        /// What, where, and what to do.
        report: Report,
    },
    /// Something a reader should know.
    Note {
        /// In words.
        text: String,
    },
    /// A phase begins.
    Phase {
        /// Its name, behind the workload's and a slash where workloads are tuned apart.
        phase: String,
        /// Steps it will take at most.
        planned: usize,
    },
    /// The phase is over and no other follows at once.
    PhaseEnd,
    /// A baseline was checked and measured.
    Baseline {
        /// Its name.
        name: String,
        /// On this workload.
        workload: String,
        /// The median, in milliseconds.
        median_ms: f64,
        /// The share of what this machine can do at best; none when the file states no cost.
        roofline: Option<f64>,
    },
    /// A configuration went up the ladder.
    Trial {
        /// The phase.
        phase: String,
        /// Counted from 0 within the phase.
        number: u64,
        /// The configuration.
        config: Config,
        /// How it went.
        #[serde(serialize_with = "by_name")]
        state: TrialState,
        /// What the search ranks it by, in milliseconds; none when it was refused.
        cost_ms: Option<f64>,
        /// What refused it.
        refusal: Option<Refusal>,
        /// On which workload, where there was one.
        workload: Option<String>,
        /// Seconds it took, all steps together.
        seconds: f64,
        /// True when it is the best so far.
        best: bool,
        /// True when it was taken from the record.
        recorded: bool,
    },
    /// The default configuration beside the baseline, on the smallest workload: a first look, measured one after the other,
    /// and no verdict.
    FirstLook {
        /// The baseline's name.
        baseline: String,
        /// The workload.
        workload: String,
        /// The baseline's time over the default's: above 1 the default is faster.
        ratio: f64,
    },
    /// One of several equal steps of a phase that has no trials.
    Step {
        /// The phase.
        phase: String,
        /// Steps done.
        done: usize,
        /// Steps in all.
        planned: usize,
    },
    /// One tunable of the winner was set back to its default.
    Ablation {
        /// The tunable.
        tunable: String,
        /// Time with the default over time without; none when it could not be tried.
        worth: Option<f64>,
    },
    /// A build or a check says nothing for long.
    Silence {
        /// What is being done, such as `compiling LANES=8`.
        doing: String,
        /// Seconds since it began.
        seconds: f64,
    },
    /// The operation is over; the last event.
    End {
        /// How it ended.
        ending: Ending,
        /// Why, in words, where it ended without a result.
        reason: Option<String>,
    },
}

/// A count of any size: in JSON a number as far as a double holds it exactly, then a string of digits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Count(pub u128);

impl Serialize for Count {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match u64::try_from(self.0) {
            Ok(small) if small < 1 << 53 => serializer.serialize_u64(small),
            _ => serializer.serialize_str(&self.0.to_string()),
        }
    }
}

fn by_name<S: Serializer>(state: &TrialState, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(state.name())
}

impl Serialize for Event {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        struct Line<'a> {
            version: u32,
            at_ms: i64,
            study: Option<&'a str>,
            #[serde(flatten)]
            what: &'a What,
        }
        let Event { at_ms, study, what } = self;
        Line { version: EVENT_VERSION, at_ms: *at_ms, study: study.as_deref(), what }.serialize(serializer)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_has_version_moment_and_study_first() {
        let what = What::Phase { phase: "seed".into(), planned: 20 };
        let event = Event { at_ms: 1_700_000_000_000, study: Some("abc".into()), what };
        assert_eq!(
            serde_json::to_string(&event).unwrap(),
            r#"{"version":1,"at_ms":1700000000000,"study":"abc","event":"phase","phase":"seed","planned":20}"#
        );
        let end = What::End { ending: Ending::NotReached, reason: None };
        let text = serde_json::to_string(&Event { at_ms: 0, study: None, what: end }).unwrap();
        assert_eq!(text, r#"{"version":1,"at_ms":0,"study":null,"event":"end","ending":"not_reached","reason":null}"#);
    }

    #[test]
    fn counts_are_exact_in_every_reader() {
        assert_eq!(serde_json::to_string(&Count((1 << 53) - 1)).unwrap(), "9007199254740991");
        assert_eq!(serde_json::to_string(&Count(1 << 53)).unwrap(), "\"9007199254740992\"");
    }
}
