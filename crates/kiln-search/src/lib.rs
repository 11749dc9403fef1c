//! Which configuration to try next. In: a [`Space`](kiln_space::Space), a seed, and what the configurations tried so far
//! turned out to cost. Out: valid configurations that were never proposed before. Nothing here builds, runs or measures.
//!
//! Every [`Strategy`] answers from what it knows, not from how it came to know it: the next proposal is a function of the
//! space, the seed, the observations told and the proposals still pending. A run that was killed therefore goes on as if
//! nothing had happened once its trials are told again, in any order, and its pending ones announced.

mod draw;
mod history;
mod kind;
mod latin;
mod observation;
mod race;
mod random;
mod seen;
mod strategy;
pub mod tpe;

pub use kind::{Kind, UnknownStrategy};
pub use latin::Latin;
pub use observation::Observation;
pub use race::{Bound, Decision, Race};
pub use random::Random;
pub use strategy::{Strategy, strategy};
pub use tpe::Tpe;
