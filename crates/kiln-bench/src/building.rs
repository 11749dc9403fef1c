//! From a configuration to something that can be called: what compilers are asked, and what they made of it.

pub(crate) mod builder;
pub(crate) mod compile;
pub(crate) mod compilers;
pub(crate) mod forge;
pub(crate) mod resources;
pub(crate) mod toolchain;
pub(crate) mod triton;
