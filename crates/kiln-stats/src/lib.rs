//! From samples to verdicts. In: times in the order measured, both sides interleaved. Out: summaries, intervals, effect
//! sizes, and one of four verdicts with its reasons. Pure: no clock, no file, no hidden randomness; the same samples and
//! seed give the same answer on every machine. Refuses, with a typed [`StatsError`], what has no answer.
//!
//! Start at [`compare`] for two sides, [`Summary`] and [`series_median`] for one, [`changes`] for a history.

mod autocorrelation;
mod bca;
mod block;
mod bootstrap;
mod change;
mod cliff;
mod compare;
mod decide;
mod dependence;
mod draw;
mod drift;
mod error;
mod hodges_lehmann;
mod interval;
mod mann_whitney;
pub mod normal;
mod order;
mod outlier;
mod overall;
mod plan;
mod ratio;
mod reason;
mod resampled;
mod statistic;
mod stretches;
pub mod student;
mod summary;
mod thresholds;
mod u_distribution;
mod verdict;

pub use autocorrelation::{Autocorrelation, autocorrelation};
pub use bca::{BcaLevels, levels as bca_levels};
pub use block::Block;
pub use bootstrap::Bootstrap;
pub use change::{ChangePoint, ChangeRule, changes};
pub use cliff::{EffectSize, cliffs_delta};
pub use compare::{Comparison, compare, compare_apart, compare_blocks};
pub use drift::{Drift, drift};
pub use error::StatsError;
pub use hodges_lehmann::{Shift, ratio as hodges_lehmann_ratio, shift as hodges_lehmann};
pub use interval::{Estimate, Interval};
pub use mann_whitney::{Alternative, MannWhitney, Method, mann_whitney, mann_whitney_by};
pub use outlier::{Fence, Outliers, outliers};
pub use overall::overall;
pub use plan::{more_samples, samples_for_median, samples_for_ratio};
pub use ratio::{Speedup, series_median, speedup};
pub use reason::{Reason, Warning};
pub use statistic::Statistic;
pub use summary::{Summary, median, percentile};
pub use thresholds::{Proof, Thresholds};
pub use verdict::Verdict;
