//! `kiln tune --until build`: what the compiler makes of configurations.

use kiln_app::{Ending, Ends, Failure, ForgeRequest, KernelFile, Project, forge};
use kiln_show::ForgeView;

use crate::args::TuneArgs;
use crate::hearing::Hearing;
use crate::output;

pub(crate) fn run(project: &Project, args: &TuneArgs) -> Result<Ending, Failure> {
    let hearing = Hearing::progress(&args.hearing, args.json)?;
    let hear = |event: &_| hearing.hear(event);
    let file = KernelFile::read_heard(&args.selecting.path, &hear)?;
    let request = ForgeRequest { selecting: (&args.selecting).into(), trials: args.trials, seed: args.measuring.seed };
    let done = forge(project, &file, &request, &hear)?;
    let view = ForgeView {
        kernel: &done.kernel,
        compiler: &done.compiler,
        forged: &done.forged,
        refused: &done.refused,
        seed: done.seed,
        verbose: output::verbose(),
    };
    hearing.data(&if args.json { format!("{}\n", view.json()) } else { view.to_string() })?;
    Ok(done.ending())
}
