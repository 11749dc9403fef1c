//! `kiln profile`: what a kernel's time goes to.

use kiln_app::{Ending, Ends, Failure, KernelFile, ProfileRequest, Project, lesson, profile, writable, write_whole};
use kiln_show::{ProfileView, with_lesson as shown};

use crate::args::ProfileArgs;
use crate::hearing::Hearing;
use crate::output;

pub(crate) fn run(project: &Project, args: &ProfileArgs) -> Result<Ending, Failure> {
    args.out.as_deref().map_or(Ok(()), |file| writable("the profile", file))?;
    let hearing = Hearing::progress(&args.hearing, args.json)?;
    let hear = |event: &_| hearing.hear(event);
    let file = KernelFile::read_heard(&args.selecting.path, &hear)?;
    let request = ProfileRequest {
        selecting: (&args.selecting).into(),
        config: args.choosing.config.clone(),
        study: args.choosing.study.clone(),
        baseline: args.baseline.clone(),
        level: args.level.into(),
        limit: args.limit,
        seed: args.seed,
    };
    let profiled = profile(project, &file, &request, &hear)?;
    let view = ProfileView { profiled: &profiled, verbose: output::verbose() };
    let lesson = lesson(project, &profiled, Some(args.selecting.path.as_str()));
    let text = shown(args.json, view.json(), view.to_string(), lesson.as_ref());
    match &args.out {
        Some(file) => write_whole(file, text.as_bytes())?,
        None => hearing.data(&text)?,
    }
    Ok(profiled.ending())
}
