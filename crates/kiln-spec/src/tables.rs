//! The tables of a kernel file, each with what it may hold.

pub(crate) mod argument;
pub(crate) mod argument_type;
pub(crate) mod callable;
pub(crate) mod default;
pub(crate) mod dtype;
pub(crate) mod environment;
pub(crate) mod export;
pub(crate) mod filling;
pub(crate) mod fuzz;
pub(crate) mod implementation;
pub(crate) mod kernel;
pub(crate) mod launch;
pub(crate) mod layer;
pub(crate) mod reference;
pub(crate) mod settings;
pub(crate) mod slice;
pub(crate) mod sweep;
pub(crate) mod taken;
pub(crate) mod target;
pub(crate) mod tensormap;
pub(crate) mod tunable;
pub(crate) mod tuned;
pub(crate) mod workload;
