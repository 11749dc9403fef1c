//! What proposals are made of: draws, steps, distances, candidates and a model of the kernel.

pub(crate) mod candidates;
pub(crate) mod design;
pub(crate) mod draw;
pub(crate) mod metric;
pub(crate) mod moves;
pub(crate) mod slice;
pub(crate) mod surrogate;
