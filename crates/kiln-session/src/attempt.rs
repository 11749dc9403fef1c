//! One command that judged something: when, what, how it ended. The record that everything else here is computed from.

use std::collections::BTreeMap;

use kiln_core::Gate;
use serde::{Deserialize, Serialize};

use crate::Session;
use crate::changed::is_same_code;

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
    /// That in a sentence; where it passed, what it measured.
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
    /// The whole command as it was typed, beside a hypothesis.
    #[serde(default)]
    pub command: Option<String>,
}

impl Attempted {
    /// Whether it is part of a session's work: about its kernel, or about none.
    pub fn is_work_of(&self, session: &Session) -> bool {
        self.kernel.is_empty() || session.is_about(self)
    }

    /// Whether a command of kiln's judged something. A command that is not kiln's, and one that judges nothing, are recorded for their
    /// hypothesis alone: their verb is the whole command.
    pub fn is_judgement(&self) -> bool {
        self.hypothesis.is_none() || self.command.as_ref() != Some(&self.verb)
    }

    /// When it ended.
    pub fn ended_ms(&self) -> i64 {
        self.at_ms + (1e3 * self.seconds) as i64
    }

    /// Whether it failed by the kernel's or the environment's fault.
    pub fn failed(&self) -> bool {
        matches!(self.outcome, AttemptOutcome::Refused | AttemptOutcome::Fault)
    }

    /// Whether it did what was asked for.
    pub fn passed(&self) -> bool {
        self.outcome == AttemptOutcome::Passed
    }

    /// Whether it says of a kernel that it is correct, or that it is not.
    pub fn says_correct(&self) -> bool {
        matches!(self.verb.as_str(), "check" | "fuzz" | "bench" | "tune" | "sweep" | "ci")
    }

    /// Whether the kernel ran in it as it was then. A bisection looks at other commits, a diagnosis at a log, and what a command that
    /// is not kiln's looks at nobody knows.
    pub fn ran_kernel(&self) -> bool {
        let looks = self.says_correct() || matches!(self.verb.as_str(), "gate" | "sanitize" | "profile" | "reproduce");
        // Of a benchmark or a profile without a configuration only a baseline ran.
        let alone = matches!(self.verb.as_str(), "bench" | "profile") && self.config.is_none();
        let own = looks && !alone && !self.kernel.is_empty();
        own && (self.passed() || self.speedup.is_some())
    }

    /// Whether it puts a failure right: it passed, and it tells whether what failed then works now.
    pub fn answers(&self, failure: &Attempted) -> bool {
        let tells = match failure.phase {
            _ if self.verb == failure.verb => true,
            SessionPhase::Environment | SessionPhase::Build => self.ran_kernel(),
            _ => self.says_correct() && self.ran_kernel(),
        };
        self.passed() && self.same_kernel(failure) && self.phase >= failure.phase && tells
    }

    /// Whether it names what limits the kernel.
    pub fn diagnosed(&self) -> bool {
        self.limit.is_some() || (self.phase == SessionPhase::Profile && self.outcome == AttemptOutcome::Passed)
    }

    /// What it failed by, so that two failures can be compared: the lesson, else the cause.
    pub fn mistake(&self) -> Option<&str> {
        self.failed().then(|| self.lesson.as_deref().or(self.cause.as_deref())).flatten()
    }

    /// Whether two failed by the same: the compiler's words are another mistake each, wherever in the file they point.
    pub fn fails_like(&self, other: &Attempted) -> bool {
        let words = |one: &Attempted| {
            let kept = one.words.iter().flat_map(|words| words.chars()).filter(|letter| !letter.is_ascii_digit());
            kept.collect::<String>()
        };
        let built = self.cause.as_deref() != Some(Gate::BuildFailed.name()) || words(self) == words(other);
        self.mistake().is_some() && self.mistake() == other.mistake() && built
    }

    /// Whether this success only went around a failure that shows again: the same sources with another configuration.
    pub(crate) fn evades(&self, failure: &Attempted, again: &Attempted) -> bool {
        is_same_code(failure, again) && self.sources == failure.sources && self.config != failure.config
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
mod tests {
    use super::sample::{at, refused};
    use super::*;

    #[test]
    fn a_failure_is_answered_by_what_tells_whether_it_is_gone() {
        use SessionPhase::{Build, Check, Environment, Profile};
        let wrong = refused(1.0, "check", Check, "numerics");
        assert!(at(2.0, "check", Check).answers(&wrong) && at(2.0, "bench", SessionPhase::Baseline).answers(&wrong));
        for verb in ["bisect", "true", "python check.py", "sanitize", "diagnose", "profile"] {
            let phase = if verb == "profile" { Profile } else { Check };
            assert!(!at(2.0, verb, phase).answers(&wrong), "{verb}");
        }
        let interrupted = Attempted { outcome: AttemptOutcome::Interrupted, ..at(2.0, "check", Check) };
        assert!(!interrupted.answers(&wrong));
        let broken = refused(1.0, "gate", Build, "build_failed");
        assert!(at(2.0, "gate", Build).answers(&broken) && at(2.0, "sanitize", Check).answers(&broken));
        assert!(!at(2.0, "bisect", Check).answers(&broken) && !at(2.0, "true", Check).answers(&broken));
        assert!(at(2.0, "doctor", Environment).answers(&refused(1.0, "doctor", Environment, "driver")));
        assert!(!Attempted { kernel: "other".into(), ..at(2.0, "check", Check) }.answers(&wrong));
    }
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
            command: None,
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
