//! Which configuration to try next. In: a [`Space`](kiln_space::Space), a seed, and what the configurations tried so far
//! turned out to cost. Out: valid configurations that were never proposed before. Nothing here builds, runs or measures.
//!
//! Every [`Strategy`] answers from what it knows, not from how it came to know it: the next proposal is a function of the
//! space, the seed, the observations told and the proposals still pending. A run that was killed therefore goes on as if
//! nothing had happened once its trials are told again, in any order, and its pending ones announced.

mod kind;
mod known;
mod model;
mod proposing;
mod race;
mod replay;
mod settings;
mod strategies;
mod strategy;
pub mod tpe;

pub use kind::{Kind, UnknownStrategy};
pub use known::knowledge::{Knowledge, StaticScore};
pub use known::observation::Observation;
pub use known::prior::Prior;
pub use race::{Bound, Decision, Race};
pub use replay::importance::{Edge, Importance, Interaction, LEAST_TIMED, Mattering, importance};
pub use replay::recorded::{Recorded, RecordedTime, Unrecorded};
pub use replay::simulate::{Curve, Plan, Score, repeat, score, shares, simulate};
pub use settings::{Constant, SearchSettings, UnknownConstant};
pub use strategies::auto::Auto;
pub use strategies::forest::Forest;
pub use strategies::latin::Latin;
pub use strategies::random::Random;
pub use strategy::{Strategy, strategy, strategy_with};
pub use tpe::Tpe;
