//! What a call left behind, held against what is right.

pub(crate) mod check;
pub(crate) mod memory;
pub(crate) mod parallel;
pub(crate) mod rerun;
pub(crate) mod strides;
pub(crate) mod sum;
pub(crate) mod tally;
