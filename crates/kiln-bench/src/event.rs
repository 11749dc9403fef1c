//! What happens, for whoever shows it. The loop says it and goes on; it never waits for a screen.

use kiln_core::Config;
use serde::Serialize;

use crate::evaluation::Evaluation;

/// Something that happened.
#[derive(Debug, Clone, Serialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum Event<'a> {
    /// Something a reader should know.
    Note {
        /// In words.
        text: String,
    },
    /// A phase begins.
    Phase {
        /// Its name.
        phase: &'a str,
        /// Steps it will take at most.
        planned: usize,
    },
    /// A baseline was checked and measured.
    Baseline {
        /// Its name.
        name: &'a str,
        /// On this workload.
        workload: &'a str,
        /// The median, in seconds.
        seconds: f64,
        /// The share of what this machine can do at best; none when the file states no cost.
        roofline: Option<f64>,
    },
    /// A configuration went up the ladder.
    Trial {
        /// The phase.
        phase: &'a str,
        /// Counted from 0 within the phase.
        number: u64,
        /// The configuration.
        config: &'a Config,
        /// How it went.
        evaluation: &'a Evaluation,
        /// True when it is the best so far.
        best: bool,
        /// True when it was taken from the record.
        recorded: bool,
    },
    /// The default configuration beside the baseline, on the smallest workload: a first look, measured one after the other.
    FirstLook {
        /// The baseline's name.
        baseline: &'a str,
        /// The workload.
        workload: &'a str,
        /// The baseline's time over the default's: above 1 the default is faster.
        ratio: f64,
    },
    /// One of several equal steps of a phase that has no trials.
    Step {
        /// The phase.
        phase: &'a str,
        /// Steps done.
        done: usize,
        /// Steps in all.
        planned: usize,
    },
    /// One tunable of the winner was set back to its default.
    Ablation {
        /// The tunable.
        tunable: &'a str,
        /// Time with the default over time without; none when it could not be tried.
        worth: Option<f64>,
    },
    /// A build or a check says nothing for long.
    Silence {
        /// What is being done, such as `compiling LANES=8`.
        doing: &'a str,
        /// Seconds since it began.
        seconds: f64,
    },
    /// The end.
    Finished,
}

/// Who is told.
pub type Listener<'a> = &'a (dyn Fn(&Event<'_>) + Sync);
