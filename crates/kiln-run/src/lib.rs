//! Everything that touches foreign code. A candidate never runs in the process that judges it: a [`Worker`] is another
//! process, of the same binary for C and of an interpreter for Python, spoken to over pipes, with large buffers in shared
//! memory (an [`Arena`]). In: something to load, buffers, calls to make. Out: times, or a refusal with the reason: a crash
//! with its signal, a call that never ends, memory hunger, something on the pipe that is no answer, times that do not fit
//! the parent's clock. Whatever happens costs one worker, never the caller.

mod arena;
mod channel;
mod clock;
mod confine;
mod cpu;
mod cuda;
mod fork_server;
#[cfg(test)]
mod functions;
mod handle;
mod lifeline;
mod lines;
mod lock;
mod mapping;
mod memory;
mod nvml;
mod nvrtc;
mod orphans;
mod pad;
mod pin;
mod pipes;
mod preemption;
mod prefault;
mod process;
mod protocol;
mod python;
mod reading;
mod scratch;
mod serve;
mod signal;
mod spawn;
mod stopwatch;
mod visible;
mod worker;

pub use arena::{ALIGNMENT, Arena, MOST_ALIGNMENT, Region, page};
pub use confine::{Confined, Confinement, Rules};
pub use cpu::serve_cpu;
pub use cuda::serve_cuda;
pub use fork_server::ForkServer;
pub use handle::Handle;
pub use lines::flush_lines;
pub use lock::DeviceLock;
pub use nvml::{Card, Sensor, cards};
pub use nvrtc::serve_nvrtc;
pub use pad::Pad;
pub use pin::{pin_thread, step_back, work_on};
pub use prefault::prefault;
pub use protocol::{
    About, Answer, Ask, Drawing, Failed, Fill, Gpu, GpuState, Launch, Lent, MappedSlot, Numbers, PROTOCOL, TensorMap,
    Timing,
};
pub use python::{Python, find_python, python_command};
pub use visible::visible;
pub use worker::{Worker, WorkerLimits};
