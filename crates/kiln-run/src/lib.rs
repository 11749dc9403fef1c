//! Everything that touches foreign code. A candidate never runs in the process that judges it: a [`Worker`] is another
//! process of the same binary, spoken to over pipes, with large buffers in shared memory (an [`Arena`]). In: a library to
//! load, buffers, calls to make. Out: times, or a refusal with the reason: a crash with its signal, a call that never ends,
//! memory hunger, something on the pipe that is no answer. Whatever happens costs one worker, never the caller.

mod arena;
mod cpu;
mod memory;
mod protocol;
mod signal;
mod worker;

pub use arena::{ALIGNMENT, Arena, Region};
pub use cpu::serve_cpu;
pub use protocol::{Answer, Ask, PROTOCOL, Timing};
pub use worker::{Limits, Worker};
