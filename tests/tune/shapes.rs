//! Constraints over dimensions on workloads that nobody tunes for: a kernel that reads beyond its rows where they do not
//! hold is never run there.

use std::path::Path;

use serde_json::Value;

use crate::{command, folder, run};

/// A call on a shape that breaks the constraint ends the process, so that a shape used in spite of it shows as
/// `runtime_failed`.
const SOURCE: &str = "#include <stdint.h>\n#include <stdlib.h>\n\
    void twice(const float *x, float *y, int64_t n) {\n\
    if (n % BLOCK != 0) abort();\n\
    for (int64_t i = 0; i < n; i += BLOCK) for (int64_t j = 0; j < BLOCK; ++j) y[i + j] = 2.0f * x[i + j];\n}\n\
    void plain(const float *x, float *y, int64_t n) { for (int64_t i = 0; i < n; ++i) y[i] = 2.0f * x[i]; }\n";

const FILE: &str = r#"
[kernel]
name = "twice"
entry = "twice"
[tunables]
BLOCK = [8, 24, 32, 96]
[default]
BLOCK = 8
[constraints]
whole = { expr = "N % BLOCK == 0", hint = "there is no loop for a remainder" }
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
name = "even"
dims = { N = 960 }
[[workloads]]
name = "odd"
use = "check"
dims = { N = 72 }
[[workloads]]
name = "kept"
use = "holdout"
dims = { N = 480 }
[reference]
builtin = "elementwise"
expressions = { y = "2 * x" }
[baselines]
plain = "plain.c:plain"
"#;

fn kernel(name: &str, file: &str) -> std::path::PathBuf {
    let folder = folder(name);
    std::fs::write(folder.join("kernel.toml"), file).unwrap();
    std::fs::write(folder.join("twice.c"), SOURCE).unwrap();
    std::fs::write(folder.join("plain.c"), format!("#define BLOCK 1\n{SOURCE}")).unwrap();
    folder
}

/// What a command says on standard error.
fn notes(folder: &Path, line: &str) -> (String, i32) {
    let output = command(folder, line).output().unwrap();
    (String::from_utf8(output.stderr).unwrap(), output.status.code().unwrap())
}

#[test]
fn a_configuration_that_breaks_a_constraint_on_a_listed_workload_is_refused_for_that_reason() {
    let folder = kernel("shapes", FILE);
    let refused = |object: &Value, key: &str| {
        let refusal = &object[key];
        assert_eq!((&refusal["gate"], &refusal["rule"]), (&"constraint".into(), &"whole".into()), "{object:#}");
        assert_eq!(refusal["measured"], "8 == 0");
        assert_eq!(refusal["evidence"], "N = 72, BLOCK = 32, workload odd");
        assert_eq!(refusal["hint"], "there is no loop for a remainder");
    };
    let (object, code) = run(&folder, "check . --config BLOCK=32 --json");
    assert_eq!((code, &object["workload"]), (3, &"odd".into()), "{object:#}");
    refused(&object, "refusal");
    let (object, code) = run(&folder, "bench . --config BLOCK=32 --json");
    assert_eq!(code, 3);
    refused(&object, "refused");
    let (object, code) = run(&folder, "gate . --config BLOCK=32 --static --json");
    assert_eq!(code, 3);
    refused(&object["rules"][0], "refusal");
    assert_eq!(run(&folder, "space . --json").0["valid"], 2);
    // 96 goes into neither of the other two: nobody proposes it, so nothing is refused later.
    let (summary, code) = run(&folder, "tune . --json --samples 25 --no-stop --no-ablation --target-speedup 0.01");
    assert!(matches!(code, 0 | 4), "{summary:#}");
    assert_eq!((&summary["trials"], &summary["refused"], &summary["late"]), (&2.into(), &json("{}"), &json("[]")));
    assert_eq!(summary["workloads"].as_array().unwrap().len(), 2, "{summary:#}");
}

#[test]
fn a_configuration_for_one_workload_is_not_used_where_its_constraints_do_not_hold() {
    let more = "[[workloads]]\nname = \"long\"\ndims = { N = 992 }\n\
        [[workloads]]\nname = \"apart\"\nuse = \"holdout\"\ndims = { N = 100 }\n[reference]";
    let file = FILE.replace("[reference]", more).replace("[8, 24, 32, 96]", "[96]").replace("BLOCK = 8", "BLOCK = 96");
    let folder = kernel("shapes-one", &file);
    let line = "check . --workload even --config BLOCK=96 --full --json";
    let (object, code) = run(&folder, line);
    assert_eq!(code, 0, "{object:#}");
    let asked: Vec<&str> =
        object["questions"].as_array().unwrap().iter().map(|q| q["workload"].as_str().unwrap()).collect();
    assert!(!asked.is_empty() && asked.iter().all(|name| ["even", "kept"].contains(name)), "{asked:?}");
    let (said, _) = notes(&folder, line);
    let note = "note: BLOCK=96 is not used on odd: whole does not hold there, N % BLOCK == 0 with N = 72, BLOCK = 96\n";
    assert!(said.contains(note) && said.contains("is not used on long") && !said.contains("on kept"), "{said}");
    // Confirmed on the one it is for and on the holdout that suits it.
    let tune = "tune . --workload even --json --samples 25 --no-stop --no-ablation --target-speedup 0.01";
    let (summary, code) = run(&folder, tune);
    assert!(matches!(code, 0 | 4), "{summary:#}");
    assert_eq!((&summary["trials"], &summary["refused"]), (&1.into(), &json("{}")), "{summary:#}");
    let confirmed: Vec<&Value> = summary["workloads"].as_array().unwrap().iter().map(|w| &w["name"]).collect();
    assert_eq!(confirmed, ["even", "kept"]);
}

#[test]
fn a_workload_that_no_configuration_suits_is_named() {
    let folder = kernel("shapes-none", &FILE.replace("N = 72", "N = 73"));
    let (object, code) = run(&folder, "check . --json");
    let error = &object["errors"][0];
    assert_eq!((code, &error["label"]), (2, &"some do on all workloads but odd".into()), "{object:#}");
}

fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap()
}
