//! The GPUs of this machine: which there are, which one is meant, and whose turn it is.

pub(crate) mod lock;
pub(crate) mod nvml;
pub(crate) mod visible;
