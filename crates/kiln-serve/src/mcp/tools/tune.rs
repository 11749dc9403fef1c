//! `tune_start`, `tune_status` and `tune_stop`: a study takes longer than a client waits, so it runs in a process of its own. In: what to tune, or
//! which study. Out: its id, how it stands, its result. The process holds the project's lock and goes on when client and server are gone.

use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use kiln_app::{Ending, Failure, Fault, LaunchNow, Report, TuneRequest, launch_study, launched, stop_study};
use serde_json::{Value, json};

use super::records::recorded;
use crate::mcp::answer::Answer;
use crate::mcp::arguments::{Kind, may};
use crate::mcp::evidence::of_study;
use crate::mcp::measuring::Hold;
use crate::mcp::tool::{Call, Effect, MEASURING, NAMED, SEED, SELECTING, Tool, never};

/// So long a call waits for a study to be recorded: less than clients wait for an answer.
const PATIENCE: Duration = Duration::from_secs(40);
/// Between one look at a record and the next.
const PAUSE: Duration = Duration::from_millis(500);

pub(in crate::mcp) static START: Tool = Tool {
    name: "tune_start",
    title: "Start a study",
    about: "Starts a study in a process of its own: it searches the space, checks the finalists on fresh inputs, confirms the winner against a baseline and writes \
            it to .kiln/best. Answers with the study's id as soon as there is one, else with a launch id; follow it with tune_status. The study goes on when you \
            disconnect. Its best time so far is not a result. Nothing else can be measured in this project meanwhile.",
    arguments: &[
        SELECTING,
        MEASURING,
        &[
            may("baseline", Kind::Text(200), "baseline to beat; default: the file's first that runs here"),
            may("trials", Kind::Whole(0, 10_000, Some(120)), "configurations to try"),
            may("minutes", Kind::Real(0.1, 1440.0, Some(30.0)), "time budget for the whole study"),
            may("target_speedup", Kind::Real(0.01, 1000.0, None), "speedup to reach; default: the file's, else 1.10"),
            may(
                "strategy",
                Kind::OneOf(&["auto", "forest", "tpe", "genetic", "tabu", "annealing", "latin", "random"]),
                "search strategy",
            ),
            may("no_prior", Kind::Flag, "ignore earlier studies"),
            may("no_stop", Kind::Flag, "continue below half the baseline's speed"),
            may("no_ablation", Kind::Flag, "skip what each choice is worth"),
            may("no_sanitize", Kind::Flag, "skip looking for the cause of refusals"),
            may("no_profile", Kind::Flag, "skip the profile"),
            may("resume", Kind::Text(200), "continue this unfinished study with its own settings"),
            may("name", Kind::Text(100), "name of the study; it works wherever an id does"),
            may("tags", Kind::Texts(20, 100), "tags to list the study by"),
            may("build_limit_s", Kind::Real(1.0, 600.0, Some(120.0)), "a build that takes longer is refused"),
        ],
        SEED,
    ],
    answers: &[],
    own: Some(state_schema),
    effect: Effect::Runs,
    repeatable: false,
    measures: never,
    run: start,
};

pub(in crate::mcp) static STATUS: Tool = Tool {
    name: "tune_status",
    title: "How a study stands",
    about: "Says how a study stands: phase, configurations tried and refused, and once it is finished the summary with verdict and intervals. `wait_s` waits for \
            its end, with progress. Claim nothing before `state` is finished; then claim what `evidence.may_claim` says.",
    arguments: &[
        NAMED,
        &[may("wait_s", Kind::Real(0.0, 50.0, Some(0.0)), "wait for its end for so many seconds at most")],
    ],
    answers: &[],
    own: Some(state_schema),
    effect: Effect::Looks,
    repeatable: true,
    measures: never,
    run: status,
};

pub(in crate::mcp) static STOP: Tool = Tool {
    name: "tune_stop",
    title: "Stop a study",
    about: "Asks the process that runs a study to stop, as Ctrl-C does: it ends after its current step, and what is done is saved; tune_start with `resume` \
            continues it. Follow it with tune_status.",
    arguments: &[NAMED],
    answers: &[],
    own: Some(|| {
        json!({
            "type": "object", "required": ["asked", "process"],
            "properties": {
                "asked": { "type": "boolean", "description": "whether it was asked to stop" },
                "study": { "type": ["string", "null"] },
                "process": { "type": "integer" },
            },
        })
    }),
    effect: Effect::Stops,
    repeatable: true,
    measures: never,
    run: stop,
};

fn state_schema() -> Value {
    let text = json!({ "type": ["string", "null"] });
    let count = json!({ "type": ["integer", "null"] });
    json!({
        "type": "object",
        "required": ["state", "study", "launch", "progress", "record"],
        "properties": {
            "state": { "type": "string", "enum": ["starting", "running", "finished", "interrupted", "failed"] },
            "study": { "type": ["string", "null"], "description": "its id; null before it is recorded" },
            "launch": { "type": ["string", "null"], "description": "what tune_start gave; null where it was begun otherwise" },
            "progress": { "type": ["object", "null"], "properties": {
                "phase": text, "planned": count, "done": count, "tried": count, "refused": count,
                "best_ms": { "type": ["number", "null"], "description": "shortest time so far; not a result" }, "note": text,
            } },
            "record": { "type": ["object", "null"], "description": "the study as `kiln show --json` has it under `study`; `summary` is the object of `kiln tune --json`" },
            "printed": { "type": ["object", "null"], "description": "what a process that ended without a study printed" },
        },
    })
}

fn start(call: &Call<'_>) -> Result<Answer, Failure> {
    let given = &call.given;
    // A study knows its kernel, and a client that knows the study need not. It gets no other folder by that.
    if let (Some(study), None) = (given.text("resume"), given.path("path"))
        && call.file().is_err()
        && let Ok((known, _)) = recorded(call.project, call.kiln, &study)
        && let Some(path) = known["study"]["path"].as_str()
    {
        let report = Report::error("`resume` needs `path`: the project's folder has no kernel.toml");
        return Err(report.hint(format!("study {study} is of the kernel at path: {path}")).into());
    }
    // Mistakes in the file are told at once.
    call.file()?;
    let request = TuneRequest {
        selecting: call.selecting(),
        measuring: call.measuring(),
        baseline: given.text("baseline"),
        trials: given.whole("trials"),
        minutes: given.real("minutes"),
        cost: None,
        price: None,
        target_speedup: given.real("target_speedup"),
        strategy: given.words("strategy"),
        prior: Vec::new(),
        no_prior: given.flag("no_prior"),
        stop_rule: !given.flag("no_stop"),
        ablation: !given.flag("no_ablation"),
        sanitize: !given.flag("no_sanitize"),
        profile: !given.flag("no_profile"),
        resume: given.text("resume"),
        replay: None,
        out: None,
        name: given.text("name"),
        tags: given.texts("tags"),
        adopt: false,
    };
    let hold = Hold::take(call.project.folder(), &format!("tune_start of {}", request.selecting.path))?;
    let held = hold.hand_over().ok_or_else(|| Fault::new("starting a study", "the lock was given away"))?;
    let launch = launch_study(call.project, &request, held)?;
    let now = launch.begun(PATIENCE, || call.cancelled.load(Ordering::Relaxed));
    if now.over && now.study.is_none() {
        return Err(ended_early(&now, &launch.said()));
    }
    answer(call, now.study.clone().as_deref(), Some((launch.id.as_str(), now)))
}

/// Why a process ended before there was a study, in its own words.
fn ended_early(now: &LaunchNow, said: &str) -> Failure {
    let errors = now.result.as_ref().and_then(|printed| printed["errors"].as_array());
    let report = |error: &Value| {
        let text = |key: &str| error[key].as_str().unwrap_or_default().to_string();
        let report = Report::error(text("message")).label(text("label"));
        Some(text("hint")).filter(|hint| !hint.is_empty()).into_iter().fold(report, Report::hint)
    };
    match errors.filter(|errors| !errors.is_empty()) {
        Some(errors) if now.ending.as_deref() != Some("failed") => errors.iter().map(report).collect::<Vec<_>>().into(),
        // Its own words, and its own way out.
        Some(errors) => {
            let text = |key: &str| errors.iter().find_map(|error| error[key].as_str()).unwrap_or_default().to_string();
            let fault = Fault::new("starting a study", text("message"));
            Some(text("hint")).filter(|hint| !hint.is_empty()).into_iter().fold(fault, Fault::hint).into()
        }
        None => Fault::new("starting a study", said.trim().to_string()).hint("call doctor").into(),
    }
}

fn status(call: &Call<'_>) -> Result<Answer, Failure> {
    let name = call.given.words("study");
    let wait = Duration::try_from_secs_f64(call.given.real("wait_s").unwrap_or_default()).unwrap_or_default();
    // A name is the record's to know.
    let by_record = || {
        let found = recorded(call.project, call.kiln, &name).ok()?.0;
        launched(call.project, found["study"]["id"].as_str()?)
    };
    let own = launched(call.project, &name).or_else(by_record);
    // One that another process goes on with is that process's: what the launch wrote is old.
    let (launch, study) = match own {
        Some(launch) if launch.is_superseded(call.project) => (None, launch.now().study.unwrap_or(name)),
        own => (own, name),
    };
    let Some(launch) = launch else { return by_record_alone(call, &study, wait) };
    let mut told = None;
    let now = launch.ended(
        wait,
        || call.cancelled.load(Ordering::Relaxed),
        |now| {
            let words = progress_words(now);
            if told.as_ref() != Some(&words) {
                (call.tell)(words.clone());
                told = Some(words);
            }
        },
    );
    let study = now.study.clone();
    if let (None, true) = (&study, now.over) {
        return Err(ended_early(&now, &launch.said()));
    }
    answer(call, study.as_deref(), Some((launch.id.as_str(), now)))
}

/// How a study stands that a process from elsewhere runs, or ran.
fn by_record_alone(call: &Call<'_>, study: &str, wait: Duration) -> Result<Answer, Failure> {
    let began = Instant::now();
    loop {
        let found = answer(call, Some(study), None)?;
        let waits = began.elapsed() < wait && !call.cancelled.load(Ordering::Relaxed);
        if found.result["state"] != "running" || !waits {
            return Ok(found);
        }
        std::thread::sleep(PAUSE.min(wait));
    }
}

/// What a waiting client is told.
fn progress_words(now: &LaunchNow) -> String {
    let phase = now.phase.as_deref().unwrap_or("starting");
    format!("{phase}: {} of {}, {} tried, {} refused", now.done, now.planned, now.tried, now.refused)
}

fn stop(call: &Call<'_>) -> Result<Answer, Failure> {
    let asked = stop_study(call.project, &call.given.words("study"))?;
    Ok(Answer::found(json!({ "asked": true, "study": asked.study, "process": asked.process })))
}

/// How a study stands, by its record and by what its process says.
fn answer(call: &Call<'_>, study: Option<&str>, launch: Option<(&str, LaunchNow)>) -> Result<Answer, Failure> {
    let (record, evidence) = match study {
        Some(study) => {
            let (mut object, evidence) = recorded(call.project, call.kiln, study)?;
            (object["study"].take(), evidence)
        }
        None => (Value::Null, of_study(&Value::Null, &[], None)),
    };
    if study.is_some() && !record.is_object() {
        let report = Report::error(format!("{} is a benchmark", call.given.words("study")));
        return Err(report.label("expected a study").hint("show has its figures").into());
    }
    let state = match (record["state"].as_str(), &launch) {
        // After its result is recorded the winner is validated: the process holds the lock until that is done.
        (Some(_), Some((_, now))) if !now.over => "running",
        (Some("running"), Some((_, now))) if now.over => "interrupted",
        (Some(state), _) => state,
        (None, _) => "starting",
    };
    let progress = launch.as_ref().map(|(_, now)| {
        json!({
            "phase": now.phase, "planned": now.planned, "done": now.done, "tried": now.tried, "refused": now.refused,
            "best_ms": now.best_ms, "note": now.note,
        })
    });
    let ending = match state {
        "failed" => Ending::Failed,
        "interrupted" => Ending::Interrupted,
        "finished" => ended(&record["summary"]),
        _ => Ending::Done,
    };
    let result = json!({
        "state": state,
        "study": record["id"],
        "launch": launch.as_ref().map(|(id, _)| *id),
        "progress": progress,
        "record": record,
        "printed": launch.as_ref().and_then(|(_, now)| now.result.clone()).filter(|_| state == "failed"),
    });
    Ok(Answer { ending, result, evidence: Some(evidence.json()) })
}

fn ended(summary: &Value) -> Ending {
    match summary["verdict"].as_str() {
        Some("reached") => Ending::Done,
        Some("no_valid_candidate") => Ending::Refused,
        _ => Ending::NotReached,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fault_that_ends_a_launch_keeps_its_own_hint() {
        let printed = json!({ "errors": [
            { "message": "looking for study `zzz`: there is none", "label": null, "hint": "`kiln history` lists them" },
        ] });
        let now =
            LaunchNow { over: true, ending: Some("failed".into()), result: Some(printed), ..LaunchNow::default() };
        let said = ended_early(&now, "").to_string();
        assert!(said.contains("zzz") && said.contains("kiln history") && !said.contains("doctor"), "{said}");
        let crashed = LaunchNow { over: true, ..LaunchNow::default() };
        assert!(ended_early(&crashed, "killed").to_string().contains("call doctor"));
    }
}
