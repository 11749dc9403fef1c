//! What operations and functions do to values and to ranges of them.

pub(crate) mod function;
pub(crate) mod ops;
pub(crate) mod range;
pub(crate) mod scalar;
pub(crate) mod warp;
