//! `kiln compare`: run files, other benchmarks' files, verdicts, exit codes, and what it refuses.

use std::path::Path;

use serde_json::{Value, json};

use crate::run::{Ran, empty_folder, kiln_in};
use crate::twice;

/// Twenty rounds of five samples of a candidate and of its baseline, on a machine that is so many times as slow.
fn run(candidate: f64, slow: f64, code: &str) -> Value {
    let side = |name: &str, seconds: f64, code: &str| {
        let noise = |round: usize, sample: usize| 1.0 + 0.01 * (((round * 7 + sample * 13) % 11) as f64 / 11.0 - 0.5);
        let round = |round| (0..5).map(|sample| seconds * slow * noise(round, sample)).collect::<Vec<f64>>();
        json!({ "name": name, "code": code, "rounds": (0..20).map(round).collect::<Vec<_>>() })
    };
    json!({
        "kiln_run": 1, "source": "kiln 0.1.0", "kernel": "k", "device": "a processor", "threads": 1, "cache": "warm",
        "workloads": [{ "name": "w", "shape": "N=4", "sides": [side("candidate", candidate, code), side("plain", 3e-3, "same")] }],
    })
}

fn written(folder: &Path, name: &str, run: &Value) -> String {
    std::fs::write(folder.join(name), run.to_string()).unwrap();
    name.to_string()
}

fn compare(folder: &Path, rest: &[&str]) -> Ran {
    kiln_in(folder, &[&["compare", "base.json"], rest].concat())
}

#[test]
fn a_regression_has_an_exit_code_and_a_slower_machine_has_none() {
    let folder = empty_folder("compare-verdicts");
    written(&folder, "base.json", &run(1e-3, 1.0, "one"));
    written(&folder, "slower.json", &run(1.05e-3, 0.97, "two"));
    written(&folder, "faster.json", &run(0.8e-3, 1.1, "two"));
    written(&folder, "same.json", &run(1e-3, 1.03, "two"));
    // So much another machine that it could be anything.
    written(&folder, "elsewhere.json", &run(1.05e-3, 1.4, "two"));
    written(&folder, "identical.json", &run(1e-3, 1.4, "one"));
    for (name, verdict, code) in [
        ("slower", "regression", 5),
        ("faster", "improvement", 0),
        ("same", "same", 0),
        ("elsewhere", "too_noisy", 0),
        ("identical", "identical", 0),
    ] {
        let ran = compare(&folder, &[&format!("{name}.json"), "--json"]);
        let found: Value = serde_json::from_str(&ran.out).unwrap_or_else(|e| panic!("{e}: {}{}", ran.out, ran.err));
        assert_eq!((found["verdict"].as_str(), ran.code), (Some(verdict), code), "{name}: {found:#}");
        assert_eq!((&found["yardstick"], &found["workloads"][0]["verdict"]), (&json!("plain"), &json!(verdict)));
    }
    // A baseline has no configuration: its own code alone decides.
    let mut tuned = run(1.05e-3, 1.4, "two");
    (tuned["config"], tuned["spec_hash"]) = ("VEC=16".into(), Value::Null);
    written(&folder, "tuned.json", &tuned);
    let ran = compare(&folder, &["tuned.json", "--side", "plain", "--json"]);
    let found: Value = serde_json::from_str(&ran.out).unwrap_or_else(|e| panic!("{e}: {}{}", ran.out, ran.err));
    assert_eq!((&found["verdict"], ran.code), (&json!("identical"), 0), "{found:#}");
    let told = compare(&folder, &["slower.json"]).out;
    assert!(told.starts_with("k: regression on w\n") && told.contains("+5.0 %"), "{told}");
    let told = compare(&folder, &["elsewhere.json"]).out;
    assert!(told.contains("the baseline itself moved by +40.0 % between the runs"), "{told}");
    // Without the yardstick the machine's speed is taken for the kernel's.
    let plain = compare(&folder, &["elsewhere.json", "--plain"]);
    assert_eq!(plain.code, 5, "{}", plain.out);
    assert!(plain.out.contains("without a baseline in common"), "{}", plain.out);
    // Thresholds are the user's.
    assert_eq!(compare(&folder, &["slower.json", "--regression", "8"]).code, 0);
    assert_eq!(compare(&folder, &["slower.json", "--regression=-1"]).code, 2);
    let comment = compare(&folder, &["slower.json", "--format", "markdown"]);
    assert_eq!(comment.code, 5);
    for part in ["<!-- kiln(start): compare k -->", "| w | ", "regression |", "kiln compare base.json slower.json"] {
        assert!(comment.out.contains(part), "{part}: {}", comment.out);
    }
    for (format, part) in [
        ("junit", "<failure message=\"regression: "),
        ("sarif", "\"ruleId\": \"performance-regression\""),
        ("bencher", "\"k/w\": {"),
        ("benchmark-action", "\"unit\": \"us\""),
    ] {
        let ran = compare(&folder, &["slower.json", "--format", format, "--out", "out"]);
        let written = std::fs::read_to_string(folder.join("out")).unwrap();
        assert!(ran.code == 5 && ran.out.is_empty() && written.contains(part), "{format}: {written}");
    }
}

#[test]
fn what_does_not_compare_is_refused_and_says_why() {
    let folder = empty_folder("compare-refused");
    let base = run(1e-3, 1.0, "one");
    written(&folder, "base.json", &base);
    let changed = |key: &str, value: Value| {
        let mut other = base.clone();
        other[key] = value;
        written(&folder, "other.json", &other);
        compare(&folder, &["other.json"])
    };
    let mut wider = base["workloads"].clone();
    wider[0]["shape"] = json!("N=8");
    for (key, value, words) in [
        ("device", json!("a GPU"), "differ in device: a processor and a GPU"),
        ("threads", json!(2), "differ in threads: 1 and 2"),
        ("kernel", json!("l"), "differ in kernel: k and l"),
        ("kiln_run", json!(9), "has schema version 9; this kiln reads version 1"),
        ("workloads", json!([]), "other.json: the run of k has no samples"),
        ("workloads", wider, "differ in the dimensions of w: N=4 and N=8"),
    ] {
        let ran = changed(key, value);
        assert_eq!(ran.code, 2, "{key}: {}{}", ran.out, ran.err);
        assert!(ran.err.contains(words), "{key}: {}", ran.err);
    }
    let text = base.to_string();
    std::fs::write(folder.join("cut.json"), &text[..text.len() / 2]).unwrap();
    std::fs::write(folder.join("nan.json"), text.replacen("[[", "[[NaN,", 1)).unwrap();
    std::fs::write(folder.join("mixed.txt"), "1 ms\n2 us\n").unwrap();
    std::fs::write(folder.join("other.txt"), "1 ms\n2 ms\n").unwrap();
    for (name, words) in [
        ("cut.json", "ends too early"),
        ("nan.json", "nan.json: sample 1 of candidate on `w`"),
        ("mixed.txt", "`ms` and in `us` are mixed"),
        ("other.txt", "no workload in common"),
        ("nothing.json", "there is no file and no run `nothing.json`"),
    ] {
        let ran = compare(&folder, &[name]);
        assert_eq!(ran.code, 2, "{name}: {}{}", ran.out, ran.err);
        assert!(ran.err.contains(words), "{name}: {}", ran.err);
    }
    written(&folder, "gpu.json", &{
        let mut other = base.clone();
        other["device"] = json!("a GPU");
        other
    });
    let over = compare(&folder, &["base.json", "--out", "./base.json"]);
    assert!(over.code == 2 && over.err.contains("it would be lost"), "{}", over.err);
    assert_eq!(std::fs::read_to_string(folder.join("base.json")).unwrap(), base.to_string());
    let anyway = compare(&folder, &["gpu.json", "--anyway"]);
    assert_eq!(anyway.code, 0, "{}", anyway.err);
    assert!(anyway.out.contains("differ in device"), "{}", anyway.out);
}

#[test]
fn a_benchmark_is_saved_and_compared_with_a_recorded_one() {
    let folder = twice::folder("compare-saved");
    // Another configuration is other code.
    twice::rewrite(&folder, "twice.c", "2 * x[i]", "WAY == 2 ? x[i] + x[i] + 0 * x[n - 1 - i] : 2 * x[i]");
    let bench = |rest: &[&str]| {
        let fixed = ["bench", "twice", "--variant", "T=f32", "--samples", "25", "--max-samples", "25"];
        kiln_in(&folder, &[&fixed, rest].concat())
    };
    let lost = bench(&["--save", "twice/kernel.toml"]);
    assert!(lost.code == 2 && lost.err.contains("is no run file: it would be lost"), "{}", lost.err);
    let nowhere = bench(&["--save", "no/such/folder.json"]);
    assert_eq!(nowhere.code, 2, "{}", nowhere.err);
    assert!(nowhere.err.contains("there is no folder no/such"), "{}", nowhere.err);
    let saved = bench(&["--save", "base.json"]);
    assert_eq!(saved.code, 0, "{}", saved.err);
    let file: Value = serde_json::from_slice(&std::fs::read(folder.join("base.json")).unwrap()).unwrap();
    let side = &file["workloads"][0]["sides"][0];
    assert_eq!((&file["kiln_run"], &side["name"]), (&json!(1), &json!("candidate")), "{file:#}");
    let lengths = |key: &str| side[key].as_array().unwrap().iter().map(|r| r.as_array().unwrap().len()).sum::<usize>();
    assert!(lengths("rounds") >= 25 && lengths("order") == lengths("rounds"));
    assert!(side["code"].is_string() && file["environment"]["compiler"].is_string());
    // The same code, and another.
    let ran = compare(&folder, &["last"]);
    assert_eq!(ran.code, 0, "{}{}", ran.out, ran.err);
    assert!(ran.out.starts_with("twice: identical machine code"), "{}", ran.out);
    bench(&["--config", "WAY=2"]);
    let ran = compare(&folder, &["last", "--json"]);
    let found: Value = serde_json::from_str(&ran.out).unwrap();
    assert_ne!(found["verdict"], "identical", "{found:#}");
    assert!(found["notes"].to_string().contains("WAY=1, then WAY=2"), "{found:#}");
}
