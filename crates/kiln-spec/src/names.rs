//! Names in expressions: which there are, what each stands for, and whether a file uses them rightly.

pub(crate) mod bindings;
pub(crate) mod check;
pub(crate) mod constants;
pub(crate) mod coverage;
pub(crate) mod namespace;
pub(crate) mod order;
pub(crate) mod resolver;
pub(crate) mod sites;
pub(crate) mod usage;
