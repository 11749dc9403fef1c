//! `kiln debug`: what a kernel prints and asserts.

use kiln_app::{DebugRequest, Ending, Ends, Failure, KernelFile, Project, debug};
use kiln_show::DebugView;

use crate::args::DebugArgs;
use crate::hearing::Hearing;
use crate::output;

pub(crate) fn run(project: &Project, args: &DebugArgs) -> Result<Ending, Failure> {
    let hearing = Hearing::remarks(&args.hearing, args.json)?;
    let hear = |event: &_| hearing.hear(event);
    let file = KernelFile::read_heard(&args.selecting.path, &hear)?;
    let request = DebugRequest {
        selecting: (&args.selecting).into(),
        config: args.choosing.config.clone(),
        study: args.choosing.study.clone(),
        case: args.case.clone(),
        limit: args.limit,
        seed: args.seed,
    };
    let debugged = debug(project, &file, &request, &hear)?;
    let view = DebugView { debugged: &debugged, verbose: output::verbose() };
    hearing.data(&if args.json { format!("{}\n", view.json()) } else { view.to_string() })?;
    Ok(debugged.ending())
}
