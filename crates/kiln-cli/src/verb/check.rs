//! `kiln check`: is one configuration right?

use kiln_app::{CheckRequest, Ending, Ends, Failure, KernelFile, Project, check, lesson};
use kiln_show::{CheckView, with_lesson as shown};

use crate::args::CheckArgs;
use crate::hearing::Hearing;
use crate::output;

pub(crate) fn run(project: &Project, args: &CheckArgs) -> Result<Ending, Failure> {
    let hearing = Hearing::remarks(&args.hearing, args.json)?;
    let hear = |event: &_| hearing.hear(event);
    let file = KernelFile::read_heard(&args.selecting.path, &hear)?;
    let request = CheckRequest {
        selecting: (&args.selecting).into(),
        config: args.choosing.config.clone(),
        study: args.choosing.study.clone(),
        full: args.full,
        selected: args.selecting.workload.as_deref().is_some_and(|name| name != "all"),
        seed: args.seed,
    };
    let checked = check(project, &file, &request, &hear)?;
    let view = CheckView {
        kernel: &checked.kernel,
        config: &checked.config,
        level: checked.level,
        seed: checked.seed,
        reports: &checked.reports,
        refused: checked.refused.as_ref(),
        verbose: output::verbose(),
    };
    let lesson = lesson(project, &checked, Some(args.selecting.path.as_str()));
    hearing.data(&shown(args.json, view.json(), view.to_string(), lesson.as_ref()))?;
    Ok(checked.ending())
}
