//! `kiln tune`: the whole loop, from the default configuration to a confirmed winner.

use kiln_app::{
    Ending, Ends, Failure, Measuring, Project, Report, Selecting, Summary, TuneRequest, TuneVerdict, Tuned, lesson,
    tune,
};
use kiln_show::{Command, SummaryView, lesson_line, taught};
use serde_json::{Value, json};

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
    let (ending, summary) = study(project, args, &hearing, &request(args))?;
    if let (true, Some(summary)) = (args.json, summary) {
        output::data(&format!("{}\n", object(project, args, &summary)))?;
    }
    Ok(ending)
}

/// What `--json` prints of a study.
fn object(project: &Project, args: &TuneArgs, summary: &Summary) -> Value {
    taught(json!(summary), lesson(project, summary, Some(args.selecting.path.as_str())).as_ref())
}

/// One study, told to its end but for the object that `--json` asks for.
pub(super) fn study(
    project: &Project,
    args: &TuneArgs,
    hearing: &Hearing,
    request: &TuneRequest,
) -> Result<(Ending, Option<Box<Summary>>), Failure> {
    let tuned = tune(project, request, &|event| hearing.hear(event))?;
    let ending = tuned.ending();
    let kiln = place::kiln(project);
    let go_on = |study: &str| Command::tune(&kiln, request, |request| request.resume = Some(study.into())).to_string();
    match tuned {
        Tuned::Ended { summary, files, unwritten, short_id, exhausted, asked } => {
            if !args.json {
                let files: Vec<String> = files.into_iter().map(Into::into).collect();
                let next = next(&kiln, &asked, &summary, &short_id, exhausted);
                let text = SummaryView { summary: &summary, files: &files, next: &next }.to_string();
                let lesson = lesson(project, &*summary, Some(request.selecting.path.as_str()));
                hearing.data(&(text + &lesson.as_ref().map(lesson_line).unwrap_or_default()))?;
            }
            // After what was found is told.
            match (unwritten, args.json) {
                (None, _) => Ok((ending, Some(summary))),
                (Some(failure), json) => {
                    if json && !args.all_variants {
                        output::data(&format!("{}\n", object(project, args, &summary)))?;
                    }
                    Err(failure)
                }
            }
        }
        Tuned::Interrupted { study, short_id } => {
            let next = go_on(&short_id);
            output::complain(&format!("interrupted; continue with: {next}"));
            if args.json && !args.all_variants {
                let report = Report::error("interrupted").hint(next);
                output::data(&format!("{}\n", json!({ "errors": [report], "study": study })))?;
            }
            Ok((ending, None))
        }
        Tuned::Failed { failure, saved } => {
            if let Some(short_id) = saved {
                output::complain(&format!("what is done is saved; continue with: {}", go_on(&short_id)));
            }
            Err(failure)
        }
    }
}

pub(super) fn request(args: &TuneArgs) -> TuneRequest {
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
        sanitize: !args.no_sanitize,
        profile: !args.no_profile,
        resume: args.resume.clone(),
        replay: args.replay.clone(),
        out: args.out.clone(),
        adopt: args.adopt,
        name: args.name.clone(),
        tags: args.tag.clone(),
    }
}

/// What makes sense now.
fn next(kiln: &str, request: &TuneRequest, summary: &Summary, short: &str, exhausted: bool) -> Vec<String> {
    let show = Command::show(kiln, short);
    let selecting = &request.selecting;
    let again = |change: &dyn Fn(&mut TuneRequest)| {
        Command::tune(kiln, request, |new| {
            (new.resume, new.replay) = (None, None);
            change(new);
        })
    };
    match summary.verdict {
        TuneVerdict::Reached => {
            // A benchmark takes its own number of samples.
            let measuring = Measuring { samples: Command::SAMPLES, ..request.measuring.clone() };
            let bench = Command::of(kiln, "bench", selecting).measured(&measuring).value("--study", short);
            vec![show.to_string(), bench.to_string()]
        }
        // Every configuration was tried: other values are what may help. What is slower than the baseline lacks more than that.
        TuneVerdict::NotReached => {
            let slower = summary.speedup.is_some_and(|speedup| speedup < 1.0);
            // Of none, twice as many are none.
            let more = request.trials.map_or(2 * TRIALS, |trials| if trials == 0 { TRIALS } else { 2 * trials });
            let on = match exhausted {
                true => show.clone().flag("--importance", true).to_string(),
                false => again(&|new| new.trials = Some(more)).to_string(),
            };
            let profile = slower.then(|| profile(kiln, selecting, summary));
            [show.to_string()].into_iter().chain(profile).chain([on]).collect()
        }
        TuneVerdict::NoValidCandidate => {
            let gate = Command::of(kiln, "gate", selecting);
            vec![show.flag("--refusals", true).to_string(), gate.to_string()]
        }
        // What limits it comes before searching on.
        TuneVerdict::Stopped => vec![profile(kiln, selecting, summary), show.to_string()],
    }
}

/// The profile of what a study came to.
fn profile(kiln: &str, selecting: &Selecting, summary: &Summary) -> String {
    let workload = summary.limit.as_ref().map(|limit| limit.workload.clone()).filter(|name| !name.is_empty());
    let selecting = Selecting { workload: workload.or(selecting.workload.clone()), ..selecting.clone() };
    let config = summary.config.as_ref().or(summary.limit.as_ref().map(|limit| &limit.config)).map(ToString::to_string);
    Command::of(kiln, "profile", &selecting).maybe("--config", config.as_deref()).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser;
    use serde_json::json;

    fn summary(speedup: f64) -> Summary {
        serde_json::from_value(json!({
            "verdict": "not_reached", "reason": "", "workloads": [], "config": { "VEC": 8 }, "speedup": speedup,
            "speedup_ci95": null, "target_speedup": 1.1, "baseline": "naive", "trials": 6, "refused": {}, "ablation": [],
            "seed": 1, "seconds": 1.0, "study": "s"
        }))
        .unwrap()
    }

    /// Twice none is none.
    #[test]
    fn a_study_of_the_default_alone_sends_to_a_search() {
        let cli = crate::args::Cli::try_parse_from(["kiln", "tune", "k", "--trials", "0"]).unwrap();
        let crate::args::Verb::Tune(args) = cli.verb else { panic!("another verb") };
        let lines = next("kiln", &request(&args), &summary(1.05), "abc", false);
        assert!(lines.iter().any(|line| line == "kiln tune k --trials 120"), "{lines:?}");
    }

    /// Slower than the baseline: what limits it is worth more than another search.
    #[test]
    fn a_study_below_its_baseline_sends_to_the_profile() {
        let cli = crate::args::Cli::try_parse_from(["kiln", "tune", "k"]).unwrap();
        let crate::args::Verb::Tune(args) = cli.verb else { panic!("another verb") };
        let request = request(&args);
        for exhausted in [false, true] {
            let slow = next("kiln", &request, &summary(0.7), "abc", exhausted);
            assert!(slow.iter().any(|line| line.contains(" profile ") && line.contains("VEC=8")), "{slow:?}");
            let fast = next("kiln", &request, &summary(1.05), "abc", exhausted);
            assert!(!fast.iter().any(|line| line.contains(" profile ")), "{fast:?}");
        }
    }
}
