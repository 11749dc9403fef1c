//! What compilers say: errors, warnings, and the resources of a kernel.

pub(crate) mod message;
pub(crate) mod usage;
pub(crate) mod warning;
