//! `history` and `show`: what is recorded.

use kiln_app::{Failure, HistoryRequest, Project, Report, Shown, history, kernel_since, show};
use kiln_show::{HistoryView, Past, RunView, StudyView, repeat};
use serde_json::{Value, json};

use crate::mcp::answer::Answer;
use crate::mcp::arguments::{Kind, may};
use crate::mcp::evidence::{Evidence, list, of_bench, of_study, only};
use crate::mcp::tool::{Call, Effect, NAMED, Tool, never};

pub(in crate::mcp) static HISTORY: Tool = Tool {
    name: "history",
    title: "Past studies and benchmarks",
    about: "Lists studies, benchmarks and validations, newest first. A speedup here was confirmed then, on that device and commit: it is not a claim about the \
            kernel as it is now.",
    arguments: &[&[
        may("kernel", Kind::Named, "only this kernel: its folder, its kernel.toml or its name"),
        may("tag", Kind::Text(200), "only studies with this tag"),
        may("limit", Kind::Whole(1, 200, Some(20)), "the newest so many"),
    ]],
    answers: &["kiln history"],
    own: None,
    effect: Effect::Looks,
    repeatable: true,
    measures: never,
    run: listed,
};

pub(in crate::mcp) static SHOW: Tool = Tool {
    name: "show",
    title: "Show a study or a benchmark",
    about: "Shows a study (settings, verdict, refusals, trials) or a benchmark from its record. Quote the interval, the verdict and the device with every figure. The \
            best trial of a search is not a result: only what was confirmed is.",
    arguments: &[NAMED, &[may("trials", Kind::Whole(0, 1000, Some(50)), "trials at most, in the order recorded")]],
    answers: &["kiln show", "kiln sweep"],
    own: Some(|| {
        json!({
            "type": "object", "required": ["run", "workloads"],
            "properties": { "run": { "type": "object" }, "workloads": { "type": "array" } },
        })
    }),
    effect: Effect::Looks,
    repeatable: true,
    measures: never,
    run: shown,
};

fn listed(call: &Call<'_>) -> Result<Answer, Failure> {
    let request = HistoryRequest {
        kernel: call.given.path("kernel"),
        tag: call.given.text("tag"),
        limit: call.given.whole("limit").unwrap_or(20),
        ..HistoryRequest::default()
    };
    Ok(Answer::found(history_object(call.project, call.kiln, &request)?))
}

/// What `kiln history --json` prints.
pub(in crate::mcp) fn history_object(
    project: &Project,
    kiln: &str,
    request: &HistoryRequest,
) -> Result<Value, Failure> {
    let found = history(project, request)?;
    let studies: Vec<Past> = found.studies.iter().map(Past::of).collect();
    let runs: Vec<RunView<'_>> = found.runs.iter().map(RunView::of).collect();
    let view = HistoryView {
        studies: &studies,
        runs: &runs,
        validations: &found.validations,
        place: project.store_place(),
        kiln,
        retired: found.retired.as_ref(),
        kernel: found.kernel.as_deref(),
        typed: None,
        tag: request.tag.as_deref(),
        others: &found.others,
        namesakes: &found.namesakes,
        emptied: found.emptied.as_deref(),
        more: found.more,
    };
    Ok(view.json())
}

fn shown(call: &Call<'_>) -> Result<Answer, Failure> {
    let (mut result, evidence) = recorded(call.project, call.kiln, &call.given.words("study"))?;
    let most = call.given.whole("trials").unwrap_or(50);
    if let Some(trials) = result["trials"].as_array_mut() {
        let left = trials.len().saturating_sub(most);
        trials.truncate(most);
        result["trials_left_out"] = left.into();
    }
    Ok(Answer { ending: kiln_app::Ending::Done, result, evidence: Some(evidence.json()) })
}

/// What `kiln show --json` prints, and what supports it.
pub(in crate::mcp) fn recorded(project: &Project, kiln: &str, name: &str) -> Result<(Value, Evidence), Failure> {
    match show(project, name).map_err(|failure| mistaken(project, failure))? {
        Shown::Study(story) => {
            let (past, repeat) = (Past::of(&story.now), repeat(kiln, &story.now.study));
            let view = StudyView { past: &past, trials: &story.now.trials, notes: &story.notes, repeat: &repeat, kiln };
            let object = view.json();
            let study = &story.now.study;
            let since = study.summary.as_ref().and_then(|_| kernel_since(study, &story.notes));
            let evidence = of_study(&object["study"], list(&object, "trials"), since);
            Ok((object, evidence))
        }
        Shown::Run(run) => {
            let object = RunView::of(&run).json();
            Ok((object.clone(), of_run(&object)))
        }
    }
}

/// A name that nothing recorded has is a mistake in the arguments, where the record can be read.
fn mistaken(project: &Project, failure: Failure) -> Failure {
    let Failure::Fault(fault) = failure else { return failure };
    let is_damaged = fault.hint.as_ref().is_some_and(|hint| hint.contains("kiln doctor"));
    let newest = HistoryRequest { limit: 1, ..HistoryRequest::default() };
    if is_damaged || history(project, &newest).is_err() {
        return fault.into();
    }
    Report::error(format!("{}: {}", fault.what, fault.why)).maybe_hint(fault.hint).into()
}

/// A recorded benchmark: its figures are those of `kiln bench`.
fn of_run(object: &Value) -> Evidence {
    let run = &object["run"];
    let mut figures = object.clone();
    figures["device"] = run["device"].clone();
    figures["cache"] = run["cache"].clone();
    figures["config"] = run["config"].clone();
    figures["left"] = json!([]);
    figures["name"] = run["kernel"].clone();
    for key in ["target", "variant", "git_commit"] {
        figures[key] = run[key].clone();
    }
    let mut evidence = of_bench(&figures, &[]);
    if list(object, "workloads").iter().all(|workload| workload.get("times").is_none()) {
        evidence.intervals.clear();
        evidence.n = None;
    }
    evidence.on.extend(only(run, &["arch", "cache", "threads", "seed", "spec_hash", "kiln_version", "environment"]));
    evidence.not_checked.push("the kernel as it is now: this was measured then".into());
    evidence
}

#[cfg(test)]
mod tests {
    use super::*;
    use kiln_app::{Ending, Ends as _, Stop};

    #[test]
    fn a_name_that_nothing_has_is_a_mistake_in_the_arguments() {
        let folder = tempfile::tempdir().unwrap();
        let place = folder.path().join("kiln.db").to_string_lossy().into_owned();
        let project = Project::here(Some(place), Stop::never());
        let failure = recorded(&project, "kiln", "nope").err().unwrap();
        assert_eq!(failure.ending(), Ending::BadInput, "{failure}");
        assert!(failure.to_string().contains("nope"), "{failure}");
    }
}
