//! The other end of the pipe, in a process of its own: it calls candidates, or compiles once, and ends with its parent.

use std::path::Path;

use kiln_core::Report;

use crate::ending::Ending;
use crate::failure::Failure;

/// What a worker runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WorkerKind {
    /// Shared libraries on this machine's processor.
    Cpu,
    /// Kernels on a GPU.
    Cuda,
    /// One compilation by NVRTC.
    Nvrtc,
}

/// Serves whoever started this process. `order` is the file that tells NVRTC what to compile.
pub fn worker(kind: WorkerKind, order: Option<&Path>) -> Result<Ending, Failure> {
    match kind {
        WorkerKind::Cpu => kiln_run::serve_cpu()?,
        WorkerKind::Cuda => kiln_run::serve_cuda()?,
        WorkerKind::Nvrtc => {
            let order =
                order.ok_or_else(|| Report::error("kiln worker nvrtc needs the file that says what to compile"))?;
            return Ok(if kiln_run::serve_nvrtc(order)? { Ending::Done } else { Ending::Refused });
        }
    }
    Ok(Ending::Done)
}
