//! The whole loop, run as a user runs it: `kiln tune` on real kernels in C, with hostile ones among them, interrupted,
//! resumed, replayed. Times are measured and never judged here.

// A test that cannot go on says so by panicking.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;

mod adopt;
mod bench;
mod best;
mod change;
mod devices;
mod events;
mod implementations;
mod layout;
mod scrutiny;
mod shapes;
mod stop;
mod sweep;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

/// A folder of this test's own; the build cache is shared by all of them, as it would be in one working folder.
fn folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("tune-{name}"));
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).unwrap();
    folder
}

fn command(folder: &Path, line: &str) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_kiln"));
    let words = line.split_whitespace().map(|w| match w.strip_prefix('@') {
        Some(inside) => root().join(inside).to_str().unwrap().to_string(),
        None => w.to_string(),
    });
    command.args(words).current_dir(folder);
    command
}

/// Runs to the end; the object on stdout and the exit code.
fn run(folder: &Path, line: &str) -> (Value, i32) {
    let output = command(folder, line).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let object = serde_json::from_str(&text)
        .unwrap_or_else(|e| panic!("{line}: {e}\n{text}{}", String::from_utf8_lossy(&output.stderr)));
    (object, output.status.code().unwrap())
}

fn trials(folder: &Path) -> Vec<Value> {
    run(folder, "show last --json").0["trials"].as_array().unwrap().clone()
}

/// What identifies a trial and must never change once it is recorded.
fn essence(trial: &Value) -> (String, u64, String, String, String) {
    let text = |key: &str| trial[key].as_str().unwrap_or_default().to_string();
    (text("phase"), trial["number"].as_u64().unwrap(), text("config"), text("state"), trial["cost"].to_string())
}

#[test]
fn hostile_kernels_are_refused_each_at_its_gate_and_the_good_one_is_found() {
    let folder = folder("hostile");
    let expected: Value =
        serde_json::from_slice(&std::fs::read(root().join("tests/hostile/expected.json")).unwrap()).unwrap();
    let (summary, _) = run(&folder, "tune @tests/hostile --json --seed 3");
    assert_eq!(summary["refused"], expected["refused"]);
    assert_eq!(summary["config"], expected["config"]);
    let trials = trials(&folder);
    for (deed, gate) in expected["gates"].as_object().unwrap() {
        let of = |t: &&Value| t["config"].as_str() == Some(&format!("DEED={deed}"));
        let refused: Vec<&Value> = trials.iter().filter(of).collect();
        assert_eq!(refused.len(), 1, "{deed}");
        assert_eq!(&refused[0]["refusal"]["gate"], gate, "{deed}: {}", refused[0]["refusal"]);
    }
    assert!(!workers_of(&folder), "a worker outlived the study");
}

#[test]
fn kernels_that_only_seem_fast_are_refused_or_gain_nothing() {
    let folder = folder("cheats");
    let expected: Value =
        serde_json::from_slice(&std::fs::read(root().join("tests/cheats/expected.json")).unwrap()).unwrap();
    let (summary, code) = run(&folder, "tune @tests/cheats --json --seed 5 --samples 25");
    assert_eq!((&summary["verdict"], code), (&Value::from("not_reached"), 4), "{summary:#}");
    let trials = trials(&folder);
    for (deed, gate) in expected["gates"].as_object().unwrap() {
        let of = |t: &&Value| t["config"].as_str() == Some(&format!("DEED={deed}")) && !t["refusal"].is_null();
        let refused: Vec<&Value> = trials.iter().filter(of).collect();
        assert!(!refused.is_empty() && refused.iter().all(|t| &t["refusal"]["gate"] == gate), "{deed}: {refused:?}");
    }
    for deed in expected["vain"].as_array().unwrap() {
        let deed = deed.as_str().unwrap();
        // Where it is right it has done the work, and what it saves is nothing; where it has not, it is refused. Chance makes
        // one of equals faster now and then, but not every time.
        let gains = (5..8).all(|seed| {
            let line = format!("bench @tests/cheats --config DEED={deed} --json --seed {seed} --max-samples 100");
            let (found, code) = run(&folder, &line);
            assert!(matches!(code, 0 | 3), "{deed}: {code} {found:#}");
            code == 0 && found["workloads"][0]["baselines"][0]["verdict"] == "faster"
        });
        assert!(!gains, "{deed}");
    }
}

#[test]
fn a_study_confirms_a_winner_tells_its_story_and_writes_it_down() {
    let folder = folder("softmax");
    let (summary, code) = run(&folder, "tune @kernels/softmax --json --trials 12 --samples 25 --seed 5 --out out");
    let keys: Vec<&str> = summary.as_object().unwrap().keys().map(String::as_str).collect();
    for key in ["verdict", "workloads", "config", "speedup", "speedup_ci95", "trials", "refused", "seconds", "study"] {
        assert!(keys.contains(&key), "{key} is missing from {keys:?}");
    }
    for key in ["name", "best_ms", "best_ci95_ms", "baseline_ms", "speedup", "speedup_ci95", "cliffs_delta", "p_value"]
    {
        assert!(!summary["workloads"][0][key].is_null(), "{key} is missing");
    }
    // How fast it is, and how surely, is the machine's doing; that the code says the same as the verdict is ours.
    let verdict = summary["verdict"].as_str().unwrap();
    assert!(matches!((verdict, code), ("reached", 0) | ("not_reached", 4)), "{verdict} with code {code}");
    // The default, twelve trials, and what the ablation alone tried; two workloads tuned and one holdout.
    assert_eq!(summary["trials"].as_u64().unwrap() - summary["ablated"].as_u64().unwrap(), 13);
    assert_eq!(summary["workloads"].as_array().unwrap().len(), 3);
    let best = std::fs::read_to_string(folder.join("out/best.toml")).unwrap();
    let best = best.split("[cpu.config]\n").nth(1).unwrap();
    for (name, value) in summary["config"].as_object().unwrap() {
        assert!(best.lines().any(|line| line == format!("{name} = {value}")), "{name} = {value} is not in {best}");
    }
    let header = std::fs::read_to_string(folder.join("out/best_cpu.h")).unwrap();
    assert!(header.contains("#define VEC "), "{header}");

    let history = run(&folder, "history --json").0;
    assert_eq!(history["studies"][0]["verdict"], summary["verdict"], "{history}");
    // The same record gives the same answer, without a compiler or a worker.
    let id = summary["study"].as_str().unwrap();
    let mut replay = command(&folder, &format!("tune @kernels/softmax --replay {id} --json"));
    let output = replay.env("CC", "/nonexistent/cc").env("KILN_PYTHON", "/nonexistent/python").output().unwrap();
    let mut again: Value = serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|e| panic!("{e}: {}", String::from_utf8_lossy(&output.stderr)));
    again["seconds"] = summary["seconds"].clone();
    assert_eq!(again, summary);
}

#[test]
fn a_killed_study_goes_on_where_it_was() {
    let folder = folder("killed");
    let line = "tune @kernels/softmax --trials 16 --samples 25 --no-ablation --seed 7 --json";
    let mut known: Vec<_> = Vec::new();
    for round in 0..3 {
        let line = if round == 0 { line } else { "tune @kernels/softmax --resume --json" };
        let mut child = spawn(&folder, line);
        wait_for_trials(&folder, &mut child, known.len() + 3);
        child.kill().unwrap();
        child.wait().unwrap();
        let now: Vec<_> = trials(&folder).iter().map(essence).collect();
        assert!(now.len() >= known.len() + 3, "the study ended by itself");
        assert_eq!(&now[..known.len()], &known[..], "recorded trials changed");
        known = now;
    }
    let (summary, _) = run(&folder, "tune @kernels/softmax --resume --json");
    assert_eq!(summary["trials"], 17);
    let all: Vec<_> = trials(&folder).iter().map(essence).collect();
    assert_eq!(&all[..known.len()], &known[..], "recorded trials changed");
    let mut numbers: Vec<_> = all.iter().map(|t| (t.0.clone(), t.1)).collect();
    numbers.sort();
    numbers.dedup();
    assert_eq!(numbers.len(), all.len(), "a trial was repeated");
    // Nothing is left to go on with.
    let output = command(&folder, "tune @kernels/softmax --resume").output().unwrap();
    assert_eq!(output.status.code(), Some(2));
}

#[test]
fn ctrl_c_saves_and_says_how_to_go_on() {
    let folder = folder("interrupted");
    let mut child = spawn(&folder, "tune @kernels/softmax --trials 60 --seed 9");
    wait_for_trials(&folder, &mut child, 2);
    let killed = Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    assert!(killed.success());
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(130));
    let said = String::from_utf8_lossy(&output.stderr).to_string();
    assert!(said.contains("--resume"), "{said}");
    let study = run(&folder, "show last --json").0;
    assert_eq!(study["study"]["state"], "interrupted");
    assert!(!workers_of(&folder), "a worker outlived the study");
}

#[test]
fn mistakes_are_told_with_what_was_expected() {
    let folder = folder("mistakes");
    let said = |line: &str, code: i32| {
        let output = command(&folder, line).output().unwrap();
        let text = String::from_utf8_lossy(&output.stderr).to_string();
        assert_eq!(output.status.code(), Some(code), "{line}: {text}");
        text
    };
    assert!(said("tune @kernels/softmax --baseline nump", 2).contains("naive"));
    assert!(said("tune @kernels/softmax --strategy tpa", 2).contains("tpe"));
    for flag in ["--minutes nan", "--minutes 0", "--cost 1 --price 0", "--target-speedup inf"] {
        assert!(said(&format!("tune @kernels/softmax {flag}"), 2).contains("above 0"), "{flag}");
    }
    assert!(said("tune @kernels/softmax --threads 0", 2).contains("at least 1"));
    assert!(said("tune @kernels/softmax --resume", 2).contains("no unfinished study"));
    assert!(said("tune @kernels/softmax --samples 3", 2).contains("at least 25"));
    // A target may be no more than a space.
    let spaces = "[kernel]\nname = \"k\"\n[tunables]\nN = [1, 2]\n[target.cpu]\nsource = \"k.c\"\n[target.cuda]\n";
    std::fs::write(folder.join("kernel.toml"), spaces).unwrap();
    let no_source = said("tune kernel.toml --target cuda", 2);
    assert!(no_source.contains("has no source") && no_source.contains("--target cpu"), "{no_source}");
    assert!(said("check @kernels/softmax --config VEC=5", 2).contains("4, 8, 16"));
    // What a constraint refuses is no mistake of the command line.
    let (refused, code) = run(&folder, "check @kernels/softmax --config GROUP=4,CHAINS=8 --json");
    assert_eq!((code, &refused["refusal"]["rule"]), (3, &"registers".into()), "{refused:#}");
}

#[test]
fn a_workload_that_cannot_be_set_up_is_told_wherever_it_stands() {
    let folder = folder("set-up");
    let text = std::fs::read_to_string(root().join("kernels/softmax/kernel.toml")).unwrap();
    for file in ["softmax.c", "naive.c", "baseline.py"] {
        std::fs::copy(root().join("kernels/softmax").join(file), folder.join(file)).unwrap();
    }
    // Tuned; for checking only; and more than any memory.
    for (dims, instead, words) in [
        ("ROWS = 256, COLS = 4096", "ROWS = -256, COLS = 4096", "a dimension of x is -256 in workload long"),
        ("ROWS = 5, COLS = 7", "ROWS = -5, COLS = 7", "a dimension of x is -5 in workload narrow"),
        ("ROWS = 256, COLS = 4096", "ROWS = 200000000, COLS = 4096", "setting workload long up"),
    ] {
        assert!(text.contains(dims));
        std::fs::write(folder.join("kernel.toml"), text.replace(dims, instead)).unwrap();
        let output = command(&folder, "check .").output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr).to_string();
        assert!(!output.status.success() && said.contains(words), "{said}");
    }
}

fn spawn(folder: &Path, line: &str) -> Child {
    command(folder, line).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
}

/// Waits until so many trials are recorded.
fn wait_for_trials(folder: &Path, child: &mut Child, count: usize) {
    let started = Instant::now();
    loop {
        let output = command(folder, "show last --json").output().unwrap();
        let recorded = serde_json::from_slice::<Value>(&output.stdout);
        let recorded = recorded.ok().and_then(|study| Some(study["trials"].as_array()?.len())).unwrap_or(0);
        if recorded >= count || child.try_wait().unwrap().is_some() {
            return;
        }
        assert!(started.elapsed() < Duration::from_secs(120), "no trials after two minutes");
        std::thread::sleep(Duration::from_millis(50));
    }
}

/// Whether a worker still runs in this folder.
fn workers_of(folder: &Path) -> bool {
    let found = || {
        std::fs::read_dir("/proc").unwrap().flatten().any(|process| {
            let is_worker = std::fs::read(process.path().join("cmdline"))
                .is_ok_and(|line| String::from_utf8_lossy(&line).contains("worker\0cpu"));
            is_worker && std::fs::read_link(process.path().join("cwd")).is_ok_and(|cwd| cwd == folder)
        })
    };
    // Ended workers are reaped by whoever is left; give that a moment.
    (0..600).all(|turn| {
        std::thread::sleep(Duration::from_millis(if turn == 0 { 0 } else { 50 }));
        found()
    })
}
