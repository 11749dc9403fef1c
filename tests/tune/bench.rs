//! `kiln bench` beyond one configuration against good baselines: baselines that are wrong or fail on some shape, baselines
//! alone, two configurations against each other; and the record of all of it.

use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::{command, folder, run};

const FILE: &str = r#"
[kernel]
name = "NAME"
entry = "twice"
[tunables]
STEP = [1, 2, 4]
[default]
STEP = 1
[target.cpu]
source = "twice.c"
[[arguments]]
name = "x"
type = "f32[N]"
role = "in"
[[arguments]]
name = "y"
type = "f32[N]"
role = "out"
[[arguments]]
name = "n"
type = "i64"
role = "scalar"
value = "N"
[[workloads]]
name = "small"
dims = { N = 512 }
[[workloads]]
name = "large"
dims = { N = 2048 }
[reference]
builtin = "elementwise"
expressions = { y = "2 * x" }
[cost]
bytes = "8 * N"
[baselines]
wrong = "others.c:wrong"
picky = "others.c:picky"
plain = "others.c:plain"
"#;

const SOURCE: &str = "#include <stdint.h>\nvoid twice(const float *x, float *y, int64_t n) {\n\
    for (int64_t i = 0; i < n; i += STEP) for (int64_t j = i; j < i + STEP && j < n; ++j) y[j] = 2.0f * x[j];\n}\n";

/// One is wrong everywhere, one ends its process on the larger workload, one is right.
const OTHERS: &str = "#include <stdint.h>\n#include <stdlib.h>\n\
    void plain(const float *x, float *y, int64_t n) { for (int64_t i = 0; i < n; ++i) y[i] = 2.0f * x[i]; }\n\
    void wrong(const float *x, float *y, int64_t n) { for (int64_t i = 0; i < n; ++i) y[i] = 2.1f * x[i]; }\n\
    void picky(const float *x, float *y, int64_t n) { if (n > 1000) abort(); plain(x, y, n); }\n";

const SHORT: &str = "--samples 25 --max-samples 25";

fn kernel(name: &str, source: &str) -> PathBuf {
    let folder = folder(name);
    std::fs::write(folder.join("kernel.toml"), FILE.replace("NAME", name)).unwrap();
    std::fs::write(folder.join("twice.c"), source).unwrap();
    std::fs::write(folder.join("others.c"), OTHERS).unwrap();
    folder
}

fn names<'v>(list: &'v Value, key: &str) -> Vec<&'v str> {
    list[key].as_array().unwrap().iter().map(|one| one["name"].as_str().unwrap()).collect()
}

#[test]
fn a_baseline_that_fails_is_a_row_that_says_why_and_the_others_are_measured() {
    let folder = kernel("survives", SOURCE);
    let (object, code) = run(&folder, &format!("bench . {SHORT} --json"));
    assert_eq!(code, 0, "{object:#}");
    let (small, large) = (&object["workloads"][0], &object["workloads"][1]);
    assert_eq!((names(small, "baselines"), names(small, "unmeasured")), (vec!["picky", "plain"], vec!["wrong"]));
    assert_eq!((names(large, "baselines"), names(large, "unmeasured")), (vec!["plain"], vec!["wrong", "picky"]));
    assert_eq!(
        (&small["unmeasured"][0]["gate"], &large["unmeasured"][1]["gate"]),
        (&"numerics".into(), &"runtime_failed".into())
    );
    assert!(small["baselines"][0]["peak_memory"].as_u64().unwrap() > 1 << 20, "{small:#}");
    // The record says the same, later.
    let (history, _) = run(&folder, "history --json");
    let recorded = &history["runs"][0];
    assert_eq!((&recorded["kernel"], recorded["sides"].as_array().unwrap().len()), (&"survives".into(), 8));
    let id = recorded["id"].as_str().unwrap();
    let (shown, _) = run(&folder, &format!("show {} --json", &id[id.len() - 8..]));
    assert_eq!((&shown["run"]["id"], &shown["workloads"]), (&recorded["id"], &object["workloads"]));
    let text = command(&folder, &format!("show {id}")).output().unwrap();
    let text = String::from_utf8(text.stdout).unwrap();
    assert!(
        text.contains("wrong is not measured here: numerics: ") && text.contains("picky is not measured here"),
        "{text}"
    );
    assert!(
        String::from_utf8(command(&folder, "history").output().unwrap().stdout).unwrap().contains(&id[id.len() - 8..])
    );
}

#[test]
fn an_interrupted_benchmark_keeps_the_workloads_that_were_done() {
    let folder = kernel("interrupted", SOURCE);
    let mut child = command(&folder, "bench . --samples 75 --max-samples 75 --events events.jsonl --json");
    let child = child.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    // The workloads have other baselines, so they are measured one after the other.
    let begun = || std::fs::read_to_string(folder.join("events.jsonl")).unwrap_or_default();
    let bench = |line: &&str| line.contains("\"phase\"") && line.contains("\"bench\"") && line.contains("\"planned\"");
    let until = Instant::now() + Duration::from_secs(300);
    while begun().lines().filter(bench).filter(|line| !line.contains("\"step\"")).count() < 2 {
        assert!(Instant::now() < until, "{}", begun());
        std::thread::sleep(Duration::from_millis(10));
    }
    assert!(Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap().success());
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(130));
    let object: Value = serde_json::from_slice(&output.stdout).unwrap();
    let (done, left) = (object["workloads"].as_array().unwrap(), &object["left"]);
    assert_eq!((done.len(), &done[0]["workload"], left), (1, &"small".into(), &serde_json::json!(["large"])));
    let (history, _) = run(&folder, "history --json");
    assert_eq!(history["runs"][0]["sides"].as_array().unwrap().len(), 4, "{history:#}");
}

#[test]
fn baselines_alone_need_no_candidate() {
    let folder = kernel("alone", "this does not compile\n");
    let (object, code) = run(&folder, &format!("bench . --baselines {SHORT} --json"));
    assert_eq!(code, 0, "{object:#}");
    let large = &object["workloads"][1];
    assert_eq!((names(large, "baselines"), names(large, "unmeasured")), (vec!["plain"], vec!["wrong", "picky"]));
    let plain = &large["baselines"][0];
    let number = |value: &Value| value.as_f64().unwrap_or_else(|| panic!("{value} in {large:#}"));
    let (median, beat) = (number(&plain["times"]["median"]), &plain["to_beat"]);
    assert_eq!((number(&beat["half"]), number(&beat["even"])), (2.0 * median, median));
    assert!((number(&beat["target"]) - median / 1.1).abs() < 1e-12 * median);
    assert!(number(&large["floor"]) > 0.0 && number(&plain["peak_memory"]) > 0.0);
    let text = command(&folder, &format!("bench . --baselines --baseline plain {SHORT}")).output().unwrap();
    let text = String::from_utf8(text.stdout).unwrap();
    assert!(text.contains("for 0.5x") && text.contains("for 1.10x") && !text.contains("picky"), "{text}");
    // Where all fail there is nothing to beat, and nothing to be lost.
    let (object, code) = run(&folder, &format!("bench . --baselines --baseline wrong {SHORT} --json"));
    assert_eq!((code, names(&object["workloads"][0], "unmeasured")), (0, vec!["wrong"]));
}

#[test]
fn two_configurations_are_held_against_each_other() {
    let folder = kernel("against", SOURCE);
    let (object, code) = run(&folder, &format!("bench . --config STEP=4 --against STEP=2 {SHORT} --json"));
    assert_eq!(code, 0, "{object:#}");
    assert_eq!(names(&object["workloads"][0], "baselines").len(), 1);
    assert!(names(&object["workloads"][0], "baselines")[0].contains("STEP=2"));
    let (object, _) = run(&folder, &format!("bench . --against STEP=2 --baseline plain {SHORT} --json"));
    assert_eq!(names(&object["workloads"][0], "baselines")[1], "plain");
    // The winner of a study, and a study of another kernel.
    let (summary, _) = run(&folder, "tune . --trials 3 --samples 25 --no-stop --baseline plain --no-ablation --json");
    let won = summary["config"]["STEP"].to_string();
    let (object, code) = run(&folder, &format!("bench . --against last {SHORT} --json"));
    assert_eq!(code, 0, "{object:#}");
    // Named by what differs from the default, which may have won.
    let expected = if won == "1" { "itself".to_string() } else { format!("STEP={won}") };
    assert_eq!(names(&object["workloads"][0], "baselines"), [expected]);
    let study = summary["study"].as_str().unwrap();
    std::fs::write(folder.join("kernel.toml"), FILE.replace("NAME", "another")).unwrap();
    for line in [format!("bench . --study {study} --json"), format!("bench . --against {study} --json")] {
        let (object, code) = run(&folder, &line);
        let said = object["errors"][0].to_string();
        assert!(code != 0 && said.contains("tuned against, not another"), "{line}: {code} {said}");
    }
    // Before, the last study of all was taken for this kernel's.
    let (object, code) = run(&folder, "bench . --study last --json");
    assert!(code != 0 && object["errors"][0].to_string().contains("no study"), "{object:#}");
}

#[test]
fn a_baseline_that_is_not_there_or_does_not_build_is_a_row_too() {
    let folder = kernel("absent", SOURCE);
    let file = std::fs::read_to_string(folder.join("kernel.toml")).unwrap();
    let only = "gone = \"nofile.c:slow\"\nbroken = \"broken.c:broken\"\n";
    let (before, after) = file.split_once("wrong = ").unwrap();
    std::fs::write(folder.join("kernel.toml"), format!("{before}{only}wrong = {after}")).unwrap();
    std::fs::write(folder.join("broken.c"), "this does not compile\n").unwrap();
    let (object, code) = run(&folder, &format!("bench . {SHORT} --json --workload small"));
    assert_eq!(code, 0, "{object:#}");
    let small = &object["workloads"][0];
    assert_eq!(names(small, "baselines"), ["picky", "plain"]);
    assert_eq!(names(small, "unmeasured"), ["gone", "broken", "wrong"]);
    let gone = small["unmeasured"][0]["measured"].as_str().unwrap();
    assert!(gone.ends_with("/nofile.c: no such file") && gone.matches("nofile.c").count() == 1, "{gone}");
    let said = |line: &str| {
        let output = command(&folder, line).output().unwrap();
        (String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned(), output.status.code().unwrap())
    };
    // `gate` needs no baseline, and warns.
    let (text, code) = said("gate . --workload small");
    assert!(code == 0 && text.contains("baseline gone cannot be measured: "), "{text}");
    // The time of a build is that of a compiler, not of a look into the cache afterwards.
    let (object, _) = run(&folder, "gate . --workload small --config STEP=4 --json");
    assert!(object["ladder"]["build_s"].as_f64().unwrap() > 0.005, "{object:#}");
    // Where there is none at all, that is said.
    std::fs::write(folder.join("kernel.toml"), format!("{before}{only}")).unwrap();
    let (text, code) = said(&format!("bench . {SHORT} --workload small"));
    assert!(code == 0 && text.contains("no baseline could be measured, so there is no speedup"), "{text}");
    let (text, code) = said("tune . --workload small --samples 25 --trials 2 --no-ablation --no-stop");
    assert!(matches!(code, 0 | 4) && text.contains("baseline gone is skipped: build_failed: "), "{text}");
    let (text, code) = said("tune . --workload small --baseline gone");
    assert!(code == 1 && text.contains("relative to the kernel file"), "{text}");
}
