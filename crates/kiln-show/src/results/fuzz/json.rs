//! Fuzzing for machines: one object. Keys are only ever added.

use kiln_app::{FuzzFailure, Fuzzed, KeptNow, KeptResult};
use kiln_core::Config;
use kiln_judge::FuzzCase;
use kiln_store::Validation;
use serde_json::{Value, json};

use crate::results::fuzz::FuzzView;
use crate::words::number::json_count;
use crate::words::time::stamp;

/// Everything.
pub(super) fn object(view: &FuzzView<'_>) -> Value {
    let Fuzzed { kernel, target, baseline, suite, variants, configs, seed, .. } = view.fuzzed;
    let fuzzed = view.fuzzed;
    let excluded: Vec<Value> =
        fuzzed.excluded.iter().map(|(reason, count)| json!({ "reason": reason, "cases": count })).collect();
    let refused: Vec<Value> =
        fuzzed.refused.iter().map(|(config, refusal)| json!({ "config": config, "refusal": refusal })).collect();
    json!({
        "name": kernel,
        "target": target,
        "baseline": baseline,
        "suite": suite,
        "case": fuzzed.given.as_ref().map(ToString::to_string),
        "variants": variants,
        "configurations": configs,
        "seed": json_count(u128::from(*seed)),
        "passed": !fuzzed.has_failed(),
        "cases_passed": fuzzed.passed,
        "shapes": fuzzed.shapes,
        "draws_excluded": fuzzed.draws_excluded,
        "only_workloads": fuzzed.only_workloads,
        "excluded": excluded,
        "not_run": fuzzed.not_run,
        "not_run_first": fuzzed.not_run_first.as_ref().map(ToString::to_string),
        "refused_configurations": refused,
        "refusal": fuzzed.unusable.as_ref().map(|(_, refusal)| refusal),
        "kept": fuzzed.kept.iter().map(|kept| of_kept(view, kept)).collect::<Vec<_>>(),
        "failure": fuzzed.failure.as_ref().map(|failure| of_failure(view, failure)),
        "cases_file": fuzzed.file.as_str(),
        "not_kept": fuzzed.not_kept,
        "runs": fuzzed.runs,
        "validated": fuzzed.validated.iter().map(validation).collect::<Vec<_>>(),
        "seconds": fuzzed.seconds,
        "interrupted": fuzzed.interrupted,
    })
}

fn of_failure(view: &FuzzView<'_>, failure: &FuzzFailure) -> Value {
    json!({
        "variant": failure.variant,
        "smallest": case(&failure.smallest),
        "found": case(&failure.found),
        "refusal": failure.refusal,
        "tried": failure.tried,
        "complete": failure.complete,
        "steady": failure.steady,
        "replay": view.replay_failure(failure),
    })
}

fn case(case: &FuzzCase) -> Value {
    json!({
        "case": case.to_string(),
        "dims": Config::new(case.shape.clone()),
        "scalars": case.scalars.iter().map(|(name, value)| (name.to_string(), json!(value))).collect::<serde_json::Map<_, _>>(),
        "inputs": case.inputs.to_string(),
        "seed": json_count(u128::from(case.seed)),
        "config": case.config,
    })
}

fn of_kept(view: &FuzzView<'_>, kept: &KeptResult) -> Value {
    let (state, refusal, reason) = match &kept.now {
        KeptNow::Fails(refusal) => ("fails", Some(refusal), None),
        KeptNow::Fixed => ("fixed", None, None),
        KeptNow::Passes => ("passes", None, None),
        KeptNow::Skipped(why) => ("skipped", None, Some(why)),
    };
    json!({
        "variant": kept.case.variant,
        "config": kept.case.config,
        "case": kept.case.case,
        "now": state,
        "refusal": refusal,
        "reason": reason,
        "replay": view.replay_kept(kept),
    })
}

/// A validation, as every object has it.
pub(crate) fn validation(made: &Validation) -> Value {
    json!({
        "at": stamp(made.at_ms),
        "at_ms": made.at_ms,
        "kernel": made.kernel,
        "target": made.target,
        "arch": made.arch,
        "variant": made.variant,
        "config": made.config,
        "runs": json_count(u128::from(made.runs)),
        "shapes": made.shapes.map(|shapes| json_count(u128::from(shapes))),
        "seed": json_count(u128::from(made.seed)),
        "device": made.device,
        "kiln_version": made.kiln_version,
    })
}
