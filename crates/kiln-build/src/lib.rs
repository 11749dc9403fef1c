//! Source and configuration to a built artifact. In: a [`Request`]: sources, flags, the configuration as defines. Out: an
//! [`Artifact`] from the cache or fresh from a [`Toolchain`] (the system's C compiler, nvcc or NVRTC), with what each CUDA
//! kernel needs of the device; or a refusal with the compiler's own words and the source line. A missing compiler or a full
//! disk is a fault, never a refusal. No GPU and no driver is needed.

mod artifact;
mod cache;
mod compile;
mod compiler;
mod compilers;
mod entry;
mod include;
mod key;
mod load;
mod message;
mod nvcc;
mod nvrtc;
mod pool;
mod process;
mod request;
mod shim;
mod toolchain;
mod toolkit;
mod usage;
mod warning;

pub use artifact::Artifact;
pub use cache::{Cache, CacheState};
pub use compile::BuildLimits;
pub use compiler::Compiler;
pub use key::fingerprint;
pub use nvcc::Nvcc;
pub use nvrtc::Nvrtc;
pub use pool::{Built, Pool, Ticket};
pub use request::Request;
pub use shim::{Passing, SHIM_SYMBOL, launcher_shim, shim};
pub use toolchain::Toolchain;
pub use toolkit::Toolkit;
pub use usage::Usage;
