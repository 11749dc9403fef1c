//! The database below: where it lies, its tables and their versions, values and errors.

pub(crate) mod column;
pub(crate) mod engine;
pub(crate) mod fault;
pub(crate) mod insert;
pub(crate) mod migration;
pub(crate) mod place;
pub(crate) mod session;
