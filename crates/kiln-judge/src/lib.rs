//! Is it right? In: what a kernel was given and what it left behind. Out: marks, or a refusal with the number and the place.
//! References are computed in double precision; nothing here runs foreign code. A [`Signature`] says what a call takes,
//! [`Inputs`] are drawn for it, an [`Exam`] lays them out and judges what comes back, as often as a [`Level`] asks.

mod described;
mod drawn;
mod exam;
mod fuzz;
mod level;
mod marked;
mod right;

pub use described::geometry::{Geometry, boxes, geometry, least_occupancy};
pub use described::instance::entries;
pub use described::rules::Rules;
pub use described::signature::{Signature, Slot};
pub use drawn::distribution::Distribution;
pub use drawn::element::{decode, encode};
pub use drawn::fresh::{Drawn, Fresh, Key};
pub use drawn::inputs::{Filler, Inputs};
pub use drawn::interval::Interval;
pub use exam::{Exam, Outside, Precision};
pub use fuzz::axis::Admits;
pub use fuzz::case::{FuzzCase, Shape, shape_text, workload_of};
pub use fuzz::fit::{Fit, Work, fit};
pub use fuzz::generate::{DrawnCase, Generator, Source as CaseSource};
pub use fuzz::room::{Extent, Room};
pub use fuzz::scalars::CaseScalars;
pub use fuzz::shrink::{Shrinker, Shrunk, shrink};
pub use fuzz::suite::{suite, suite_names};
pub use fuzz::tiles::tiles;
pub use level::{Coverage, Level, Plan, Scope};
pub use marked::check::{Mark, Marks};
pub use marked::memory::{POISON, padding, poison};
pub use marked::strides::{gather, scatter};
pub use right::allowed::{Allowed, Bound, Source};
pub use right::answer::RightAnswer;
pub use right::dependence::ignored;
pub use right::expected::Expected;
pub use right::null::Null;
pub use right::reference::{Builtin, Heads, Scalars, Unfit};
pub use right::solution::{Solution, Written, agree};
pub use right::tensor::Tensor;
