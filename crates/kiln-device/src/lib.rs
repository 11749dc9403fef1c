//! GPU architectures and boards: limits, occupancy arithmetic, peaks.
//!
//! In: an architecture name (`sm_90a`), a block's demand, or a board's name.
//! Out: the limits a launch must respect, how many blocks share a
//! multiprocessor and what stops a further one, and the least time a given
//! amount of work can take. Refuses: an unknown architecture, with the nearest
//! known name; an unknown board or rate is `None`, never a guess.
//!
//! Everything here is a table or arithmetic on it: no driver is asked. What a
//! driver does say wins: [`Limits`] and [`Device`] are plain `Copy` structs, so
//! a caller copies a row and overwrites the fields it has read for itself.

mod arch;
mod boards;
mod device;
mod limits;
mod names;
mod occupancy;
mod roofline;
mod unknown;

pub use arch::Arch;
pub use device::Device;
pub use limits::Limits;
pub use occupancy::{Demand, Limiter, Occupancy, waves};
pub use unknown::UnknownArch;
