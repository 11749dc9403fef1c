//! `kiln bench`: one configuration against baselines or another one, or baselines alone.

use kiln_app::{BenchRequest, Ending, Ends, Failure, KernelFile, Outcome, Project, baselines, bench};
use kiln_show::{BenchView, StandingView};
use serde_json::json;

use crate::args::BenchArgs;
use crate::hearing::Hearing;
use crate::output;

pub(crate) fn run(project: &Project, args: &BenchArgs) -> Result<Ending, Failure> {
    let hearing = Hearing::progress(&args.hearing, args.json)?;
    let hear = |event: &_| hearing.hear(event);
    let file = KernelFile::read_heard(&args.selecting.path, &hear)?;
    let request = BenchRequest {
        selecting: (&args.selecting).into(),
        measuring: args.measuring.at_most(args.max_samples),
        config: args.choosing.config.clone(),
        study: args.choosing.study.clone(),
        against: args.against.clone(),
        baseline: args.baseline.clone(),
        width: args.width,
        max_samples: args.max_samples,
        early: args.measuring.samples.is_none(),
        dead_zone: args.dead_zone,
        all: args.all,
        save: args.save.clone(),
    };
    if args.baselines {
        let found = baselines(project, &file, &request, &hear)?;
        let view = StandingView { found: &found };
        hearing.data(&if args.json { format!("{}\n", view.json()) } else { view.to_string() })?;
        return Ok(found.ending());
    }
    let done = bench(project, &file, &request, &hear)?;
    hearing.data(&match &done.outcome {
        Outcome::Refused(refusal) if args.json => format!("{}\n", json!({ "refused": refusal })),
        Outcome::Refused(refusal) => kiln_show::refusal(refusal, output::verbose()),
        Outcome::Passed(figures) => {
            let view = BenchView {
                kernel: &done.kernel,
                config: &done.config,
                settings: &done.settings,
                processor: &done.hardware,
                figures,
                left: &done.left,
            };
            if args.json { format!("{}\n", view.json()) } else { view.to_string() }
        }
    })?;
    Ok(done.ending())
}
