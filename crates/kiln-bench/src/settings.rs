//! How a study is run: everything that decides what is done, recorded with the study so that going on or replaying it uses
//! the same.

use kiln_search::Kind;
use serde::{Deserialize, Serialize};

/// Whether data lies in the caches when a call begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum CacheState {
    /// As the call before left it.
    #[default]
    Warm,
    /// Flushed before every sample.
    Cold,
}

impl CacheState {
    /// The stable name.
    pub fn name(self) -> &'static str {
        match self {
            CacheState::Warm => "warm",
            CacheState::Cold => "cold",
        }
    }
}

/// Everything that can be set.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Settings {
    /// All randomness comes from it.
    pub seed: u64,
    /// The search strategy's name.
    pub strategy: String,
    /// Files and studies the search started from, as the user or kiln named them.
    pub priors: Vec<String>,
    /// Configurations of the seed phase.
    pub seed_trials: usize,
    /// Configurations of the search phase.
    pub search_trials: usize,
    /// Samples of a candidate that is worth them, per workload, while searching.
    pub search_samples: usize,
    /// Pairs of fresh workers in the confirmation.
    pub pairs: usize,
    /// Pairs at most, where a benchmark goes on until speedups are known well enough.
    pub most_pairs: usize,
    /// How well: half the width of the interval, as a share.
    pub width: f64,
    /// Samples of each side in each pair.
    pub pair_samples: usize,
    /// The workload asked for; all that are for tuning when none.
    pub workload: Option<String>,
    /// The implementation asked for; all that run when none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub implementation: Option<String>,
    /// The baseline's name; the file's first when none.
    pub baseline: Option<String>,
    /// Stop when the default, or else the best of the seed phase, is under half the baseline's speed.
    pub stop_rule: bool,
    /// Whether caches are warm or cold.
    pub cache: CacheState,
    /// Threads a subject may use, equal on both sides.
    pub threads: usize,
    /// Keep measurement on one processor and builds on the others.
    pub pin: bool,
    /// Proposals made ahead of measurement, so that they are built meanwhile.
    pub ahead: usize,
    /// Seconds a call may take beyond fifty times the baseline's.
    pub patience: f64,
    /// Resident bytes a worker may take; chosen from the buffers when none.
    pub memory: Option<u64>,
    /// Seconds a build may take.
    pub build_timeout: f64,
    /// Finalists that are checked in full and measured against each other.
    pub finalists: usize,
    /// Whether single tunables are set back at the end.
    pub ablation: bool,
    /// The speedup that counts as success; the kernel file's when none.
    pub target_speedup: Option<f64>,
}

impl Default for Settings {
    fn default() -> Settings {
        Settings {
            seed: 0,
            strategy: Kind::Auto.name().into(),
            priors: Vec::new(),
            seed_trials: 20,
            search_trials: 100,
            search_samples: 9,
            pairs: 20,
            most_pairs: 100,
            width: 0.01,
            pair_samples: 5,
            workload: None,
            implementation: None,
            baseline: None,
            stop_rule: true,
            cache: CacheState::Warm,
            threads: 1,
            pin: true,
            ahead: 4,
            patience: 5.0,
            memory: None,
            build_timeout: 120.0,
            finalists: 3,
            ablation: true,
            target_speedup: None,
        }
    }
}
