//! From what ncu measured to the cause of a kernel's time. In: ncu's CSV pages, and where they are at hand the compiler's log and the
//! source. Out: a [`ProfileDiagnosis`]: the causes that apply, each with the metrics that say so and the speedup that its
//! removal promises, ranked by it; where the kernel stands under the roofs; and fixes for the first. A metric
//! that was not collected makes a rule silent, never wrong, and is named. Refuses pages with numbers that cannot be.

mod cause;
pub mod code;
mod collect;
mod comparison;
mod csv;
mod diagnosis;
pub mod hot;
mod load;
mod metric;
mod name;
mod nothing;
mod number;
mod odd;
mod page;
mod position;
mod promotion;
pub mod ptxas;
mod roofline;
mod rule;
mod rules;
mod subject;
mod waits;

pub use cause::Bottleneck;
pub use collect::{SECTIONS, quick_metrics};
pub use comparison::{ALIKE, Changed, Comparison, Difference, Pairs, Split, compare, other_gpu, pairs};
pub use diagnosis::{Applied, ProfileDiagnosis, Ranked, UnitLoad, applied, at_roofline, diagnose, fixes};
pub use odd::Odd;
pub use page::{Beyond, Kernel, Launch, NcuRule, Pages, Trouble};
pub use position::Position;
pub use promotion::{Activity, Promotion};
pub use roofline::{Bound, Roofline};
pub(crate) use rule::rounded;
pub use rule::{Condition, Evidence, Fix};
pub use subject::Subject;
pub use waits::Stall;
