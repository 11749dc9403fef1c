//! Is it right? In: what a kernel was given and what it left behind. Out: marks, or a refusal with the number and the place.
//! References are computed in double precision; nothing here runs foreign code. A [`Signature`] says what a call takes,
//! [`Inputs`] are drawn for it, an [`Exam`] lays them out and judges what comes back, as often as a [`Level`] asks.

mod allowed;
mod answer;
mod check;
mod dependence;
mod derive;
mod distribution;
mod element;
mod elementwise;
mod evaluate;
mod exam;
mod expected;
mod geometry;
mod inputs;
mod instance;
mod integers;
mod interval;
mod level;
mod magnitude;
mod memory;
mod narrow;
mod normal;
mod null;
mod parallel;
mod projection;
mod reference;
mod rerun;
mod rules;
mod signature;
mod strides;
mod tally;
mod tensor;
mod whole;

pub use allowed::{Allowed, Bound, Source};
pub use answer::Answer;
pub use check::{Mark, Marks};
pub use dependence::ignored;
pub use distribution::Distribution;
pub use element::{decode, encode};
pub use exam::{Exam, Outside, Precision};
pub use expected::Expected;
pub use geometry::{Geometry, boxes, geometry};
pub use inputs::{Filler, Inputs};
pub use instance::{answers, entries};
pub use interval::Interval;
pub use level::{Coverage, Level, Plan, Scope};
pub use memory::POISON;
pub use null::Null;
pub use reference::{Builtin, Scalars, Unfit};
pub use rules::Rules;
pub use signature::{Signature, Slot};
pub use strides::{gather, scatter};
pub use tensor::Tensor;
