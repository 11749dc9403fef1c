//! Lessons where kiln works: those it ships, the project's own in `.kiln/lessons`, a team's in the folder that `KILN_LESSONS`
//! names. In: a result. Out: the lesson that fits it best, if one does. Never refuses and never fails: a folder that cannot
//! be read or a file with mistakes costs nobody their result; `kiln lessons` reports them.

mod seen;
mod shelf;
mod taught;

pub use seen::Symptomatic;
pub(crate) use shelf::{RETIRED, Retired, files, lesson as lesson_in, retired};
pub use shelf::{SHARED, Shelf};
pub(crate) use taught::met;
pub use taught::{Taught, lesson, lesson_for};
