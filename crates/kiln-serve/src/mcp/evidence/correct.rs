//! What supports a verdict about correctness: gates, checks, fuzzing, sanitizers.

use serde_json::Value;

use super::{Evidence, list, name, only, words};

/// `kiln check`.
pub(in crate::mcp) fn of_check(result: &Value) -> Evidence {
    let asked = list(result, "questions").len() as u64;
    let mut not_checked = words(&[
        "speed (bench)",
        "shapes other than the workloads (fuzz)",
        "other configurations of the space",
        "races and accesses out of bounds that leave the result correct (sanitize)",
    ]);
    if result["full"] != true {
        not_checked.insert(0, "the whole suite: every distribution and workload (full: true)".into());
    }
    let passed = result["passed"] == true;
    let verdict = if passed { "passed" } else { "refused" };
    let mut workloads: Vec<&str> = Vec::new();
    for workload in list(result, "questions").iter().map(|question| name(question, "workload")) {
        if !workload.is_empty() && !workloads.contains(&workload) {
            workloads.push(workload);
        }
    }
    let about = match workloads.len() {
        0 => String::new(),
        1 => format!(" about the workload {}", workloads[0]),
        _ => format!(" about the workloads {}", workloads.join(", ")),
    };
    let may_claim = match passed {
        true => format!(
            "{} passed {}{about} on fresh inputs (seed {}) within the stated tolerances.",
            result["config"],
            counted(asked, "question"),
            result["seed"]
        ),
        false => format!("{} is refused by the gate {}.", result["config"], name(&result["refusal"], "gate")),
    };
    Evidence {
        verdict: verdict.into(),
        n: Some(asked),
        refusals: Vec::from_iter(Some(result["refusal"].clone()).filter(Value::is_object)),
        on: {
            let mut on = only(result, &["target", "config", "seed", "full"]);
            on.insert("workloads".into(), workloads.into());
            on
        },
        not_checked,
        may_claim,
        ..Evidence::default()
    }
}

/// `1 case`, `2 cases`.
fn counted(count: u64, what: &str) -> String {
    if count == 1 { format!("1 {what}") } else { format!("{count} {what}s") }
}

/// `kiln fuzz`.
pub(in crate::mcp) fn of_fuzz(result: &Value) -> Evidence {
    let passed = result["passed"] == true;
    let n = result["cases_passed"].as_u64();
    let mut not_checked = Vec::new();
    if let Some(left) = result["not_run"].as_u64().filter(|left| *left > 0) {
        not_checked.push(format!("{left} cases for which there was no time"));
    }
    for excluded in list(result, "excluded") {
        not_checked.push(format!("{} cases excluded: {}", excluded["cases"], name(excluded, "reason")));
    }
    not_checked.push(format!("configurations other than the {} that were fuzzed", result["configurations"]));
    not_checked.extend(words(&["speed (bench)", "races that leave the result correct (sanitize)"]));
    let failure = &result["failure"]["refusal"];
    let refusals = [failure, &result["refusal"]].into_iter().filter(|found| found.is_object()).cloned();
    let validated = !list(result, "validated").is_empty();
    let verdict = match (passed, validated, result["interrupted"] == true) {
        (false, ..) => "failed",
        (true, _, true) => "interrupted",
        (true, true, _) => "validated",
        (true, ..) => "passed",
    };
    let cases = n.unwrap_or_default();
    let (case, suite) = (result["case"].as_str(), result["suite"].as_str());
    let shapes = counted(result["shapes"].as_u64().unwrap_or_default(), "shape");
    let what = match (case, suite) {
        // It has a seed of its own.
        (Some(case), _) => format!("The given case ({case}) passed {}", counted(cases, "run")),
        (None, Some(suite)) => {
            format!("{} of the suite {suite} on {shapes} passed (seed {})", counted(cases, "case"), result["seed"])
        }
        (None, None) => format!("{} on {shapes} passed (seed {})", counted(cases, "drawn case"), result["seed"]),
    };
    let own: &[&str] = match case {
        Some(_) => &["target", "baseline", "case", "variants"],
        None => &["target", "baseline", "seed", "suite", "variants"],
    };
    Evidence {
        verdict: verdict.into(),
        n,
        refusals: refusals.collect(),
        on: only(result, own),
        not_checked,
        may_claim: match passed {
            true => format!("{what}; that is evidence, not a proof."),
            false => "A case fails; the smallest one is under failure.smallest.".into(),
        },
        ..Evidence::default()
    }
}

/// `kiln gate`. `until`: how far it was to go; `note`: why it ended before.
pub(in crate::mcp) fn of_gate(result: &Value, until: &str, note: Option<&str>) -> Evidence {
    let passed = result["passed"] == true;
    let rules = list(result, "rules").iter().map(|rule| &rule["refusal"]);
    let architectures =
        list(result, "architectures").iter().flat_map(|one| list(one, "rules")).map(|rule| &rule["refusal"]);
    let later = [&result["build"]["refusal"], &result["ladder"]["refusal"]];
    let refusals = rules.chain(architectures).chain(later).filter(|found| found.is_object()).cloned().collect();
    let climbed = result["ladder"].is_object();
    let mut not_checked = Vec::new();
    if !climbed {
        let why = |otherwise: &str| note.map_or(otherwise.to_string(), String::from);
        not_checked.push(format!("launch and correctness ({})", why("until: run, on a machine that can run it")));
        if !result["build"].is_object() {
            not_checked.push(format!("the build ({})", why("until: build")));
        }
    }
    not_checked.extend(words(&[
        "more than a quick look at correctness (check, fuzz)",
        "speed: a first measurement of a few samples is no benchmark (bench)",
    ]));
    let reached = match (climbed, result["build"].is_object()) {
        (true, _) => "every gate up to a first run",
        (_, true) => "the static rules and the build",
        _ => "the static rules",
    };
    Evidence {
        verdict: if passed { "passed" } else { "refused" }.into(),
        n: Some(list(result, "rules").len() as u64),
        refusals,
        on: only(result, &["target", "arch", "workload", "config"]),
        not_checked,
        may_claim: match passed {
            true => format!("The configuration passes {reached} (asked until: {until}); nothing beyond that is known."),
            false => "A gate refuses it; see refusals.".into(),
        },
        ..Evidence::default()
    }
}

/// `kiln sanitize` and `kiln diagnose --sanitizer`.
pub(in crate::mcp) fn of_sanitizer(result: &Value) -> Evidence {
    let verdict = name(result, "verdict");
    let ran: Vec<&str> = list(result, "runs").iter().map(|run| name(run, "tool")).collect();
    let all = ["memcheck", "racecheck", "initcheck", "synccheck"];
    let mut not_checked: Vec<String> = match ran.is_empty() || ran.contains(&"asan+ubsan") {
        true => Vec::new(),
        false => all.iter().filter(|tool| !ran.contains(tool)).map(|tool| format!("what {tool} finds")).collect(),
    };
    not_checked.extend(list(result, "notes").iter().filter_map(Value::as_str).map(String::from));
    not_checked.extend(words(&["inputs and shapes other than those that were run: clean is not a proof", "speed"]));
    Evidence {
        verdict: verdict.into(),
        n: Some(ran.len() as u64).filter(|n| *n > 0),
        refusals: Vec::from_iter(result.get("refusal").cloned().filter(Value::is_object)),
        on: only(result, &["target", "config", "seed", "tools"]),
        not_checked,
        may_claim: match verdict {
            "clean" => "The tools found nothing on these inputs.".into(),
            "bugs_found" => format!(
                "Found: {}.",
                list(result, "findings").iter().map(|one| name(one, "cause")).collect::<Vec<_>>().join(", ")
            ),
            _ => "Nothing can be said about bugs: no tool came to a result.".into(),
        },
        ..Evidence::default()
    }
}
