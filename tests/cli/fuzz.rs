//! `kiln fuzz` on kernels in C with the mistakes that kernels have: the smallest failing case is found, replayed and kept.

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use crate::run::{Ran, empty_folder, kiln_in};

/// Twice every row of a matrix.
pub(crate) const FILE: &str = r#"
[kernel]
name = "twice"
entry = "twice"
[tunables]
BLOCK = [16, 64]
WAY = [1, 2]
[default]
BLOCK = 64
WAY = 1
[target.cpu]
source = "twice.c"
[[arguments]]
name = "x"
type = "f32[S, D]"
role = "in"
[[arguments]]
name = "y"
type = "f32[S, D]"
role = "out"
[[arguments]]
name = "s"
type = "i64"
role = "scalar"
value = "S"
[[arguments]]
name = "d"
type = "i64"
role = "scalar"
value = "D"
[[workloads]]
name = "small"
dims = { S = 64, D = 8 }
[[workloads]]
name = "large"
dims = { S = 250, D = 3 }
use = "check"
[reference]
builtin = "elementwise"
expressions = { y = "2 * x" }
[baselines]
plain = "plain.c:twice"
wrong = "wrong.c:twice"
"#;

/// A kernel that computes row `r` from row FROM, for all rows that pass IF.
pub(crate) fn source(from: &str, guard: &str) -> String {
    format!(
        "#include <stdint.h>\n\
         void twice(const float *x, float *y, int64_t s, int64_t d) {{\n\
         for (int64_t r = 0; r < s; ++r)\n\
         if ({guard}) for (int64_t c = 0; c < d; ++c) y[r * d + c] = 2 * x[({from}) * d + c];\n}}\n"
    )
}

/// A kernel's folder.
pub(crate) fn kernel(name: &str, from: &str, guard: &str) -> PathBuf {
    let folder = empty_folder(name);
    std::fs::write(folder.join("kernel.toml"), FILE).unwrap();
    std::fs::write(folder.join("twice.c"), source(from, guard)).unwrap();
    std::fs::write(folder.join("plain.c"), source("r", "1")).unwrap();
    std::fs::write(folder.join("wrong.c"), source("r", "r != 6")).unwrap();
    folder
}

pub(crate) fn fuzz(folder: &Path, words: &[&str]) -> Ran {
    kiln_in(folder, &[&["fuzz", "."], words].concat())
}

/// The object it prints.
pub(crate) fn object(folder: &Path, words: &[&str], code: i32) -> Value {
    let ran = fuzz(folder, &[words, &["--json"]].concat());
    assert_eq!(ran.code, code, "{}{}", ran.out, ran.err);
    serde_json::from_str(&ran.out).unwrap_or_else(|e| panic!("{e}: {}{}", ran.out, ran.err))
}

/// The smallest case that fails, and the gate.
pub(crate) fn smallest(object: &Value) -> (&str, &str) {
    let failure = &object["failure"];
    (failure["smallest"]["case"].as_str().unwrap(), failure["refusal"]["gate"].as_str().unwrap())
}

#[test]
fn what_is_wrong_beyond_one_tile_of_64_rows_shrinks_to_65() {
    let folder = kernel("fuzz_tile", "r < 64 ? r : r - 64", "1");
    for seed in ["1", "2", "3"] {
        let _ = std::fs::remove_dir_all(folder.join(".kiln/fuzz"));
        let found = object(&folder, &["--seed", seed], 3);
        assert_eq!(smallest(&found), ("S=65,D=1; inputs=declared; seed=0", "numerics"), "{found:#}");
        assert_eq!(found["failure"]["smallest"]["config"].to_string(), r#"{"BLOCK":64,"WAY":1}"#);
        assert_eq!((&found["failure"]["complete"], &found["failure"]["steady"]), (&true.into(), &true.into()));
    }
}

/// One row that is left over after whole tiles of 16 is forgotten: off by one in the tail, in one configuration alone.
#[test]
fn a_row_forgotten_in_the_tail_shrinks_to_the_first_tile_and_one_row() {
    let guard = "!(BLOCK == 16 && s % 16 == 1 && s > 16 && r == s - 1)";
    let folder = kernel("fuzz_tail", "r", guard);
    let found = object(&folder, &["--seed", "1", "--cases", "400"], 3);
    assert_eq!(smallest(&found), ("S=17,D=1; inputs=constant; seed=0", "unwritten_output"), "{found:#}");
    assert_eq!(found["failure"]["smallest"]["config"].to_string(), r#"{"BLOCK":16,"WAY":1}"#);
    // The element is that of the forgotten row.
    assert!(found["failure"]["refusal"].to_string().contains("16"), "{found:#}");
}

#[test]
fn a_failing_case_replays_and_runs_first_until_it_is_fixed() {
    let folder = kernel("fuzz_kept", "r < 64 ? r : r - 64", "1");
    let ran = fuzz(&folder, &["--seed", "5"]);
    assert_eq!(ran.code, 3, "{}{}", ran.out, ran.err);
    let replay = ran.out.lines().find_map(|line| line.trim().strip_prefix("replay: kiln ")).unwrap();
    // As a shell takes it.
    let line = format!("{} {replay} --json", env!("CARGO_BIN_EXE_kiln"));
    let again = Command::new("sh").args(["-c", &line]).current_dir(&folder).output().unwrap();
    let again_out = String::from_utf8(again.stdout).unwrap();
    assert_eq!(again.status.code(), Some(3), "{line}\n{again_out}");
    let object_again: Value = serde_json::from_str(&again_out).unwrap();
    assert_eq!(smallest(&object_again), ("S=65,D=1; inputs=declared; seed=0", "numerics"));
    // It comes first, and nothing new is drawn while it fails.
    let kept = object(&folder, &["--seed", "6"], 3);
    assert_eq!((&kept["kept"][0]["now"], &kept["cases_passed"]), (&"fails".into(), &0.into()), "{kept:#}");
    assert_eq!(kept["failure"], Value::Null);
    // Fixed, and from then on a case like any other that must pass.
    std::fs::write(folder.join("twice.c"), source("r", "1")).unwrap();
    let fixed = object(&folder, &["--seed", "6", "--cases", "20"], 0);
    assert_eq!((&fixed["kept"][0]["now"], &fixed["cases_passed"]), (&"fixed".into(), &20.into()), "{fixed:#}");
    let text = std::fs::read_to_string(folder.join(fixed["cases_file"].as_str().unwrap())).unwrap();
    assert!(text.contains("state = \"fixed\"") && text.contains("S=65,D=1; inputs=declared; seed=0"), "{text}");
    let later = object(&folder, &["--seed", "7", "--cases", "20"], 0);
    assert_eq!(later["kept"][0]["now"], "passes");
    std::fs::write(folder.join("twice.c"), source("r < 64 ? r : r - 64", "1")).unwrap();
    assert_eq!(object(&folder, &["--seed", "8"], 3)["kept"][0]["now"], "fails");
}

#[test]
fn the_same_seed_gives_the_same_cases_however_many_are_asked_about_at_once() {
    let folder = kernel("fuzz_seed", "r", "s != 33 || r != 0");
    let found = |jobs: &str| {
        let _ = std::fs::remove_dir_all(folder.join(".kiln/fuzz"));
        let mut object = object(&folder, &["--seed", "11", "--cases", "400", "--jobs", jobs], 3);
        object["seconds"] = Value::Null;
        object
    };
    let one = found("1");
    assert_eq!(smallest(&one), ("S=33,D=1; inputs=constant; seed=0", "unwritten_output"));
    assert_eq!(one, found("3"));
}

#[test]
fn a_baseline_is_fuzzed_like_the_kernel() {
    let folder = kernel("fuzz_baseline", "r", "1");
    assert_eq!(object(&folder, &["--baseline", "plain", "--cases", "20"], 0)["cases_passed"], 20);
    let found = object(&folder, &["--baseline", "wrong", "--seed", "1"], 3);
    assert_eq!(smallest(&found), ("S=7,D=1; inputs=constant; seed=0", "unwritten_output"), "{found:#}");
    assert!(found["failure"]["replay"].as_str().unwrap().contains("--baseline wrong --case"), "{found:#}");
    let ran = fuzz(&folder, &["--baseline", "plan"]);
    assert_eq!(ran.code, 2);
    assert!(ran.err.contains("there is no baseline `plan`") && ran.err.contains("did you mean plain?"), "{}", ran.err);
}

#[test]
fn a_hundred_good_runs_validate_a_configuration() {
    let folder = kernel("fuzz_runs", "r", "1");
    let ran = fuzz(&folder, &["--runs", "100", "--seed", "2"]);
    assert_eq!(ran.code, 0, "{}{}", ran.out, ran.err);
    assert!(ran.out.contains("\nvalidated: 100 good runs of BLOCK=64,WAY=1 on 77 shapes\n"), "{}", ran.out);
    let ran = fuzz(&folder, &["--runs", "10", "--config", "WAY=2"]);
    assert!(ran.code == 0 && ran.out.contains("not validated: that takes 100 good runs"), "{}{}", ran.out, ran.err);
    let history = kiln_in(&folder, &["history", "--json"]);
    let object: Value = serde_json::from_str(&history.out).unwrap();
    let made = &object["validated"];
    assert_eq!(made.as_array().map(Vec::len), Some(1), "{object:#}");
    assert_eq!((&made[0]["config"], &made[0]["runs"]), (&"BLOCK=64,WAY=1".into(), &100.into()));
    let history = kiln_in(&folder, &["history"]);
    assert!(history.out.contains("100 good runs"), "{}", history.out);
    // Of other sources nothing is known.
    let source = std::fs::read_to_string(folder.join("twice.c")).unwrap();
    std::fs::write(folder.join("twice.c"), format!("{source}\n// changed\n")).unwrap();
    let history = kiln_in(&folder, &["history"]);
    assert!(!history.out.contains("good runs"), "{}", history.out);
    // What the whole check refuses is not validated: this one is right the first forty times.
    let spoiled = source.replacen('{', "{ static int calls; if (++calls > 40) return;", 1);
    std::fs::write(folder.join("twice.c"), spoiled).unwrap();
    assert_eq!(kiln_in(&folder, &["check", ".", "--full"]).code, 3);
    let ran = fuzz(&folder, &["--runs", "100", "--seed", "2"]);
    assert!(ran.code == 3 && !ran.out.contains("validated: 100"), "{}{}", ran.out, ran.err);
}

#[test]
fn shapes_that_are_none_of_the_kernels_are_excluded() {
    let folder = kernel("fuzz_stated", "r", "s % 4 == 0 && s <= 128");
    let text = format!("{FILE}[fuzz]\ndims = {{ S = [4, 128] }}\nvalid = \"S % 4 == 0\"\n");
    std::fs::write(folder.join("kernel.toml"), text.replace("S = 250", "S = 128")).unwrap();
    let passed = object(&folder, &["--seed", "1", "--cases", "60"], 0);
    assert_eq!(passed["cases_passed"], 60, "{passed:#}");
    // A constraint of the space that a shape breaks is no failure either.
    let folder = kernel("fuzz_constraint", "r", "s >= BLOCK || BLOCK == 16");
    let text = FILE.replace("[default]", "[constraints]\nrows = \"S >= BLOCK or BLOCK == 16\"\n[default]");
    std::fs::write(folder.join("kernel.toml"), &text).unwrap();
    let ran = fuzz(&folder, &["--case", "S=5"]);
    assert_eq!(ran.code, 2, "{}{}", ran.out, ran.err);
    assert!(ran.err.contains("--case: S=5,D=8 breaks the constraint rows"), "{}", ran.err);
    assert!(ran.err.contains("expected S >= BLOCK or BLOCK == 16"), "{}", ran.err);
    assert_eq!(object(&folder, &["--seed", "1", "--cases", "60"], 0)["cases_passed"], 60);
}

#[test]
fn suites_are_checked_smallest_first_within_the_time() {
    let folder = kernel("fuzz_suite", "r", "s != 65 || r < 64");
    let suite = "[fuzz.suites.edges]\nshapes = [{ S = [63, 64, 65, 129], D = [1, 8] }]\n\
                 [fuzz.suites.large]\nshapes = [{ S = [40000], D = [1, 2000] }]\n";
    std::fs::write(folder.join("kernel.toml"), format!("{FILE}{suite}")).unwrap();
    let found = object(&folder, &["--suite", "edges"], 3);
    assert_eq!(smallest(&found).0, "S=65,D=1; inputs=constant; seed=0", "{found:#}");
    // A millisecond is over before the first case: nothing is called correct.
    std::fs::remove_dir_all(folder.join(".kiln/fuzz")).unwrap();
    let ran = fuzz(&folder, &["--suite", "large", "--minutes", "0.00001"]);
    assert!(
        ran.code == 1 && ran.err.contains("the time budget ended before the first one"),
        "{} {}",
        ran.code,
        ran.err
    );
    let ran = fuzz(&folder, &["--suite", "edge"]);
    assert_eq!(ran.code, 2);
    assert!(ran.err.contains("--suite: there is no suite `edge`"), "{}", ran.err);
    assert!(ran.err.contains("expected one of edges, large") && ran.err.contains("did you mean edges?"), "{}", ran.err);
}

#[test]
fn mistakes_are_named_and_nothing_is_lost() {
    let folder = kernel("fuzz_mistakes", "r < 64 ? r : r - 64", "1");
    for (words, said) in [
        (&["--case", "H=4"][..], "--case: there is no dimension `H`"),
        (&["--case", "S=a"], "--case: S is a"),
        (&["--case", "inputs=spiek"], "did you mean spike?"),
        (&["--cases", "0"], "--cases is 0"),
        (&["--minutes", "nan"], "--minutes is NaN"),
        (&["--jobs", "0"], "--jobs is 0"),
        (&["--config", "BLOCK=7"], "7 is not a value of BLOCK"),
        (&["--suite", "edges"], "the kernel file has none"),
    ] {
        let ran = fuzz(&folder, words);
        assert!(ran.code == 2 && ran.err.contains(said), "{words:?}: {} {}", ran.code, ran.err);
    }
    assert_eq!(fuzz(&folder, &["--seed", "1"]).code, 3);
    let file = std::fs::read_dir(folder.join(".kiln/fuzz")).unwrap().next().unwrap().unwrap().path();
    let text = std::fs::read_to_string(&file).unwrap();
    for (damaged, said) in [
        (text[..text.len() / 2].to_string(), "is not TOML"),
        (text.replace("version = 1", "version = 9"), "has version 9"),
        (text.replace("target = ", "taget = "), "a case lacks target"),
    ] {
        std::fs::write(&file, &damaged).unwrap();
        let ran = fuzz(&folder, &["--seed", "2"]);
        assert!(ran.code == 2 && ran.err.contains(said), "{said}: {} {}", ran.code, ran.err);
        assert_eq!(std::fs::read_to_string(&file).unwrap(), damaged, "it is left as it is");
    }
    // A case that no longer fits the file is skipped and stays.
    let other = text.replace("case = \"S=65,D=1", "case = \"S=65,WIDTH=1");
    std::fs::write(&file, &other).unwrap();
    std::fs::write(folder.join("twice.c"), source("r", "1")).unwrap();
    let object = object(&folder, &["--seed", "3", "--cases", "10"], 0);
    assert_eq!(object["kept"][0]["now"], "skipped", "{object:#}");
    assert_eq!(std::fs::read_to_string(&file).unwrap(), other);
}

/// With time left in its budget a study validates its winner; so does `--runs 100` later.
#[test]
fn a_studys_winner_is_validated_when_time_is_left() {
    let folder = kernel("fuzz_winner", "r", "1");
    let words = "tune . --trials 3 --samples 25 --minutes 3 --no-stop --no-ablation --target-speedup 0.01 --baseline plain --seed 1";
    // How fast it is depends on the machine, and is no matter here.
    let tune = |words: &str| {
        let ran = kiln_in(&folder, &words.split_whitespace().collect::<Vec<_>>());
        assert!([0, 4].contains(&ran.code), "{}{}", ran.out, ran.err);
        ran
    };
    let ran = tune(words);
    assert!(ran.err.contains("the winner is validated: 100 good runs on "), "{}", ran.err);
    let validated = |words: &[&str]| {
        let ran = kiln_in(&folder, &[words, &["--json"]].concat());
        let object: Value = serde_json::from_str(&ran.out).unwrap_or_else(|e| panic!("{e}: {}{}", ran.out, ran.err));
        object
    };
    let shown = validated(&["show", "last"]);
    assert_eq!(shown["study"]["validated"][0]["runs"], 100, "{shown:#}");
    assert!(kiln_in(&folder, &["show", "last"]).out.contains("\nvalidated: 100 good runs of BLOCK="));
    assert_eq!(validated(&["history"])["studies"][0]["validated"][0]["runs"], 100);
    let again = object(&folder, &["--study", "last", "--runs", "100"], 0);
    assert_eq!(again["validated"][0]["config"], shown["study"]["validated"][0]["config"], "{again:#}");
    // Of other sources it says nothing: a new study of them has none until it is validated.
    std::fs::write(folder.join("twice.c"), format!("{}\n", source("r", "1"))).unwrap();
    tune(&words.replace("--minutes 3 ", ""));
    assert_eq!(validated(&["show", "last"])["study"]["validated"], Value::Array(vec![]));
}

/// Ctrl-C: what passed is reported, and a case that is being shrunk is kept.
#[test]
fn an_interrupted_run_says_what_it_did() {
    let folder = kernel("fuzz_interrupted", "r", "1");
    // Every call takes long enough to be interrupted.
    let slow = "#include <stdint.h>\n#include <unistd.h>\n\
                void twice(const float *x, float *y, int64_t s, int64_t d) {\n\
                usleep(20000); for (int64_t i = 0; i < s * d; ++i) y[i] = 2 * x[i];\n}\n";
    std::fs::write(folder.join("twice.c"), slow).unwrap();
    let child = Command::new(env!("CARGO_BIN_EXE_kiln"))
        .args(["fuzz", ".", "--cases", "100000", "--minutes", "10", "--events", "events.jsonl"])
        .current_dir(&folder)
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    let events = folder.join("events.jsonl");
    let is_asking = || std::fs::read_to_string(&events).is_ok_and(|text| text.contains(r#""phase":"fuzz","done":"#));
    while !is_asking() {
        std::thread::sleep(std::time::Duration::from_millis(50));
    }
    assert!(Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap().success());
    let output = child.wait_with_output().unwrap();
    let out = String::from_utf8(output.stdout).unwrap();
    assert_eq!(output.status.code(), Some(130), "{out}{}", String::from_utf8_lossy(&output.stderr));
    assert!(out.contains("interrupted after ") && out.contains(" passed, "), "{out}");
}
