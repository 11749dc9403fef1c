//! Which configuration to try next. In: a [`Space`](kiln_space::Space), a seed, and what the configurations tried so far
//! turned out to cost. Out: valid configurations that were never proposed before. Nothing here builds, runs or measures.
//!
//! Every [`Strategy`] answers from what it knows, not from how it came to know it: the next proposal is a function of the
//! space, the seed, the observations told and the proposals still pending. A run that was killed therefore goes on as if
//! nothing had happened once its trials are told again, in any order, and its pending ones announced.

mod annealing;
mod auto;
mod candidates;
mod design;
mod draw;
mod forest;
mod genetic;
mod history;
mod importance;
mod kind;
mod knowledge;
mod latin;
mod lead;
mod metric;
mod model;
mod moves;
mod observation;
mod prior;
mod race;
mod random;
mod recorded;
mod ruled;
mod seen;
mod settings;
mod simulate;
mod slice;
mod strategy;
mod surrogate;
mod tabu;
pub mod tpe;
mod transfer;

pub use auto::Auto;
pub use forest::Forest;
pub use importance::{Edge, Importance, Interaction, LEAST_TIMED, Mattering, importance};
pub use kind::{Kind, UnknownStrategy};
pub use knowledge::{Knowledge, StaticScore};
pub use latin::Latin;
pub use observation::Observation;
pub use prior::Prior;
pub use race::{Bound, Decision, Race};
pub use random::Random;
pub use recorded::{Recorded, RecordedTime, Unrecorded};
pub use settings::{Constant, SearchSettings, UnknownConstant};
pub use simulate::{Curve, Plan, Score, repeat, score, shares, simulate};
pub use strategy::{Strategy, strategy, strategy_with};
pub use tpe::Tpe;
