//! `kiln sweep`: a kernel against its baselines over a grid of shapes.

use kiln_app::{Ending, Ends, Failure, KernelFile, Project, SweepEnd, SweepRequest, Swept, sweep, write_pictures};
use kiln_show::{SweepPictures, SweepView};

use crate::args::SweepArgs;
use crate::hearing::Hearing;
use crate::output;
use crate::place;

pub(crate) fn run(project: &Project, args: &SweepArgs) -> Result<Ending, Failure> {
    let hearing = Hearing::progress(&args.hearing, args.json)?;
    let hear = |event: &_| hearing.hear(event);
    let file = KernelFile::read_heard(&args.selecting.path, &hear)?;
    let request = SweepRequest {
        selecting: (&args.selecting).into(),
        measuring: (&args.measuring).into(),
        dims: args.dims.clone(),
        config: args.choosing.config.clone(),
        study: args.choosing.study.clone(),
        baselines: args.baselines.clone(),
        width: args.width,
        max_samples: args.max_samples,
        early: args.measuring.samples.is_none(),
        dead_zone: args.dead_zone,
        minutes: args.minutes,
        resume: args.resume.clone(),
    };
    let swept = sweep(project, &file, &request, &hear)?;
    let kiln = place::kiln(project);
    let ended = match &swept.end {
        SweepEnd::Complete => None,
        SweepEnd::OutOfTime => Some("out of time".to_string()),
        SweepEnd::Interrupted => Some("interrupted".to_string()),
        SweepEnd::Failed(failure) => Some(format!("ended by a fault: {}", failure.reason().unwrap_or_default())),
    };
    let view = SweepView { run: &swept.run, story: &swept.story, ended: ended.as_deref(), kiln: &kiln };
    let object = format!("{}\n", view.json());
    let written = written(args, &swept, &object);
    hearing.data(&if args.json { object } else { view.to_string() })?;
    written?;
    Ok(swept.ending())
}

/// The pictures, and what is for machines, where a folder is named.
fn written(args: &SweepArgs, swept: &Swept, object: &str) -> Result<(), Failure> {
    let Some(folder) = &args.out else { return Ok(()) };
    let pictures = SweepPictures { story: &swept.story, kernel: &swept.run.kernel }.files();
    let mut files: Vec<(&str, String)> = pictures.iter().map(|(name, svg)| (name.as_str(), svg.clone())).collect();
    files.push(("sweep.json", object.into()));
    write_pictures(folder, &files)?.iter().for_each(|file| output::note(&format!("wrote {file}")));
    Ok(())
}
