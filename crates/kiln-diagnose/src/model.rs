//! What a fix will really give. In: outcomes, each a promise of a diagnosis and what was measured after the fix. Out: a [`GainModel`] that turns a promise
//! into an expected speedup with an 80 % interval: without outcomes the promise itself, with outcomes of the same cause, fix, kernel or chip closer
//! to what those gave. [`leave_out`] says how good that is on kernels the model has not seen, [`Durations`] how long a phase will take.
//! docs/decision-model.md has the formulas. Refuses outcome files with mistakes, each with its line.

mod duration;
mod gain;
mod leave_out;
mod order;
mod outcome;
mod read;
mod shipped;
mod weigh;

pub use duration::{Duration, Durations, PhaseTime};
pub use gain::{Asked, CauseFactor, Expected, GainModel};
pub use leave_out::{Held, HeldCause, LeftOut, leave_out};
pub use order::{Order, OrderScore};
pub use outcome::{Outcome, Ratio};
pub use read::read_outcomes;
pub use shipped::shipped_outcomes;
