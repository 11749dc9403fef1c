//! The other end of the pipe, in a process of its own: it calls candidates, or compiles, and ends with its parent.

use crate::ending::Ending;
use crate::failure::Failure;

/// What a worker runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WorkerKind {
    /// Shared libraries on this machine's processor.
    Cpu,
    /// Kernels on a GPU.
    Cuda,
    /// Compilations by NVRTC.
    Nvrtc,
}

/// Serves whoever started this process.
pub fn worker(kind: WorkerKind) -> Result<Ending, Failure> {
    match kind {
        WorkerKind::Cpu => kiln_run::serve_cpu()?,
        WorkerKind::Cuda => kiln_run::serve_cuda()?,
        WorkerKind::Nvrtc => kiln_run::serve_nvrtc()?,
    }
    Ok(Ending::Done)
}
