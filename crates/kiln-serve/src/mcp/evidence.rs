//! What supports a verdict, so that it cannot be overstated. In: the object a verb prints. Out: the verdict, intervals, number of samples
//! or cases, refusals, the environment, what was not checked, and the most that may be claimed, in one sentence.

mod bench;
mod correct;
mod study;

use kiln_app::environment;
use serde_json::{Map, Value, json};

pub(super) use bench::{of_baselines, of_bench};
pub(super) use correct::{of_check, of_fuzz, of_gate, of_sanitizer};
pub(super) use study::of_study;

/// The parts of it.
#[derive(Debug, Default)]
pub(super) struct Evidence {
    pub(super) verdict: String,
    pub(super) intervals: Vec<Value>,
    pub(super) n: Option<u64>,
    pub(super) refusals: Vec<Value>,
    /// What the result itself says it ran on, and with what.
    pub(super) on: Map<String, Value>,
    pub(super) not_checked: Vec<String>,
    pub(super) may_claim: String,
}

impl Evidence {
    pub(super) fn json(self) -> Value {
        let mut on: Map<String, Value> = environment()
            .lines()
            .filter_map(|line| line.split_once('='))
            .map(|(name, value)| (name.into(), value.into()))
            .collect();
        on.extend(self.on);
        json!({
            "verdict": self.verdict,
            "intervals": self.intervals,
            "n": self.n,
            "refusals": self.refusals,
            "environment": on,
            "not_checked": self.not_checked,
            "may_claim": self.may_claim,
        })
    }
}

impl Evidence {
    /// With the machine and its tools, as a study records them: where the result names the device, that stays.
    pub(super) fn ran_on(mut self, machine: &Value) -> Evidence {
        let device = [&machine["gpu"]["name"], &machine["processor"]].into_iter().find(|name| name.is_string());
        let device = device.map(|name| ("device".to_string(), name.clone()));
        for (key, value) in only(machine, &TOOLS).into_iter().chain(device) {
            self.on.entry(key).or_insert(value);
        }
        self
    }
}

/// What of a machine is told beside a result.
const TOOLS: [&str; 5] = ["processor", "system", "compiler", "cuda", "python"];

/// These keys of an object, where it has them.
pub(super) fn only(object: &Value, keys: &[&str]) -> Map<String, Value> {
    let has =
        |key: &&str| object.get(key).filter(|value| !value.is_null()).map(|value| (key.to_string(), value.clone()));
    keys.iter().filter_map(has).collect()
}

/// The elements of a list; nothing where there is none.
pub(super) fn list<'a>(object: &'a Value, key: &str) -> &'a [Value] {
    object[key].as_array().map_or(&[], Vec::as_slice)
}

fn name<'a>(object: &'a Value, key: &str) -> &'a str {
    object[key].as_str().unwrap_or_default()
}

/// `1.23x (95 % interval 1.20 to 1.26)`.
fn speedup(figures: &Value) -> String {
    let number = |value: &Value| value.as_f64().map_or("unknown".into(), |x| format!("{x:.3}"));
    format!(
        "{}x (95 % interval {} to {})",
        number(&figures["speedup"]),
        number(&figures["speedup_ci95"][0]),
        number(&figures["speedup_ci95"][1])
    )
}

fn fewest(intervals: &[Value]) -> Option<u64> {
    intervals.iter().filter_map(|one| one["n"].as_u64()).min()
}

/// Distinct verdicts, joined.
fn together(intervals: &[Value]) -> String {
    let mut all: Vec<&str> =
        intervals.iter().map(|one| name(one, "verdict")).filter(|verdict| !verdict.is_empty()).collect();
    all.sort_unstable();
    all.dedup();
    all.join(", ")
}

const SHAPES: &str = "shapes other than the workloads named here (fuzz; kiln sweep)";
const RACES: &str = "races and accesses out of bounds (sanitize)";

/// What no measurement of speed looks at.
const SPEED_ALONE: [&str; 3] = [SHAPES, RACES, "other devices, drivers and dtypes: each needs its own measurement"];

fn words(all: &[&str]) -> Vec<String> {
    all.iter().map(ToString::to_string).collect()
}

/// A refusal before anything was judged further.
pub(super) fn refused(refusal: &Value, on: &Value) -> Evidence {
    Evidence {
        verdict: "refused".into(),
        refusals: vec![refusal.clone()],
        on: only(on, &["name", "target", "arch", "device", "config", "seed"]),
        not_checked: vec!["everything after the gate that refused it".into()],
        may_claim: format!("The gate {} refuses this configuration: {}.", name(refusal, "gate"), measured(refusal)),
        ..Evidence::default()
    }
}

/// What was measured beside what was allowed: of a wrong number that is the right one.
fn measured(refusal: &Value) -> String {
    match name(refusal, "limit") {
        "" => name(refusal, "measured").into(),
        limit => format!("{} (limit: {limit})", name(refusal, "measured")),
    }
}

/// `kiln compare`.
pub(super) fn of_compare(result: &Value) -> Evidence {
    let figures = |one: &Value| {
        let found = &one["comparison"];
        json!({
            "workload": one["workload"], "what": "speedup of the candidate over the base", "value": found["speedup"],
            "ci95": found["speedup_ci95"], "n": found["candidate"]["n"], "verdict": one["verdict"],
            "cliffs_delta": found["cliffs_delta"],
        })
    };
    let intervals: Vec<Value> = list(result, "workloads").iter().map(figures).collect();
    let mut not_checked = words(&["correctness of either run (check)", "workloads that only one run has"]);
    if result["yardstick"].is_null() {
        not_checked.push("drift of the machine between the runs: they share no baseline".into());
    }
    Evidence {
        verdict: name(result, "verdict").into(),
        n: fewest(&intervals),
        intervals,
        on: [("base", &result["base"]), ("candidate", &result["candidate"])]
            .map(|(k, v)| (k.to_string(), v.clone()))
            .into_iter()
            .collect(),
        not_checked,
        may_claim: format!(
            "Between these two runs: {}, {} over all workloads.",
            name(result, "verdict"),
            speedup(result)
        ),
        ..Evidence::default()
    }
}

/// A diagnosis of time, measured or predicted.
pub(super) fn of_limit(result: &Value, source: &str) -> Evidence {
    let profiled = &result["profiled"];
    let mut on = only(result, &["target", "config", "workload", "device", "arch", "tool"]);
    on.extend(only(profiled, &["target", "baseline", "config", "workload", "seed", "level", "tool", "passes"]));
    let device = Some(name(profiled, "hardware")).filter(|device| !device.is_empty());
    on.extend(device.map(|device| ("device".to_string(), device.into())));
    if result["refusal"].is_object() && result.get("cause").is_none() {
        return Evidence { on, ..refused(&result["refusal"], result) };
    }
    let cause = result["cause"].as_str().unwrap_or("none of the known causes");
    let mut not_checked = words(&[
        "whether removing the cause gives what is promised: change it, then bench",
        "workloads other than the one profiled",
        "correctness (check)",
    ]);
    if result["coarse"] == true {
        not_checked.insert(0, "hardware counters: the diagnosis is coarse".into());
    }
    let missing = list(result, "not_collected").len();
    if missing > 0 {
        not_checked.push(format!("{missing} metrics that were not collected"));
    }
    Evidence {
        verdict: cause.into(),
        intervals: list(result, "fixes").iter().filter(|fix| fix["expected"].is_object()).map(|fix| json!({
            "what": fix["what"], "value": fix["expected"]["speedup"], "interval80": [fix["expected"]["low"], fix["expected"]["high"]],
            "n": fix["expected"]["outcomes"],
        })).collect(),
        refusals: Vec::from_iter(result.get("refusal").cloned().filter(Value::is_object)),
        may_claim: format!(
            "By {source}{}{}, {}its time goes to: {cause}{}. Promised speedups are estimates, never results.",
            if result["coarse"] == true { ", which is coarse" } else { "" },
            confidence(&result["confidence"]),
            profiled_of(profiled),
            refused_answer(result),
        ),
        on,
        not_checked,
        ..Evidence::default()
    }
}

/// `, with confidence 0.50`.
fn confidence(value: &Value) -> String {
    value.as_f64().map_or(String::new(), |share| format!(", with confidence {share:.2}"))
}

/// `on a GPU, workload s, {"VEC":8}, `.
fn profiled_of(profiled: &Value) -> String {
    let text = |key: &str| Some(name(profiled, key)).filter(|text| !text.is_empty());
    let what = match text("baseline") {
        Some(baseline) => Some(format!("baseline {baseline}")),
        None => {
            profiled["config"].as_object().filter(|config| !config.is_empty()).map(|_| profiled["config"].to_string())
        }
    };
    let parts = [
        text("hardware").map(|device| format!("on {device}")),
        text("workload").map(|workload| format!("workload {workload}")),
        what,
    ];
    parts.into_iter().flatten().map(|part| part + ", ").collect()
}

/// A diagnosis of what answers wrongly is one all the same, and says so.
fn refused_answer(result: &Value) -> String {
    match result["refusal"].is_object() {
        true => format!(", though the gate {} refuses its answer", name(&result["refusal"], "gate")),
        false => String::new(),
    }
}

/// `kiln claims`.
pub(super) fn of_claims(result: &Value) -> Evidence {
    let mut intervals = Vec::new();
    for claim in list(result, "claims") {
        for found in list(claim, "measured") {
            intervals.push(json!({
                "claim": claim["claim"], "workload": found["workload"], "what": claim["figure"], "value": found["value"],
                "ci95": found["ci95"], "verdict": claim["verdict"],
            }));
        }
    }
    let unverifiable = list(result, "claims").iter().filter(|claim| claim["verdict"] == "unverifiable");
    let mut not_checked: Vec<String> =
        unverifiable.map(|claim| format!("{}: {}", name(claim, "claim"), name(claim, "why"))).collect();
    not_checked.push("claims on other devices, shapes or dtypes than they name".into());
    let count = |key: &str| result[key].as_u64().unwrap_or_default();
    Evidence {
        verdict: match (count("refuted"), count("unverifiable"), count("confirmed")) {
            (0, 0, 0) => "nothing claimed",
            (0, 0, _) => "confirmed",
            (0, _, _) => "partly unverifiable",
            _ => "refuted",
        }
        .into(),
        n: Some(list(result, "claims").len() as u64),
        intervals,
        not_checked,
        may_claim: format!(
            "{} confirmed, {} refuted, {} unverifiable here.",
            count("confirmed"),
            count("refuted"),
            count("unverifiable")
        ),
        ..Evidence::default()
    }
}

/// `kiln doctor`.
pub(super) fn of_doctor(result: &Value) -> Evidence {
    let healthy = result["healthy"] == true;
    Evidence {
        verdict: if healthy { "healthy" } else { "unfit" }.into(),
        n: Some(list(result, "findings").len() as u64),
        not_checked: words(&["any kernel: a healthy machine says nothing about one"]),
        may_claim: match healthy {
            true => "No check of this machine fails.".into(),
            false => {
                "A check of this machine fails; results from it are not to be trusted before that is fixed.".into()
            }
        },
        ..Evidence::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_benchmark_says_how_sure_it_is_and_what_it_did_not_look_at() {
        let result = json!({
            "name": "k", "target": "cpu", "variant": "T=f32", "git_commit": "0123456789abcdef+",
            "device": "GPU", "cache": "cold", "config": { "VEC": 8 }, "left": [], "workloads": [{
                "workload": "s", "times": { "n": 100, "median": 1e-3 }, "median_ci95": [0.9e-3, 1.1e-3],
                "checked": { "timed": 500, "reference": 20 },
                "baselines": [{ "name": "torch", "speedup": 1.25, "speedup_ci95": [1.2, 1.3], "verdict": "faster", "candidate": { "n": 95 } }],
            }],
        });
        let evidence = of_bench(&result, &["held"]).json();
        assert_eq!((evidence["n"].as_u64(), evidence["verdict"].as_str()), (Some(95), Some("faster")));
        assert_eq!(
            evidence["may_claim"],
            "k (cpu, T=f32) with {\"VEC\":8}, commit 0123456789ab+: on GPU, cold cache: s: 1.250x (95 % interval 1.200 to 1.300) over \
             torch, verdict faster."
        );
        let on = &evidence["environment"];
        assert_eq!(
            (&on["kernel"], &on["config"], &on["workloads"], &on["git_commit"]),
            (&json!("k"), &json!({ "VEC": 8 }), &json!(["s"]), &json!("0123456789abcdef+"))
        );
        let missing: Vec<&str> = list(&evidence, "not_checked").iter().filter_map(Value::as_str).collect();
        assert!(
            missing.contains(&"s: 480 of 500 timed calls against the reference")
                && missing.contains(&"holdout workloads (holdouts: true): held")
        );
        let without = of_bench(&result, &[]).not_checked;
        assert!(!without.iter().any(|one| one.contains("holdout")), "{without:?}");
    }

    fn environment_of(evidence: Evidence) -> Value {
        evidence.json()["environment"].take()
    }

    #[test]
    fn a_coarse_profile_claims_no_more_than_it_is() {
        let result = json!({
            "cause": "narrow_vectors", "confidence": 0.5, "coarse": true, "fixes": [],
            "profiled": { "kernel": "k", "target": "cpu", "config": { "VEC": 8 }, "workload": "short", "hardware": "A Processor", "seed": 7, "level": "quick" },
        });
        let evidence = of_limit(&result, "this profile");
        assert_eq!(
            evidence.may_claim,
            "By this profile, which is coarse, with confidence 0.50, on A Processor, workload short, {\"VEC\":8}, its time goes to: \
             narrow_vectors. Promised speedups are estimates, never results."
        );
        let on = environment_of(evidence);
        assert_eq!(
            (&on["device"], &on["workload"], &on["config"], &on["seed"]),
            (&json!("A Processor"), &json!("short"), &json!({ "VEC": 8 }), &json!(7))
        );
        let page = of_limit(&json!({ "cause": "memory", "coarse": false, "fixes": [] }), "this page");
        assert!(page.may_claim.starts_with("By this page, its time goes to: memory."), "{}", page.may_claim);
    }

    #[test]
    fn the_machine_and_its_tools_stand_beside_every_result() {
        let machine = json!({
            "processor": "A Processor", "compiler": "cc 14.2", "cuda": null, "python": { "version": "3.12", "numpy": "2.0" }, "gpu": null,
            "load": 0.5, "system": "6.1",
        });
        let result = json!({ "passed": true, "config": { "A": 1 }, "seed": 3, "level": "full", "full": false, "questions": [
            { "workload": "short" }, { "workload": "short" }, { "workload": "long" },
        ] });
        let evidence = of_check(&result).ran_on(&machine);
        assert_eq!(
            evidence.may_claim,
            "{\"A\":1} passed 3 questions about the workloads short, long on fresh inputs (seed 3) within the stated tolerances."
        );
        let on = environment_of(evidence);
        assert_eq!(on["device"], "A Processor");
        assert_eq!((&on["compiler"], &on["python"]["numpy"]), (&json!("cc 14.2"), &json!("2.0")));
        assert_eq!(
            (&on["workloads"], &on["full"], &on["level"]),
            (&json!(["short", "long"]), &json!(false), &Value::Null)
        );
        // What the result says of the device stays; on a GPU that is the device.
        let bench = json!({ "device": "mine", "cache": "cold", "workloads": [] });
        assert_eq!(environment_of(of_bench(&bench, &[]).ran_on(&machine))["device"], "mine");
        let gpu = json!({ "gpu": { "name": "A GPU" }, "processor": "A Processor" });
        assert_eq!(environment_of(of_gate(&json!({ "passed": true }), "run", None).ran_on(&gpu))["device"], "A GPU");
        let study = json!({ "state": "running", "summary": null, "options": { "cache": "warm", "threads": 1 } });
        assert_eq!(environment_of(of_study(&study, &[], None))["cache"], "warm");
    }

    #[test]
    fn a_given_case_is_not_called_drawn() {
        let fuzz = |more: Value| {
            let mut result = json!({ "passed": true, "cases_passed": 1, "shapes": 1, "seed": 99, "configurations": 1 });
            more.as_object().unwrap().iter().for_each(|(key, value)| result[key] = value.clone());
            of_fuzz(&result)
        };
        let given = fuzz(json!({ "case": "S=65; inputs=declared; seed=0" }));
        assert_eq!(
            given.may_claim,
            "The given case (S=65; inputs=declared; seed=0) passed 1 run; that is evidence, not a proof."
        );
        assert!(environment_of(given).get("seed").is_none());
        let drawn = fuzz(json!({ "case": null }));
        assert_eq!(drawn.may_claim, "1 drawn case on 1 shape passed (seed 99); that is evidence, not a proof.");
        let suite = fuzz(json!({ "suite": "edges", "cases_passed": 12, "shapes": 3 })).may_claim;
        assert!(suite.starts_with("12 cases of the suite edges on 3 shapes passed (seed 99)"), "{suite}");
    }

    #[test]
    fn nothing_found_is_not_called_clean_where_nothing_ran() {
        let evidence = of_sanitizer(&json!({ "verdict": "not_run", "findings": [], "runs": [] })).json();
        assert_eq!(evidence["may_claim"], "Nothing can be said about bugs: no tool came to a result.");
    }
}
