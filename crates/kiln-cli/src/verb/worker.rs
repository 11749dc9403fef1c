//! `kiln worker`: the other end of the pipe, in a process of its own.

use kiln_app::{Ending, Failure, worker};

use crate::args::WorkerArgs;

pub(crate) fn run(args: &WorkerArgs) -> Result<Ending, Failure> {
    worker(args.kind.into())
}
