//! `kiln worker`: the other end of the pipe, in a process of its own.

use crate::args::{WorkerArgs, WorkerKind};
use crate::exit::{Failure, Success};

pub(crate) fn run(args: &WorkerArgs) -> Result<Success, Failure> {
    match args.kind {
        WorkerKind::Cpu => kiln_run::serve_cpu()?,
    }
    Ok(Success::Done)
}
