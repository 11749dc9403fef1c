//! Compilers: where they are, how each is called, and one process of them.

pub(crate) mod compile;
pub(crate) mod compiler;
pub(crate) mod compilers;
pub(crate) mod foreign;
pub(crate) mod nvcc;
pub(crate) mod nvrtc;
pub(crate) mod process;
pub(crate) mod sanitizers;
pub(crate) mod toolchain;
pub(crate) mod toolkit;
