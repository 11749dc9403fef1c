//! `kiln tune`: the whole loop, from the default configuration to a confirmed winner.

use kiln_app::{Ending, Ends, Failure, Project, Report, Summary, TuneRequest, TuneVerdict, Tuned, tune};
use kiln_show::SummaryView;
use serde_json::json;

use super::forge;
use crate::args::{TuneArgs, Until};
use crate::hearing::Hearing;
use crate::output;
use crate::place;

/// Configurations tried unless told otherwise.
const TRIALS: usize = 120;

pub(crate) fn run(project: &Project, args: &TuneArgs) -> Result<Ending, Failure> {
    if let Some(Until::Build) = args.until {
        return forge::run(project, args);
    }
    let hearing = Hearing::progress(&args.hearing, args.json)?;
    let tuned = tune(project, &request(args), &|event| hearing.hear(event))?;
    let ending = tuned.ending();
    let (kiln, path) = (place::kiln(project), &args.selecting.path);
    match tuned {
        Tuned::Ended { summary, files, not_adopted, short_id } => {
            if args.json {
                output::data(&format!("{}\n", json!(summary)))?;
            } else {
                let files: Vec<String> = files.into_iter().map(Into::into).collect();
                let next = next(&kiln, args, &summary, &short_id);
                hearing.data(&SummaryView { summary: &summary, files: &files, next: &next }.to_string())?;
            }
            // After what was found is told.
            not_adopted.map_or(Ok(ending), Err)
        }
        Tuned::Interrupted { study, short_id } => {
            let adopt = if args.adopt { " --adopt" } else { "" };
            let next = format!("{kiln} tune {path} --resume {short_id}{adopt}");
            output::complain(&format!("interrupted; go on with: {next}"));
            if args.json {
                let report = Report::error("interrupted").hint(next);
                output::data(&format!("{}\n", json!({ "errors": [report], "study": study })))?;
            }
            Ok(ending)
        }
        Tuned::Failed { failure, saved } => {
            if let Some(short_id) = saved {
                output::complain(&format!("what is done is saved; go on with: {kiln} tune {path} --resume {short_id}"));
            }
            Err(failure)
        }
    }
}

fn request(args: &TuneArgs) -> TuneRequest {
    TuneRequest {
        selecting: (&args.selecting).into(),
        measuring: (&args.measuring).into(),
        baseline: args.baseline.clone(),
        trials: args.trials,
        minutes: args.minutes,
        cost: args.cost,
        price: args.price,
        target_speedup: args.target_speedup,
        strategy: args.strategy.clone(),
        prior: args.prior.clone(),
        no_prior: args.no_prior,
        stop_rule: !args.no_stop,
        ablation: !args.no_ablation,
        resume: args.resume.clone(),
        replay: args.replay.clone(),
        out: args.out.clone(),
        adopt: args.adopt,
    }
}

/// What makes sense now.
fn next(kiln: &str, args: &TuneArgs, summary: &Summary, short: &str) -> Vec<String> {
    let path = &args.selecting.path;
    let then = match summary.verdict {
        TuneVerdict::Reached => format!("{kiln} bench {path} --study {short}"),
        TuneVerdict::NotReached => format!("{kiln} tune {path} --trials {}", 2 * args.trials.unwrap_or(TRIALS)),
        TuneVerdict::NoValidCandidate => format!("{kiln} gate {path}"),
        TuneVerdict::Stopped => format!("{kiln} tune {path} --no-stop"),
    };
    vec![format!("{kiln} show {short}"), then]
}
