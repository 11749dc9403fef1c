//! What supports a study's verdict. In: the study as `kiln show --json` has it, its trials, what changed of the kernel since. Out: its evidence. Of one
//! that has no end: what was refused so far, and that nothing may be claimed.

use std::collections::{BTreeMap, BTreeSet};

use kiln_app::KernelSince;
use serde_json::{Map, Value, json};

use super::{Evidence, RACES, SHAPES, SPEED_ALONE, fewest, list, name, only, speedup, words};

/// Phases in which configurations compete; each is tried there once.
const SEARCHING: [&str; 3] = ["default", "seed", "search"];

fn speedup_over(summary: &Value) -> String {
    format!("{} over {}", speedup(summary), summary["baseline"].as_str().unwrap_or("the default configuration"))
}

/// What a study's speedup is of: device, caches, workloads, and whether those have one configuration.
fn scope(study: &Value) -> String {
    let summary = &study["summary"];
    let tuned: Vec<&Value> = list(summary, "workloads").iter().filter(|one| one["holdout"] != true).collect();
    let names: Vec<&str> = tuned.iter().map(|one| name(one, "name")).collect();
    let cache = study["options"]["cache"].as_str().map_or(String::new(), |cache| format!(", {cache} cache"));
    let on = match names[..] {
        [] => String::new(),
        [one] => format!(", {one}"),
        _ => format!(", geometric mean over {}", names.join(", ")),
    };
    let apart = names.len() > 1 && tuned.iter().all(|one| one["config"].is_object());
    let apart = if apart { ", each with a configuration of its own" } else { "" };
    format!("On {}{cache}{on}{apart}", name(study, "device"))
}

/// The kernel and the winner: `softmax (cpu, T=f32) with {"LANES":8}`, or each workload's own.
fn subject(study: &Value) -> String {
    let summary = &study["summary"];
    let of: Vec<&str> =
        [name(study, "target"), name(study, "variant")].into_iter().filter(|part| !part.is_empty()).collect();
    let of = if of.is_empty() { String::new() } else { format!(" ({})", of.join(", ")) };
    let own = |one: &Value| format!("{} on {}", one["config"], name(one, "name"));
    let apart: Vec<String> =
        list(summary, "workloads").iter().filter(|one| one["config"].is_object()).map(own).collect();
    let with = match (summary["config"].is_object(), apart.is_empty()) {
        (true, _) => format!(" with {}", summary["config"]),
        (false, false) => format!(" with {}", apart.join(" and ")),
        (false, true) => String::new(),
    };
    format!("{}{of}{with}", name(study, "kernel"))
}

/// What it ran on and with what.
fn on(study: &Value) -> Map<String, Value> {
    let mut on = only(
        study,
        &[
            "kernel",
            "device",
            "arch",
            "target",
            "variant",
            "seed",
            "git_commit",
            "spec_hash",
            "kiln_version",
            "environment",
        ],
    );
    on.extend(only(&study["options"], &["cache", "threads"]));
    let summary = &study["summary"];
    on.extend(only(summary, &["config", "baseline"]));
    let rows = list(summary, "workloads");
    if !rows.is_empty() {
        let names: Vec<&Value> = rows.iter().map(|one| &one["name"]).collect();
        on.insert("workloads".into(), json!(names));
    }
    let own = rows.iter().filter(|one| one["config"].is_object());
    let own: Map<String, Value> = own.map(|one| (name(one, "name").to_string(), one["config"].clone())).collect();
    if !own.is_empty() {
        on.insert("configs".into(), own.into());
    }
    on
}

fn phase(trial: &Value) -> &str {
    name(trial, "phase").rsplit('/').next().unwrap_or_default()
}

/// What was refused while searching, by gate, as far as the trials tell.
fn counted(trials: &[Value]) -> Vec<Value> {
    let mut gates: BTreeMap<&str, u64> = BTreeMap::new();
    for trial in trials.iter().filter(|trial| SEARCHING.contains(&phase(trial)) && trial["refusal"].is_object()) {
        *gates.entry(name(&trial["refusal"], "gate")).or_default() += 1;
    }
    gates.into_iter().map(|(gate, count)| json!({ "gate": gate, "count": count })).collect()
}

/// Refusals of single trials after the search, with where they were.
fn later<'t>(trials: &'t [Value], is_listed: impl Fn(&str) -> bool + 't) -> impl Iterator<Item = Value> + 't {
    let later = move |trial: &&Value| {
        trial["refusal"].is_object() && !SEARCHING.contains(&phase(trial)) && is_listed(phase(trial))
    };
    trials.iter().filter(later).map(|trial| {
        let mut refusal = trial["refusal"].clone();
        (refusal["phase"], refusal["config"]) = (trial["phase"].clone(), trial["config"].clone());
        refusal
    })
}

/// How a study stands that has no result.
fn unfinished(study: &Value, trials: &[Value]) -> Evidence {
    let state = name(study, "state");
    let what = match state {
        "failed" => "a fault ended the study before it had a result",
        "interrupted" => "the study was interrupted: best times of its search are not results",
        "finished" => "the study is over, and this kiln cannot read its figures",
        "running" => "the study is running: best times of its search are not results",
        _ => "the study has recorded nothing yet",
    };
    let mut refusals = counted(trials);
    refusals.extend(later(trials, |_| true));
    Evidence {
        verdict: if state.is_empty() { "unknown" } else { state }.into(),
        on: on(study),
        refusals,
        not_checked: words(&["everything: the study has no confirmed result yet"]),
        may_claim: format!("Nothing: {what}."),
        ..Evidence::default()
    }
}

/// A study: its summary, or that there is none yet. `since`: what changed of the kernel, where that is known.
pub(in crate::mcp) fn of_study(study: &Value, trials: &[Value], since: Option<KernelSince>) -> Evidence {
    let summary = &study["summary"];
    if !summary.is_object() {
        return unfinished(study, trials);
    }
    let mut intervals = Vec::new();
    let mut not_checked = Vec::new();
    for one in list(summary, "workloads") {
        intervals.push(json!({
            "workload": one["name"], "what": "speedup", "against": summary["baseline"], "value": one["speedup"],
            "ci95": one["speedup_ci95"], "n": one["samples"], "verdict": one["verdict"], "cliffs_delta": one["cliffs_delta"],
            "holdout": one["holdout"],
        }));
        let (timed, reference) = (&one["checked"]["timed"], &one["checked"]["reference"]);
        if let (Some(timed), Some(reference)) = (timed.as_u64(), reference.as_u64()) {
            not_checked.push(format!(
                "{}: {} of {timed} timed calls against the reference",
                name(one, "name"),
                timed.saturating_sub(reference)
            ));
        }
    }
    let has_winner =
        summary["config"].is_object() || list(summary, "workloads").iter().any(|one| one["config"].is_object());
    let is_validated = covered(study);
    match (has_winner, !is_validated) {
        (true, true) => not_checked.push("100 good runs: the winner is not validated (fuzz with runs: 100)".into()),
        (false, _) => not_checked.push("100 good runs (fuzz with runs: 100): there is no winner to validate".into()),
        (true, false) => {}
    }
    let changed = match since {
        Some(KernelSince::File) => " The kernel's file has changed since: this is about the kernel as it was then.",
        Some(KernelSince::Sources) => {
            " The kernel's sources have changed since: this is about the kernel as it was then."
        }
        Some(KernelSince::Gone) => {
            " It is not known whether the kernel has changed since: it is not where the study found it."
        }
        None => " It is not known whether the kernel has changed since.",
        Some(KernelSince::Same) => "",
    };
    match since {
        Some(KernelSince::File | KernelSince::Sources) => {
            not_checked.push("the kernel as it is now: it has changed since".into())
        }
        Some(KernelSince::Gone) | None => {
            not_checked.push("whether the kernel has changed since: it cannot be read here".into());
        }
        Some(KernelSince::Same) => {}
    }
    let was_sanitized = !list(summary, "sanitized").is_empty();
    not_checked.extend(SPEED_ALONE.iter().map(|usual| {
        match *usual {
            SHAPES if is_validated => "the speed on shapes other than the workloads named here (kiln sweep)".into(),
            RACES if was_sanitized => {
                "races and accesses out of bounds of the winner (sanitize): only refused configurations were sanitized"
                    .into()
            }
            usual => usual.into(),
        }
    }));
    let refused = summary["refused"].as_object().into_iter().flatten();
    let refusals = refused.map(|(gate, count)| json!({ "gate": gate, "count": count }));
    let late = list(summary, "late").iter().map(|late| {
        let mut refusal = late["refusal"].clone();
        (refusal["phase"], refusal["config"]) = (late["phase"].clone(), late["config"].clone());
        refusal
    });
    let verdict = name(summary, "verdict");
    let (of, scope) = (subject(study), scope(study));
    let may_claim = match (summary["speedup"].is_number(), verdict) {
        (true, "reached") => format!("{of}: {}: confirmed {} (reached).", lower(&scope), speedup_over(summary)),
        (true, _) => format!(
            "{of}: no speedup is confirmed ({verdict}): {}. {scope}: measured {}.",
            name(summary, "reason"),
            speedup_over(summary)
        ),
        (false, _) => format!("{of}: no speedup is confirmed ({verdict}): {}.", name(summary, "reason")),
    };
    Evidence {
        verdict: verdict.into(),
        n: fewest(&intervals),
        intervals,
        // What finals and confirmation refused is in the summary.
        refusals: refusals.chain(late).chain(later(trials, |phase| phase == "ablation")).collect(),
        on: on(study),
        not_checked,
        may_claim: may_claim + changed,
    }
}

/// Whether all its winners are validated: fuzzed on shapes beyond the workloads.
fn covered(study: &Value) -> bool {
    let summary = &study["summary"];
    let own = list(summary, "workloads").iter().map(|one| &one["config"]).chain([&summary["config"]]);
    let winners: BTreeSet<String> = own.filter(|config| config.is_object()).map(ToString::to_string).collect();
    let validated: BTreeSet<&str> = list(study, "validated").iter().map(|one| name(one, "config")).collect();
    !winners.is_empty() && validated.len() >= winners.len()
}

/// With its first letter small.
fn lower(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().into_iter().flat_map(char::to_lowercase).chain(letters).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_study_claims_no_more_than_its_verdict_and_its_workloads() {
        let row = |name: &str, holdout: bool| json!({ "name": name, "holdout": holdout, "samples": 30 });
        let study = |verdict: &str, workloads: Value| {
            let summary = json!({
                "verdict": verdict, "reason": "on b the winner is too_noisy against the baseline", "baseline": "naive",
                "speedup": 1.25, "speedup_ci95": [1.2, 1.3], "workloads": workloads,
            });
            json!({ "kernel": "k", "target": "cpu", "variant": "T=f32", "device": "GPU", "options": { "cache": "cold" }, "summary": summary })
        };
        let claim = |study: Value| of_study(&study, &[], Some(KernelSince::Same)).may_claim;
        let rows = json!([row("a", false), row("b", false), row("c", true)]);
        let mut winner = study("reached", rows.clone());
        winner["summary"]["config"] = json!({ "A": 1 });
        assert_eq!(
            claim(winner.clone()),
            "k (cpu, T=f32) with {\"A\":1}: on GPU, cold cache, geometric mean over a, b: confirmed 1.250x (95 % interval 1.200 to 1.300) over naive (reached)."
        );
        let short = claim(study("not_reached", rows));
        assert!(
            short.starts_with("k (cpu, T=f32): no speedup is confirmed (not_reached): on b the winner is too_noisy"),
            "{short}"
        );
        let own = |name: &str| json!({ "name": name, "config": { "A": 1 } });
        let apart = claim(study("reached", json!([own("a"), own("b")])));
        assert!(apart.contains("over a, b, each with a configuration of its own: confirmed"), "{apart}");
        assert!(apart.starts_with("k (cpu, T=f32) with {\"A\":1} on a and {\"A\":1} on b: "), "{apart}");
        let changed = of_study(&winner, &[], Some(KernelSince::File));
        assert!(
            changed
                .may_claim
                .ends_with("The kernel's file has changed since: this is about the kernel as it was then.")
        );
        assert!(changed.not_checked.iter().any(|one| one.contains("as it is now")), "{:?}", changed.not_checked);
        for unknown in [Some(KernelSince::Gone), None] {
            let claim = of_study(&winner, &[], unknown).may_claim;
            assert!(claim.contains("It is not known whether the kernel has changed since"), "{claim}");
        }
        let on = of_study(&winner, &[], None).json()["environment"].take();
        assert_eq!(
            (&on["config"], &on["workloads"], &on["kernel"]),
            (&json!({ "A": 1 }), &json!(["a", "b", "c"]), &json!("k"))
        );
        let without = study("no_valid_candidate", json!([]));
        let unvalidated = of_study(&without, &[], None).not_checked;
        assert!(unvalidated.iter().any(|one| one.contains("there is no winner to validate")), "{unvalidated:?}");
    }

    #[test]
    fn what_was_looked_at_is_not_called_unchecked() {
        let missing = |validated: Value, sanitized: Value| {
            let summary =
                json!({ "verdict": "reached", "config": { "A": 1 }, "workloads": [], "sanitized": sanitized });
            let study = json!({ "kernel": "k", "validated": validated, "summary": summary });
            of_study(&study, &[], Some(KernelSince::Same)).not_checked
        };
        let nothing = missing(json!([]), json!([]));
        assert!(nothing.contains(&SHAPES.to_string()) && nothing.contains(&RACES.to_string()), "{nothing:?}");
        let all = missing(json!([{ "config": "A=1", "runs": 100 }]), json!([{ "gate": "numerics" }]));
        assert!(!all.iter().any(|one| one.contains("fuzz") || one == RACES), "{all:?}");
        assert!(all.iter().any(|one| one.contains("only refused configurations were sanitized")), "{all:?}");
    }

    #[test]
    fn a_study_without_an_end_supports_no_claim_and_has_its_refusals() {
        let trial = |phase: &str, gate: &str| json!({ "phase": phase, "config": "A=1", "refusal": { "gate": gate, "measured": "x" } });
        let trials = [trial("a/search", "numerics"), trial("b/search", "numerics"), trial("final", "nonfinite")];
        let evidence = |state: &str| of_study(&json!({ "state": state, "summary": null }), &trials, None).json();
        let running = evidence("running");
        assert_eq!(running["verdict"], "running");
        assert!(running["may_claim"].as_str().unwrap().starts_with("Nothing: the study is running"));
        assert_eq!(running["refusals"][0], json!({ "gate": "numerics", "count": 2 }));
        assert_eq!(
            (&running["refusals"][1]["phase"], running["refusals"].as_array().unwrap().len()),
            (&json!("final"), 2)
        );
        let failed = evidence("failed");
        assert_eq!(failed["may_claim"], "Nothing: a fault ended the study before it had a result.");
        assert!(evidence("interrupted")["may_claim"].as_str().unwrap().contains("was interrupted"));
    }

    #[test]
    fn what_the_ablation_refused_is_among_the_refusals() {
        let study = json!({ "state": "finished", "summary": { "verdict": "reached", "refused": {}, "workloads": [] } });
        let trial = json!({ "phase": "ablation", "config": "A=1", "refusal": { "gate": "numerics", "measured": "x" } });
        let refusals = of_study(&study, &[trial], None).refusals;
        assert_eq!(refusals, [json!({ "gate": "numerics", "measured": "x", "phase": "ablation", "config": "A=1" })]);
    }
}
