//! The strategies, one each.

pub(crate) mod annealing;
pub(crate) mod auto;
pub(crate) mod forest;
pub(crate) mod genetic;
pub(crate) mod latin;
pub(crate) mod lead;
pub(crate) mod random;
pub(crate) mod ruled;
pub(crate) mod tabu;
