//! `kiln sanitize`: the cause of a fault, by tools that watch every access.

use kiln_app::{Ending, Ends, Failure, KernelFile, Project, SanitizeRequest, lesson, sanitize};
use kiln_show::{SanitizeView, with_lesson as shown};

use crate::args::SanitizeArgs;
use crate::hearing::Hearing;
use crate::output;

pub(crate) fn run(project: &Project, args: &SanitizeArgs) -> Result<Ending, Failure> {
    let hearing = Hearing::progress(&args.hearing, args.json)?;
    let hear = |event: &_| hearing.hear(event);
    let file = KernelFile::read_heard(&args.selecting.path, &hear)?;
    let request = SanitizeRequest {
        selecting: (&args.selecting).into(),
        config: args.choosing.config.clone(),
        study: args.choosing.study.clone(),
        case: args.case.clone(),
        tools: args.tool.clone(),
        limit: args.limit,
        seed: args.seed,
    };
    let sanitized = sanitize(project, &file, &request, &hear)?;
    let view = SanitizeView { sanitized: &sanitized, verbose: output::verbose() };
    let lesson = lesson(project, &sanitized, Some(args.selecting.path.as_str()));
    hearing.data(&shown(args.json, view.json(), view.to_string(), lesson.as_ref()))?;
    Ok(sanitized.ending())
}
