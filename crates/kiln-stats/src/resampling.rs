//! Intervals by resampling: what is drawn, how often, and what is read from it.

pub(crate) mod bca;
pub(crate) mod block;
pub(crate) mod bootstrap;
pub(crate) mod ratio;
pub(crate) mod resampled;
pub(crate) mod statistic;
pub(crate) mod stretches;
