//! Everything that touches foreign code. A candidate never runs in the process that judges it: a [`Worker`] is another
//! process, of the same binary for C and of an interpreter for Python, spoken to over pipes, with large buffers in shared
//! memory (an [`Arena`]). In: something to load, buffers, calls to make. Out: times, or a refusal with the reason: a crash
//! with its signal, a call that never ends, memory hunger, something on the pipe that is no answer, times that do not fit
//! the parent's clock. Whatever happens costs one worker, never the caller.

mod cards;
mod confine;
mod cuda;
#[cfg(test)]
mod functions;
mod interpreters;
mod memory;
mod processes;
mod protocol;
mod serving;
mod worker;
mod wrappers;

pub use cards::lock::DeviceLock;
pub use cards::nvml::{Card, Sensor, cards};
pub use cards::visible::visible;
pub use confine::{Confined, Confinement, Rules};
pub use cuda::serve_cuda;
pub use interpreters::fork_server::ForkServer;
pub use interpreters::python::{Python, find_python, python_command, worker_source};
pub use memory::arena::{ALIGNMENT, Arena, MOST_ALIGNMENT, Region, page};
pub use memory::handle::Handle;
pub use memory::lines::flush_lines;
pub use memory::pad::Pad;
pub use memory::prefault::prefault;
pub use processes::pin::{pin_thread, step_back, work_on};
pub use protocol::{
    About, AheadKernel, AheadRefusal, AheadSlot, Answer, Ask, Compilation, Compiled, Drawing, Failed, Fill, Gpu,
    GpuState, Launch, Lent, Lies, Lying, MappedSlot, Numbers, PROTOCOL, TensorMap, Timing,
};
pub use serving::cpu::serve_cpu;
pub use serving::nvrtc::serve_nvrtc;
pub use worker::{Worker, WorkerLimits};
pub use wrappers::compute_sanitizer::{ComputeSanitizer, SanitizerTool};
pub use wrappers::ncu::{Collect, Ncu};
pub use wrappers::wrapper::Wrapper;

/// What a worker begins the lines with that say where an argument lies: the mark, then the name, the address and the bytes.
pub const ARGUMENT_MARK: &str = "kiln: argument";
