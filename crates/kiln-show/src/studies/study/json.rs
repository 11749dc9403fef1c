//! A study for machines: the record as it is, without samples. Keys are only ever added.

use kiln_store::{Note, Trial};
use serde_json::{Map, Value, json};

use crate::studies::study::StudyView;
use crate::words::time::stamp;

/// One object: study, trials, notes.
pub(crate) fn object(view: &StudyView<'_>) -> Value {
    let study = &view.past.study;
    let mut object = view.past.json();
    let rest = json!({
        "owner": study.owner,
        "repeat": view.repeat,
        "options": study.options,
        "environment": study.environment,
        "git_commit": study.git_commit,
        "spec_hash": study.spec_hash,
        "spec_text": study.spec_text,
        "summary": study.summary,
    });
    if let (Some(object), Value::Object(rest)) = (object.as_object_mut(), rest) {
        object.extend::<Map<String, Value>>(rest);
    }
    let trials: Vec<Value> = view.trials.iter().map(trial).collect();
    let notes: Vec<Value> = view.notes.iter().map(note).collect();
    json!({ "study": object, "trials": trials, "notes": notes })
}

fn trial(trial: &Trial) -> Value {
    json!({
        "phase": trial.phase,
        "number": trial.number,
        "config": trial.config,
        "state": trial.state.name(),
        "cost": trial.cost,
        "refusal": trial.refusal,
        "workload": trial.workload,
        "artifact": trial.artifact,
        "started": stamp(trial.started_ms),
        "started_ms": trial.started_ms,
        "build_s": trial.build_s,
        "check_s": trial.check_s,
        "measure_s": trial.measure_s,
        "wall_s": trial.wall_s,
        "details": trial.details,
    })
}

fn note(note: &Note) -> Value {
    json!({ "at": stamp(note.at_ms), "at_ms": note.at_ms, "kind": note.kind, "text": note.text })
}
