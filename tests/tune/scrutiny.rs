//! Verdicts say how much was checked, and what to know about inputs and caches: in words and in JSON, of `kiln bench` and of
//! `kiln tune`.

use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::{command, folder, run};

const SOURCE: &str = "#include <stdint.h>\n\
    void twice(const float *x, float *y, int64_t n) { for (int64_t i = 0; i < n; ++i) y[i] = 2.0f * x[i]; }\n";

fn kernel(name: &str, init: &str, n: usize) -> PathBuf {
    let folder = folder(name);
    let arguments = format!(
        "[[arguments]]\nname = \"x\"\ntype = \"f32[N]\"\nrole = \"in\"\ninit = \"{init}\"\n\
         [[arguments]]\nname = \"y\"\ntype = \"f32[N]\"\nrole = \"out\"\n\
         [[arguments]]\nname = \"n\"\ntype = \"i64\"\nrole = \"scalar\"\nvalue = \"N\"\n"
    );
    let file = format!(
        "[kernel]\nname = \"twice\"\nentry = \"twice\"\n[tunables]\nWAY = [1]\n[target.cpu]\nsource = \"twice.c\"\n\
         {arguments}[[workloads]]\nname = \"only\"\ndims = {{ N = {n} }}\n\
         [reference]\nbuiltin = \"elementwise\"\nexpressions = {{ y = \"2 * x\" }}\n\
         [baselines]\nplain = \"plain.c:twice\"\n"
    );
    std::fs::write(folder.join("kernel.toml"), file).unwrap();
    std::fs::write(folder.join("twice.c"), SOURCE).unwrap();
    std::fs::write(folder.join("plain.c"), SOURCE).unwrap();
    folder
}

const BENCH: &str = "bench . --samples 25 --max-samples 25";
const TUNE: &str = "tune . --samples 25 --no-stop --no-ablation --no-prior --target-speedup 0.01";

fn words(folder: &Path, line: &str) -> String {
    String::from_utf8(command(folder, line).output().unwrap().stdout).unwrap()
}

/// The counts agree with each other, and the share with the count.
fn counted(checked: &Value) {
    let count = |key: &str| checked[key].as_u64().unwrap_or_else(|| panic!("{key} in {checked}"));
    // 5 rounds, of which the first three and the fifth are checked; more where the machine made claims look doubtful.
    assert!((4..=8).contains(&count("reference")), "{checked}");
    assert!(count("timed") >= 25 && (4..=count("timed")).contains(&count("compared")), "{checked}");
    let detects = checked["detects"].as_f64().unwrap();
    assert!((detects - (1.0 - 0.001f64.powf(1.0 / count("reference") as f64))).abs() < 1e-12, "{checked}");
}

/// Notes, but for how well short calls are known: that depends on the machine.
fn lasting(notes: &Value) -> Vec<&str> {
    let notes = notes.as_array().unwrap().iter().filter_map(Value::as_str);
    notes.filter(|note| !note.contains("only to within")).collect()
}

#[test]
fn verdicts_state_how_many_timed_calls_were_checked() {
    let folder = kernel("checked", "normal", 512);
    let (object, code) = run(&folder, &format!("{BENCH} --json"));
    assert_eq!(code, 0, "{object:#}");
    counted(&object["workloads"][0]["checked"]);
    assert_eq!(lasting(&object["workloads"][0]["notes"]), Vec::<&str>::new());
    let (summary, _) = run(&folder, &format!("{TUNE} --json"));
    counted(&summary["workloads"][0]["checked"]);
    assert_eq!(lasting(&summary["workloads"][0]["notes"]), Vec::<&str>::new());
    // The record says the same.
    let mut again = run(&folder, "tune . --replay last --json").0;
    again["seconds"] = summary["seconds"].clone();
    assert_eq!(again, summary);
    let line = " % of calls or more would be found (99.9 % confidence)";
    for told in [words(&folder, BENCH), words(&folder, "show last")] {
        assert!(told.contains("timed calls compared with other sides, ") && told.contains(line), "{told}");
    }
}

#[test]
fn inputs_that_never_vary_are_named_in_the_verdict() {
    let folder = kernel("same", "arange", 512);
    let note = "no input is drawn at random: every call sees the same numbers";
    let (object, code) = run(&folder, &format!("{BENCH} --json"));
    assert_eq!((code, &object["workloads"][0]["notes"][0]), (0, &note.into()), "{object:#}");
    let (summary, _) = run(&folder, &format!("{TUNE} --json"));
    assert_eq!(summary["workloads"][0]["notes"][0], note, "{summary:#}");
    for told in [words(&folder, BENCH), words(&folder, "show last")] {
        assert_eq!(told.matches(note).count(), 1, "{told}");
    }
}

#[test]
fn arguments_that_do_not_stay_in_the_cache_are_named_in_the_verdict() {
    // More than half of any cache that a processor has to itself.
    let folder = kernel("beyond", "normal", 1 << 20);
    let object = run(&folder, &format!("{BENCH} --json")).0;
    let note = object["workloads"][0]["notes"][0].as_str().unwrap_or_else(|| panic!("{object:#}"));
    assert!(note.starts_with("one call's arguments (8.39 MB) exceed half of the "), "{note}");
}
