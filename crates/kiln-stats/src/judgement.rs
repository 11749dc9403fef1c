//! From samples of two sides to a verdict with its reasons.

pub(crate) mod apart;
pub(crate) mod compare;
pub(crate) mod decide;
pub(crate) mod overall;
pub(crate) mod plan;
pub(crate) mod reason;
pub(crate) mod thresholds;
pub(crate) mod verdict;
