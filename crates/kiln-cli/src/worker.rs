//! `kiln worker`: the other end of the pipe, in a process of its own.

use crate::args::{WorkerArgs, WorkerKind};
use crate::exit::{Failure, Success};

pub(crate) fn run(args: &WorkerArgs) -> Result<Success, Failure> {
    match args.kind {
        WorkerKind::Cpu => kiln_run::serve_cpu()?,
        WorkerKind::Cuda => kiln_run::serve_cuda()?,
        WorkerKind::Nvrtc => {
            let order = args.order.as_deref().ok_or_else(|| {
                kiln_core::Report::error("kiln worker nvrtc needs the file that says what to compile")
            })?;
            return Ok(if kiln_run::serve_nvrtc(order)? { Success::Done } else { Success::Refused });
        }
    }
    Ok(Success::Done)
}
