//! What supports a benchmark's figures. In: the object that `kiln bench` prints, with variant and commit. Out: its evidence.

use serde_json::{Value, json};

use super::{Evidence, SPEED_ALONE, fewest, list, name, only, refused, speedup, together, words};

/// `kiln bench`. `holdouts`: those that were not measured.
pub(in crate::mcp) fn of_bench(result: &Value, holdouts: &[&str]) -> Evidence {
    if result.get("refused").is_some() {
        return refused(&result["refused"], result);
    }
    let mut intervals = Vec::new();
    let (mut refusals, mut claims, mut not_checked) = (Vec::new(), Vec::new(), Vec::new());
    for workload in list(result, "workloads") {
        let on = name(workload, "workload");
        intervals.push(json!({
            "workload": on, "what": "time of one call", "unit": "s", "value": workload["times"]["median"],
            "ci95": workload["median_ci95"], "n": workload["times"]["n"],
        }));
        for side in list(workload, "baselines") {
            intervals.push(json!({
                "workload": on, "what": "speedup", "against": side["name"], "value": side["speedup"],
                "ci95": side["speedup_ci95"], "n": side["candidate"]["n"], "verdict": side["verdict"],
                "cliffs_delta": side["cliffs_delta"],
            }));
            claims.push(format!(
                "{on}: {} over {}, verdict {}",
                speedup(side),
                name(side, "name"),
                name(side, "verdict")
            ));
        }
        refusals.extend(list(workload, "unmeasured").iter().cloned());
        let (timed, reference) = (&workload["checked"]["timed"], &workload["checked"]["reference"]);
        if let (Some(timed), Some(reference)) = (timed.as_u64(), reference.as_u64()) {
            not_checked.push(format!(
                "{on}: {} of {timed} timed calls against the reference",
                timed.saturating_sub(reference)
            ));
        }
    }
    not_checked.extend(list(result, "left").iter().filter_map(Value::as_str).map(|on| format!("{on}: interrupted")));
    if !holdouts.is_empty() {
        not_checked.push(format!("holdout workloads (holdouts: true): {}", holdouts.join(", ")));
    }
    not_checked.extend(words(&SPEED_ALONE));
    let mut on = only(result, &["device", "cache", "threads", "seed", "target", "variant", "config", "git_commit"]);
    on.extend(only(result, &["name"]).into_iter().map(|(_, kernel)| ("kernel".to_string(), kernel)));
    let names: Vec<&Value> =
        list(result, "workloads").iter().map(|one| &one["workload"]).filter(|name| name.is_string()).collect();
    on.insert("workloads".into(), json!(names));
    let of = [name(result, "target"), name(result, "variant")].into_iter().filter(|part| !part.is_empty());
    let of = of.collect::<Vec<_>>().join(", ");
    let of = if of.is_empty() { String::new() } else { format!(" ({of})") };
    let commit = result["git_commit"].as_str().map_or(String::new(), |commit| format!(", commit {}", short(commit)));
    let subject = format!("{}{of} with {}{commit}", name(result, "name"), result["config"]);
    let claimed = if claims.is_empty() { "times alone, no comparison".into() } else { claims.join("; ") };
    Evidence {
        verdict: if claims.is_empty() { "no comparison".into() } else { together(&intervals) },
        n: fewest(&intervals),
        intervals,
        refusals,
        on,
        not_checked,
        may_claim: format!("{subject}: on {}, {} cache: {claimed}.", name(result, "device"), name(result, "cache")),
    }
}

/// The first letters of a commit, and the mark of changes on top of it.
fn short(commit: &str) -> String {
    let (clean, mark) = commit.strip_suffix('+').map_or((commit, ""), |clean| (clean, "+"));
    clean.chars().take(12).chain(mark.chars()).collect()
}

/// `kiln bench --baselines`.
pub(in crate::mcp) fn of_baselines(result: &Value) -> Evidence {
    let mut intervals = Vec::new();
    let mut refusals = Vec::new();
    for workload in list(result, "workloads") {
        for side in list(workload, "baselines") {
            intervals.push(json!({
                "workload": workload["workload"], "what": "time of one call", "unit": "s", "of": side["name"],
                "value": side["times"]["median"], "ci95": side["median_ci95"], "n": side["times"]["n"],
            }));
        }
        refusals.extend(list(workload, "unmeasured").iter().cloned());
    }
    Evidence {
        verdict: "no comparison".into(),
        n: fewest(&intervals),
        intervals,
        refusals,
        on: only(result, &["device", "cache", "threads", "seed", "target"]),
        not_checked: words(&["the kernel: only baselines were measured"]),
        may_claim: format!(
            "Times of baselines on {}, {} cache; nothing about the kernel.",
            name(result, "device"),
            name(result, "cache")
        ),
    }
}
