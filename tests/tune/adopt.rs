//! `kiln tune --adopt`: the winner goes into the table the kernel file names, and is what kiln begins with.

use std::path::Path;

use serde_json::Value;

use crate::{command, folder, root, run};

/// The softmax kernel in a folder of its own, with a table.
fn kernel(folder: &Path) {
    for file in ["softmax.c", "naive.c", "baseline.py"] {
        std::fs::copy(root().join("kernels/softmax").join(file), folder.join(file)).unwrap();
    }
    let text = std::fs::read_to_string(root().join("kernels/softmax/kernel.toml")).unwrap();
    let named = text.replace("source = \"softmax.c\"\n", "source = \"softmax.c\"\ntuned = \"results/tuned.toml\"\n");
    assert_ne!(named, text);
    std::fs::write(folder.join("kernel.toml"), named).unwrap();
}

fn config(text: &str) -> Vec<String> {
    let mut parts: Vec<String> = text.split(',').map(|part| part.replace('"', "")).collect();
    parts.sort();
    parts
}

/// A JSON object of values as `NAME=value`.
fn written(object: &Value) -> Vec<String> {
    let pairs = object.as_object().unwrap().iter().map(|(name, value)| format!("{name}={value}"));
    config(&pairs.collect::<Vec<_>>().join(","))
}

#[test]
fn the_winner_is_what_the_next_study_begins_with() {
    let folder = folder("adopt");
    kernel(&folder);
    let line = "tune . --workload short --trials 8 --samples 25 --seed 3 --no-stop --no-prior --adopt --json";
    let (summary, _) = run(&folder, line);
    let winner = written(&summary["config"]);
    let table = std::fs::read_to_string(folder.join("results/tuned.toml")).unwrap();
    assert!(table.contains("workload = \"short\"\ndims = { ROWS = 4096, COLS = 128 }\n"), "{table}");
    for line in ["baseline = \"naive\"", "speedup = ", "study = "] {
        assert_eq!(table.matches(line).count(), 1, "{line} in {table}");
    }
    for entry in summary["ablation"].as_array().unwrap() {
        let (name, value) = (entry["tunable"].as_str().unwrap(), entry["from"].as_str().unwrap());
        assert!(table.contains(&format!("\"{name} {value}: ")), "{name} in {table}");
    }

    // Every verb begins with it, where it serves; another workload of the same target has the nearest, which is this one.
    for workload in ["short", "long"] {
        let (gated, _) = run(&folder, &format!("gate . --workload {workload} --json"));
        assert_eq!(written(&gated["config"]), winner, "{workload}: {gated}");
        assert_eq!(gated["tuned"], "short");
    }
    let again = "tune . --workload short --trials 2 --samples 25 --seed 4 --no-stop --no-prior --no-ablation --json";
    run(&folder, again);
    let trials = run(&folder, "show last --json").0["trials"].as_array().unwrap().clone();
    let first = trials.iter().find(|t| t["phase"] == "default").unwrap();
    assert_eq!(config(first["config"].as_str().unwrap()), winner);

    // A study that began before the table changed is replayed as it was.
    let other = table.replace("VEC = 16", "VEC = 4").replace("VEC = 8", "VEC = 4");
    std::fs::write(folder.join("results/tuned.toml"), other).unwrap();
    let (replayed, _) = run(&folder, "tune . --workload short --replay last --json");
    assert_eq!(replayed["trials"], 3);
}

#[test]
fn without_a_table_nothing_is_tuned_in_vain() {
    let folder = folder("adopt-nowhere");
    let ran = command(&folder, "tune @kernels/softmax --adopt --trials 1").output().unwrap();
    let said = String::from_utf8_lossy(&ran.stderr);
    assert!(!ran.status.success() && said.contains("tuned = \"tuned.toml\""), "{said}");
    assert!(run(&folder, "history --json").0["studies"].as_array().unwrap().is_empty());
}

#[test]
fn a_study_without_a_default_is_replayed_as_it_was_and_an_entry_by_hand_gives_way() {
    let folder = folder("adopt-no-default");
    kernel(&folder);
    let text = std::fs::read_to_string(folder.join("kernel.toml")).unwrap();
    let (before, after) = text.split_once("[target.cpu.default]").unwrap();
    let after = &after[after.find("\n[").unwrap()..];
    std::fs::write(folder.join("kernel.toml"), format!("{before}{after}")).unwrap();
    // Written in a way that lines do not show: what comes later counts.
    let by_hand = "[[tuned]] # by hand\nworkload = 'short'\ndims = { COLS = 128, ROWS = 4096 }\n\
        config = { VEC = 4, CHAINS = 1, GROUP = 1, METHOD = 'online', EXP = 'libm' }\n";
    std::fs::create_dir_all(folder.join("results")).unwrap();
    let line =
        "tune . --workload short --trials 4 --samples 25 --seed 3 --no-stop --no-prior --no-ablation --adopt --json";
    let (summary, _) = run(&folder, line);
    let (replayed, _) = run(&folder, "tune . --workload short --replay last --json");
    assert_eq!((&replayed["trials"], &replayed["config"]), (&summary["trials"], &summary["config"]));

    let written_by_kiln = std::fs::read_to_string(folder.join("results/tuned.toml")).unwrap();
    std::fs::write(folder.join("results/tuned.toml"), format!("{by_hand}{written_by_kiln}")).unwrap();
    let (gated, _) = run(&folder, "gate . --workload short --json");
    assert_eq!(written(&gated["config"]), written(&summary["config"]), "{gated}");
}

#[test]
fn a_study_that_ran_out_of_time_is_replayed_as_it_was() {
    let folder = folder("out-of-time");
    let line = "tune @kernels/softmax --workload short --minutes 0.08 --trials 60 --samples 25 --seed 3 --no-stop --no-prior --target-speedup 1000 --json";
    let (summary, _) = run(&folder, line);
    let (replayed, _) = run(&folder, "tune @kernels/softmax --workload short --replay last --json");
    assert_eq!(replayed["trials"], summary["trials"]);
    assert_eq!(replayed["config"], summary["config"]);
    // What to do next is what was asked for then, and more of it.
    let output = command(&folder, "tune @kernels/softmax --replay last --workload short").output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    let next = text.lines().find(|line| line.contains(" tune ")).unwrap_or_else(|| panic!("{text}"));
    for kept in ["--workload short", "--samples 25", "--trials 120", "--target-speedup 1000", "--no-stop"] {
        assert!(next.contains(kept), "{kept}: {next}");
    }
}

/// A softmax in NumPy, some rows at a time.
const ROWS: &str = r#"import numpy

def softmax(inputs, scalars, outputs, *, PART):
    x, y = inputs["x"], outputs["y"]
    for first in range(0, len(x), PART):
        part = x[first:first + PART]
        power = numpy.exp(part - part.max(axis=1, keepdims=True))
        y[first:first + PART] = power / power.sum(axis=1, keepdims=True)
"#;
const ROWS_TOML: &str = r#"
[kernel]
name = "rows"
entry = "rows.py:softmax"
[target.python]
tuned = "tuned.toml"
[tunables]
PART = [1, 256]
[default]
PART = 1
[[arguments]]
name = "x"
type = "f32[ROWS, COLS]"
role = "in"
[[arguments]]
name = "y"
type = "f32[ROWS, COLS]"
role = "out"
[[workloads]]
name = "rows"
dims = { ROWS = 256, COLS = 16 }
[reference]
builtin = "softmax"
"#;
/// Prints the winner that a call gets.
const USES: &str = "import numpy, kiln, rows\nf = kiln.tuned('tuned.json')(rows.softmax)\n\
x = numpy.ones((256, 16), 'f4')\nf({'x': x}, {}, {'y': x.copy()})\nprint(list(f.kiln.chosen.values()))\n";

#[test]
fn a_python_program_uses_the_winner_and_refuses_it_once_its_source_changed() {
    let folder = folder("adopt-python");
    let python = std::env::var("KILN_PYTHON").unwrap_or_else(|_| "python3".into());
    if !std::process::Command::new(&python).args(["-c", "import numpy"]).status().is_ok_and(|s| s.success()) {
        println!("skipped: no NumPy");
        return;
    }
    std::fs::write(folder.join("rows.py"), ROWS).unwrap();
    std::fs::write(folder.join("kernel.toml"), ROWS_TOML).unwrap();
    let (summary, _) = run(&folder, "tune . --samples 25 --seed 3 --no-stop --no-prior --adopt --json");
    // One row at a time takes about a hundred times as long.
    assert_eq!(summary["config"]["PART"], 256, "{summary:#}");
    let call = || {
        let mut command = std::process::Command::new(&python);
        let path = format!("{}:{}", root().join("python").display(), folder.display());
        // No kiln anywhere.
        let output = command.args(["-B", "-c", USES]).env("PYTHONPATH", path).env("PATH", "").output().unwrap();
        (String::from_utf8(output.stdout).unwrap(), String::from_utf8(output.stderr).unwrap())
    };
    assert_eq!(call(), ("[{'PART': 256}]\n".into(), String::new()));
    std::fs::write(folder.join("rows.py"), format!("{ROWS}# faster\n")).unwrap();
    let (out, error) = call();
    assert!(out.is_empty() && error.contains("rows.py changed since it was tuned"), "{out}{error}");
    assert!(error.contains("hint: tune again: kiln tune . --target python --adopt"), "{error}");
}
