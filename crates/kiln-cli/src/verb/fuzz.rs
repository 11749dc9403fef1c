//! `kiln fuzz`: is it right on cases nobody thought of?

use kiln_app::{Ending, Ends, Failure, FuzzRequest, KernelFile, Project, fuzz};
use kiln_show::FuzzView;

use crate::args::FuzzArgs;
use crate::hearing::Hearing;
use crate::output;
use crate::place;

pub(crate) fn run(project: &Project, args: &FuzzArgs) -> Result<Ending, Failure> {
    let hearing = Hearing::progress(&args.hearing, args.json)?;
    let hear = |event: &_| hearing.hear(event);
    let file = KernelFile::read_heard(&args.selecting.path, &hear)?;
    let request = FuzzRequest {
        selecting: (&args.selecting).into(),
        config: args.config.clone(),
        study: args.study.clone(),
        baseline: args.baseline.clone(),
        suite: args.suite.clone(),
        case: args.case.clone(),
        cases: args.cases,
        minutes: args.minutes,
        runs: args.runs,
        configs: args.configs,
        jobs: args.jobs,
        seed: args.seed,
    };
    let fuzzed = fuzz(project, &file, &request, &hear)?;
    let kiln = place::kiln(project);
    let (selecting, typed, verbose) = (&request.selecting, request.case.is_some(), output::verbose());
    let view = FuzzView { fuzzed: &fuzzed, selecting, kiln: &kiln, typed, verbose };
    hearing.data(&if args.json { format!("{}\n", view.json()) } else { view.to_string() })?;
    Ok(fuzzed.ending())
}
