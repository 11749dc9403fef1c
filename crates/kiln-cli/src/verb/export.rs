//! `kiln export`: a package of the winners.

use kiln_app::{Ending, Ends, ExportRequest, Failure, KernelFile, Project, export};
use kiln_show::ExportView;

use crate::args::ExportArgs;
use crate::hearing::Hearing;

pub(crate) fn run(project: &Project, args: &ExportArgs) -> Result<Ending, Failure> {
    let hearing = Hearing::progress(&args.hearing, args.json)?;
    let hear = |event: &_| hearing.hear(event);
    let file = KernelFile::read_heard(&args.path, &hear)?;
    let request = ExportRequest {
        path: args.path.clone(),
        target: args.target.clone(),
        implementation: args.implementation.clone(),
        archs: args.arch.clone(),
        config: args.config.clone(),
        study: args.study.clone(),
        folder: args.output.clone(),
        force: args.force,
    };
    let exported = export(project, &file, &request, &hear)?;
    let view = ExportView { exported: &exported };
    hearing.data(&if args.json { format!("{}\n", view.json()) } else { view.to_string() })?;
    Ok(exported.ending())
}
