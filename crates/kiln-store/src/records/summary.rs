//! The end of a study, in numbers: for people, for machines, for the record. In: what the loop came to. Out: the same, as far as
//! an older kiln recorded it. Refuses verdicts and gates that this kiln does not know.

use std::collections::BTreeMap;
use std::fmt;

use kiln_core::{Config, Gate, Refusal};
use kiln_diagnose::Diagnosis;
use kiln_stats::{Interval, Verdict};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use crate::CheckedCalls;

/// How a study ended: one closed list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TuneVerdict {
    /// The speedup aimed at was reached, and confirmed.
    Reached,
    /// The best configuration is confirmed, and short of the aim.
    NotReached,
    /// Nothing passed every gate.
    NoValidCandidate,
    /// Ended early on purpose.
    Stopped,
}

impl TuneVerdict {
    /// All of them.
    pub const ALL: [TuneVerdict; 4] =
        [TuneVerdict::Reached, TuneVerdict::NotReached, TuneVerdict::NoValidCandidate, TuneVerdict::Stopped];

    /// The stable name.
    pub fn name(self) -> &'static str {
        match self {
            TuneVerdict::Reached => "reached",
            TuneVerdict::NotReached => "not_reached",
            TuneVerdict::NoValidCandidate => "no_valid_candidate",
            TuneVerdict::Stopped => "stopped",
        }
    }
}

impl fmt::Display for TuneVerdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl Serialize for TuneVerdict {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}

impl<'de> Deserialize<'de> for TuneVerdict {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let name = String::deserialize(deserializer)?;
        let found = TuneVerdict::ALL.into_iter().find(|v| v.name() == name);
        found.ok_or_else(|| de::Error::custom(format_args!("there is no verdict `{name}`")))
    }
}

/// A recorded verdict, by its name in the closed list.
fn verdict_name<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Verdict, D::Error> {
    let name = String::deserialize(deserializer)?;
    let found = Verdict::ALL.into_iter().find(|v| v.name() == name);
    found.ok_or_else(|| de::Error::custom(format_args!("there is no verdict `{name}`")))
}

/// The winner on one workload.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Confirmed {
    /// The workload.
    pub name: String,
    /// The winner's median, in milliseconds.
    pub best_ms: f64,
    /// Its interval.
    pub best_ci95_ms: Interval,
    /// The baseline's median.
    pub baseline_ms: f64,
    /// Its interval.
    pub baseline_ci95_ms: Interval,
    /// Baseline over winner.
    pub speedup: f64,
    /// Its interval.
    pub speedup_ci95: Interval,
    /// Effect size.
    pub cliffs_delta: f64,
    /// Mann-Whitney U, two-sided.
    pub p_value: f64,
    /// `faster`, `slower`, `same` or `too_noisy`.
    #[serde(deserialize_with = "verdict_name")]
    pub verdict: Verdict,
    /// Samples on each side.
    pub samples: usize,
    /// What else to know.
    pub warnings: Vec<String>,
    /// How many of the winner's timed calls were checked; not known of old studies.
    #[serde(default)]
    pub checked: Option<CheckedCalls>,
    /// What to know about the inputs of timed calls and the caches they met.
    #[serde(default)]
    pub notes: Vec<String>,
    /// Names of the kernels that the winner's samples ran on a GPU; empty where they are not known.
    #[serde(default)]
    pub kernels: Vec<String>,
    /// The same of the baseline's.
    #[serde(default)]
    pub baseline_kernels: Vec<String>,
    /// Its weight in the overall speedup; not recorded.
    #[serde(skip)]
    pub weight: f64,
    /// True for a holdout, which the search does not see.
    pub holdout: bool,
    /// The configuration, where workloads have their own.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub config: Option<Config>,
}

/// A configuration that the search would have chosen, and that was refused when it was looked at more closely.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Late {
    /// In which phase.
    pub phase: String,
    /// The configuration.
    pub config: Config,
    /// Why.
    pub refusal: Refusal,
}

impl Late {
    /// A configuration refused in a phase.
    pub fn new(phase: &str, config: &Config, refusal: &Refusal) -> Late {
        Late { phase: phase.into(), config: config.clone(), refusal: refusal.clone() }
    }
}

/// What tools that watch memory say of a refused configuration: the first of each gate.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SanitizedRefusal {
    /// What refused it.
    pub gate: Gate,
    /// In which phase.
    pub phase: String,
    /// Its number there.
    pub number: u64,
    /// The configuration.
    pub config: Config,
    /// Findings and verdict.
    #[serde(flatten)]
    pub diagnosis: Diagnosis,
}

/// What limits a study's kernel: the best of one that stopped, or the winner.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct StudyLimit {
    /// The workload that was profiled.
    pub workload: String,
    /// The configuration.
    pub config: Config,
    /// The cause; none where none shows.
    pub cause: Option<String>,
    /// How sure that is, from 0 to 1.
    pub confidence: f64,
    /// The speedup when it is removed.
    pub expected_speedup: f64,
    /// Whether there were no counters.
    pub coarse: bool,
    /// What bounds the kernel.
    pub bound: String,
    /// The cause in two sentences.
    pub explanation: String,
    /// What to change first.
    pub fix: Option<String>,
    /// The profiler's report.
    pub report: Option<String>,
    /// Its raw page.
    pub page: Option<String>,
    /// Why it was profiled in full, beside the default; empty where it was not.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub promoted: Vec<String>,
}

impl StudyLimit {
    /// What removing the cause is worth, in words. Of a kernel that is less than half as fast as its baseline, the baseline shows that
    /// there is more to gain than a factor of two.
    pub fn worth(&self, far_behind: bool) -> String {
        let (at_roof, most) =
            (self.cause.as_ref().is_some_and(|cause| cause.starts_with("at_roofline")), self.expected_speedup);
        match (at_roof, far_behind) {
            (true, false) if most > 1.05 => format!("at most {most:.2}x left to the roof"),
            (true, false) => "nothing left to gain".into(),
            (true, true) => {
                "nothing left to gain by [cost], which the baseline disproves: it is more than twice as fast".into()
            }
            (false, true) if most < 2.0 => {
                format!("at most {most:.2}x without it, which is not all: the baseline is more than twice as fast")
            }
            (false, _) => format!("at most {most:.2}x without it"),
        }
    }
}

/// What one tunable is worth: the winner with it set back to its default.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Ablated {
    /// The workload, where each has its own winner.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub workload: Option<String>,
    /// The tunable.
    pub tunable: String,
    /// Its value in the winner.
    pub from: String,
    /// Its default.
    pub to: String,
    /// Time with the default over time without: above 1 the winner's value is worth that much. None when it could not be
    /// tried.
    pub worth: Option<f64>,
    /// Why not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
}

/// How one implementation did in a study of several.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Contender {
    /// The workload, where each has its own winner.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub workload: Option<String>,
    /// Its name.
    pub name: String,
    /// Configurations of it that were tried.
    pub trials: usize,
    /// Refusals of it by gate.
    pub refused: BTreeMap<Gate, usize>,
    /// Its best configuration; none when none passed.
    pub config: Option<Config>,
    /// The time of that over the winner's; 1 for the winner's own implementation.
    pub ratio: Option<f64>,
    /// Where that was measured: side by side in the `run-off` or the `ablation`, or in the `search`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub measured_in: Option<String>,
    /// Where it runs, when it was left out because that is not here.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub left_out: Option<String>,
}

/// Everything said at the end.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Summary {
    /// How it ended.
    pub verdict: TuneVerdict,
    /// Why, in a sentence.
    pub reason: String,
    /// What was measured, smallest workload first, holdouts last.
    pub workloads: Vec<Confirmed>,
    /// The winner; none without one, or when every workload has its own.
    pub config: Option<Config>,
    /// Over all tuned workloads, weighted.
    pub speedup: Option<f64>,
    /// Its interval.
    pub speedup_ci95: Option<Interval>,
    /// The speedup aimed at.
    pub target_speedup: f64,
    /// The baseline measured against.
    pub baseline: Option<String>,
    /// Configurations tried.
    pub trials: usize,
    /// How many of them only the ablation tried; none in old studies, which did not count them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ablated: Option<usize>,
    /// Refusals by gate.
    pub refused: BTreeMap<Gate, usize>,
    /// Finalists that were refused, in order.
    #[serde(default)]
    pub late: Vec<Late>,
    /// What tools found about refusals; empty in old studies, and where they were not asked.
    #[serde(default)]
    pub sanitized: Vec<SanitizedRefusal>,
    /// What limits the kernel now; none in old studies, and where it was not asked or cannot be said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<StudyLimit>,
    /// How each implementation did, where several compete.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub implementations: Vec<Contender>,
    /// What the winner's choices are worth, most first.
    pub ablation: Vec<Ablated>,
    /// Everything random came from it.
    pub seed: u64,
    /// How long it took.
    pub seconds: f64,
    /// The price of an hour of the machine, where one is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub price: Option<f64>,
    /// What the time cost at that price.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost: Option<f64>,
    /// The study's id.
    pub study: String,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn limit(cause: &str, expected_speedup: f64) -> StudyLimit {
        StudyLimit {
            workload: String::new(),
            config: Config::default(),
            cause: Some(cause.into()),
            confidence: 0.5,
            expected_speedup,
            coarse: true,
            bound: "latency".into(),
            explanation: String::new(),
            fix: None,
            report: None,
            page: None,
            promoted: Vec::new(),
        }
    }

    /// Beside 0.12x of the baseline, "at most 1.45x" alone would say that the baseline cannot be.
    #[test]
    fn a_small_promise_is_not_all_that_a_slow_kernel_lacks() {
        assert_eq!(limit("call_in_loop", 16.0).worth(true), "at most 16.00x without it");
        assert_eq!(limit("call_in_loop", 1.45).worth(false), "at most 1.45x without it");
        assert!(limit("call_in_loop", 1.45).worth(true).contains("not all: the baseline is more than twice as fast"));
        assert_eq!(limit("at_roofline_memory", 1.0).worth(false), "nothing left to gain");
        assert!(limit("at_roofline_memory", 1.0).worth(true).contains("which the baseline disproves"));
    }
}
