//! Samples in time or in order: what creeps, jumps, repeats itself or lies far out.

pub(crate) mod autocorrelation;
pub(crate) mod change;
pub(crate) mod dependence;
pub(crate) mod drift;
pub(crate) mod order;
pub(crate) mod outlier;
pub(crate) mod segment;
pub(crate) mod split;
