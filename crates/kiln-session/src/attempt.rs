//! One command that judged something: when, what, how it ended. The record that everything else here is computed from.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// What an attempt was for. A command may go through several.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SessionPhase {
    /// Is the machine fit for work?
    Environment,
    /// Does it compile and start?
    Build,
    /// Is it correct?
    Check,
    /// How fast is it beside the baseline?
    Baseline,
    /// What limits it?
    Profile,
    /// Search for the fastest configuration.
    Tune,
    /// Is the gain real?
    Confirm,
    /// Claims, comparisons, packages: what is handed on.
    Report,
}

impl SessionPhase {
    /// All of them, in the order of the work.
    pub const ALL: [SessionPhase; 8] = [
        SessionPhase::Environment,
        SessionPhase::Build,
        SessionPhase::Check,
        SessionPhase::Baseline,
        SessionPhase::Profile,
        SessionPhase::Tune,
        SessionPhase::Confirm,
        SessionPhase::Report,
    ];

    /// The stable name.
    pub fn name(self) -> &'static str {
        match self {
            SessionPhase::Environment => "environment",
            SessionPhase::Build => "build",
            SessionPhase::Check => "check",
            SessionPhase::Baseline => "baseline",
            SessionPhase::Profile => "profile",
            SessionPhase::Tune => "tune",
            SessionPhase::Confirm => "confirm",
            SessionPhase::Report => "report",
        }
    }

    /// By its name.
    pub fn named(name: &str) -> Option<SessionPhase> {
        SessionPhase::ALL.into_iter().find(|phase| phase.name() == name)
    }
}

/// How an attempt ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AttemptOutcome {
    /// It did what was asked for.
    Passed,
    /// A candidate was refused, a goal was missed, a regression was found.
    Refused,
    /// The environment failed.
    Fault,
    /// Somebody stopped it.
    Interrupted,
}

impl AttemptOutcome {
    /// All of them.
    pub const ALL: [AttemptOutcome; 4] =
        [AttemptOutcome::Passed, AttemptOutcome::Refused, AttemptOutcome::Fault, AttemptOutcome::Interrupted];

    /// The stable name.
    pub fn name(self) -> &'static str {
        match self {
            AttemptOutcome::Passed => "passed",
            AttemptOutcome::Refused => "refused",
            AttemptOutcome::Fault => "fault",
            AttemptOutcome::Interrupted => "interrupted",
        }
    }

    /// By its name.
    pub fn named(name: &str) -> Option<AttemptOutcome> {
        AttemptOutcome::ALL.into_iter().find(|outcome| outcome.name() == name)
    }
}

/// A command that judged something.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Attempted {
    /// An id like a study's.
    pub id: String,
    /// When it began, in milliseconds since 1970.
    pub at_ms: i64,
    /// How long it took.
    pub seconds: f64,
    /// The session that was open.
    pub session: Option<String>,
    /// The kernel's name; empty where it was about none.
    pub kernel: String,
    /// The kernel's folder as the project sees it; empty where it was about none.
    pub path: String,
    /// What was typed: `bench`.
    pub verb: String,
    /// The phase it mostly was.
    pub phase: SessionPhase,
    /// Seconds by phase where it went through several; empty where it was one.
    pub parts: BTreeMap<String, f64>,
    /// How it ended.
    pub outcome: AttemptOutcome,
    /// The gate that refused it, the finding or the verdict it ended with.
    pub cause: Option<String>,
    /// That in a sentence.
    pub words: Option<String>,
    /// The configuration, as it is typed.
    pub config: Option<String>,
    /// A digest of the kernel file and its sources.
    pub sources: Option<String>,
    /// What it ran on, as `NAME=VALUE` lines.
    pub environment: String,
    /// The speedup that was measured, on the workload below.
    pub speedup: Option<f64>,
    /// The workload it was measured on; none for all together.
    pub workload: Option<String>,
    /// What limits the kernel, where that was found out.
    pub limit: Option<String>,
    /// The speedup that removing that promises.
    pub promise: Option<f64>,
    /// The lesson that fitted.
    pub lesson: Option<String>,
    /// What somebody wanted to know by it.
    pub hypothesis: Option<String>,
}

impl Attempted {
    /// When it ended.
    pub fn ended_ms(&self) -> i64 {
        self.at_ms + (1e3 * self.seconds) as i64
    }

    /// Whether it failed by the kernel's or the environment's fault.
    pub fn failed(&self) -> bool {
        matches!(self.outcome, AttemptOutcome::Refused | AttemptOutcome::Fault)
    }

    /// Whether it names what limits the kernel.
    pub fn diagnosed(&self) -> bool {
        self.limit.is_some() || (self.phase == SessionPhase::Profile && self.outcome == AttemptOutcome::Passed)
    }

    /// What it failed by, so that two failures can be compared: the lesson, else the cause.
    pub fn mistake(&self) -> Option<&str> {
        self.failed().then(|| self.lesson.as_deref().or(self.cause.as_deref())).flatten()
    }

    /// Whether two are about the same kernel.
    pub fn same_kernel(&self, other: &Attempted) -> bool {
        self.kernel == other.kernel && self.path == other.path
    }

    /// The environment as a short digest, for those who compare.
    pub fn environment_digest(&self) -> String {
        digest(&self.environment)
    }

    /// The configuration as a short digest.
    pub fn config_digest(&self) -> Option<String> {
        self.config.as_deref().map(digest)
    }
}

/// FNV-1a: nobody is to be kept out by it.
fn digest(text: &str) -> String {
    let step = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    format!("{:016x}", text.bytes().fold(0xcbf2_9ce4_8422_2325, step))
}

#[cfg(test)]
pub(crate) mod sample {
    use super::*;

    /// An attempt that passed, so many minutes after the beginning.
    pub(crate) fn at(minute: f64, verb: &str, phase: SessionPhase) -> Attempted {
        Attempted {
            id: format!("{minute}-{verb}"),
            at_ms: (60e3 * minute) as i64,
            seconds: 30.0,
            session: Some("s".into()),
            kernel: "k".into(),
            path: "kernels/k".into(),
            verb: verb.into(),
            phase,
            parts: BTreeMap::new(),
            outcome: AttemptOutcome::Passed,
            cause: None,
            words: None,
            config: Some("A=1,B=2".into()),
            sources: Some("one".into()),
            environment: "host=h".into(),
            speedup: None,
            workload: None,
            limit: None,
            promise: None,
            lesson: None,
            hypothesis: None,
        }
    }

    /// One that was refused.
    pub(crate) fn refused(minute: f64, verb: &str, phase: SessionPhase, cause: &str) -> Attempted {
        let (outcome, cause, words) = (AttemptOutcome::Refused, Some(cause.to_string()), Some(format!("by {cause}")));
        Attempted { outcome, cause, words, ..at(minute, verb, phase) }
    }

    /// One that measured a speedup.
    pub(crate) fn bench(minute: f64, speedup: f64) -> Attempted {
        Attempted { speedup: Some(speedup), ..at(minute, "bench", SessionPhase::Baseline) }
    }

    /// One that named what limits the kernel.
    pub(crate) fn profile(minute: f64, limit: &str, promise: f64) -> Attempted {
        let (limit, promise) = (Some(limit.to_string()), Some(promise));
        Attempted { limit, promise, ..at(minute, "profile", SessionPhase::Profile) }
    }
}
