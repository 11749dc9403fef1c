//! What was asked of a study: everything that decided what was done. In: the settings it began with. Out: the same, for whoever
//! goes on with it. A field that is not there was recorded before there was such a setting. Refuses a field it does not know: what
//! was measured under a setting of a newer kiln must not be mixed with what is measured without it.

use serde::{Deserialize, Serialize};

/// The settings of a study.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Options {
    /// All randomness came from it.
    pub seed: Option<u64>,
    /// The search strategy's name.
    pub strategy: Option<String>,
    /// Files and studies the search started from.
    pub priors: Option<Vec<String>>,
    /// Configurations of the seed phase.
    pub seed_trials: Option<usize>,
    /// Configurations of the search phase.
    pub search_trials: Option<usize>,
    /// Samples per workload while searching.
    pub search_samples: Option<usize>,
    /// Pairs of fresh workers in the confirmation.
    pub pairs: Option<usize>,
    /// Pairs at most, where a benchmark goes on.
    pub most_pairs: Option<usize>,
    /// Half the width of the interval that ends a benchmark, as a share.
    pub width: Option<f64>,
    /// Samples of each side in each pair.
    pub pair_samples: Option<usize>,
    /// The workload asked for; none when all were.
    pub workload: Option<String>,
    /// The implementation asked for; none when all that run were.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub implementation: Option<String>,
    /// The baseline asked for.
    pub baseline: Option<String>,
    /// Whether a study stopped that was far behind its baseline.
    pub stop_rule: Option<bool>,
    /// `warm` or `cold`.
    pub cache: Option<String>,
    /// Threads of each side.
    pub threads: Option<usize>,
    /// Whether measurement kept to processors of its own.
    pub pin: Option<bool>,
    /// Proposals made ahead of measurement.
    pub ahead: Option<usize>,
    /// Seconds a call might take beyond fifty times the baseline's.
    pub patience: Option<f64>,
    /// Resident bytes a worker might take; none where they were chosen from the buffers.
    pub memory: Option<u64>,
    /// Seconds a build might take.
    pub build_timeout: Option<f64>,
    /// Finalists that were checked in full.
    pub finalists: Option<usize>,
    /// Whether single tunables were set back at the end.
    pub ablation: Option<bool>,
    /// The speedup aimed at; none where it was the kernel file's.
    pub target_speedup: Option<f64>,
}
