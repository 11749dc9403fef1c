//! Source and configuration to a built artifact. In: a [`Request`]: sources, flags, the configuration as defines. Out: an
//! [`Artifact`] from the cache or fresh from the compiler, or a refusal with the compiler's own words and the source line.
//! A missing compiler or a full disk is a fault, never a refusal.

mod artifact;
mod cache;
mod compile;
mod compiler;
mod include;
mod key;
mod message;
mod pool;
mod request;
mod shim;

pub use artifact::Artifact;
pub use cache::{Cache, CacheState};
pub use compile::Limits;
pub use compiler::Compiler;
pub use key::fingerprint;
pub use pool::{Built, Pool, Ticket};
pub use request::Request;
pub use shim::{Passing, SHIM_SYMBOL, shim};
