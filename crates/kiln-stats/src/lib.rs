//! From samples to verdicts. In: times in the order measured, both sides interleaved. Out: summaries, intervals, effect
//! sizes, and one of four verdicts with its reasons. Pure: no clock, no file, no hidden randomness; the same samples and
//! seed give the same answer on every machine. Refuses, with a typed [`StatsError`], what has no answer.
//!
//! Start at [`compare`] for two sides, [`Summary`] and [`series_median`] for one, [`changes`] for a history, [`Pool`] for what
//! groups of values have in common.

mod distributions;
mod error;
mod interval;
mod judgement;
mod pooled;
mod ranks;
mod resampling;
mod series;
mod summary;

pub use distributions::{normal, student};
pub use error::StatsError;
pub use interval::{Estimate, Interval};
pub use judgement::apart::{Apart, compare_runs};
pub use judgement::compare::{Comparison, compare, compare_apart, compare_blocks};
pub use judgement::overall::overall;
pub use judgement::plan::{more_samples, samples_for_median, samples_for_ratio};
pub use judgement::reason::{Reason, Warning};
pub use judgement::thresholds::{Proof, Thresholds};
pub use judgement::verdict::Verdict;
pub use pooled::{Expectation, Pool, PooledValue, Spreads};
pub use ranks::cliff::{EffectSize, cliffs_delta};
pub use ranks::hodges_lehmann::{Shift, ratio as hodges_lehmann_ratio, shift as hodges_lehmann};
pub use ranks::mann_whitney::{Alternative, MannWhitney, Method, mann_whitney, mann_whitney_by};
pub use resampling::bca::{BcaLevels, levels as bca_levels};
pub use resampling::block::Block;
pub use resampling::bootstrap::Bootstrap;
pub use resampling::ratio::{Speedup, series_median, speedup};
pub use resampling::statistic::Statistic;
pub use series::autocorrelation::{Autocorrelation, autocorrelation};
pub use series::change::{ChangePoint, ChangeRule, Point, changes};
pub use series::drift::{Drift, drift};
pub use series::outlier::{Fence, Outliers, outliers};
pub use summary::{Summary, median, percentile};
