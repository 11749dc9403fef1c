//! From clauses to the valid assignments of each group.

pub(crate) mod bind;
pub(crate) mod bounds;
pub(crate) mod diagram;
pub(crate) mod group;
pub(crate) mod order;
pub(crate) mod sieve;
pub(crate) mod state;
pub(crate) mod tabulate;
