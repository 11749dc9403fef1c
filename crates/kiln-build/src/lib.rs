//! Source and configuration to a built artifact. In: a [`Request`]: sources, flags, the configuration as defines. Out: an
//! [`Artifact`] from the cache or fresh from a [`Toolchain`] (the system's C compiler, nvcc or NVRTC), with what each CUDA
//! kernel needs of the device; or a refusal with the compiler's own words and the source line. A missing compiler or a full
//! disk is a fault, never a refusal. No GPU and no driver is needed.

mod artifact;
mod cache;
mod code;
mod load;
mod pool;
mod requests;
mod toolchains;
mod words;

pub use artifact::Artifact;
pub use cache::{Cache, CacheState};
pub use code::code_hash;
pub use pool::{Built, Pool, Ticket};
pub use requests::include::included;
pub use requests::key::fingerprint;
pub use requests::request::{Request, address};
pub use requests::shim::{Passing, SHIM_SYMBOL, launcher_shim, shim};
pub use toolchains::compile::BuildLimits;
pub use toolchains::compiler::Compiler;
pub use toolchains::foreign::{Foreign, ForeignBuilt, ForeignCompiler};
pub use toolchains::nvcc::Nvcc;
pub use toolchains::nvrtc::Nvrtc;
pub use toolchains::sanitizers::Sanitizers;
pub use toolchains::toolchain::Toolchain;
pub use toolchains::toolkit::Toolkit;
pub use words::usage::{Usage, usage};
