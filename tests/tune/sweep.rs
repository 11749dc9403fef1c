//! `kiln sweep`: shapes that are won and lost by a factor of a hundred or more, so that no noise decides, shapes that are refused,
//! an end by Ctrl-C, and what goes on afterwards.

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::{Value, json};

use crate::{command, folder, run};

/// Doubles numbers, and wastes time below 1000 of them. It is wrong at 96.
const KERNEL: &str = r#"#include <stdint.h>
static volatile float sink;
void twice(const float *x, float *y, int64_t n) {
    if (n < 1000)
        for (int64_t i = 0; i < 100 * n; i++) sink += x[i % n];
    for (int64_t i = 0; i < n; i++) y[i] = 2 * x[i];
    if (n == 96) y[7] += 1;
}
"#;
/// Wastes it from 1000 on, and is wrong at 48.
const PLAIN: &str = r#"#include <stdint.h>
static volatile float sink;
void plain(const float *x, float *y, int64_t n) {
    if (n >= 1000)
        for (int64_t i = 0; i < 100 * n; i++) sink += x[i % n];
    for (int64_t i = 0; i < n; i++) y[i] = 2 * x[i];
    if (n == 48) y[7] += 1;
}
"#;
const FILE: &str = r#"
[kernel]
name = "twice"
entry = "twice"
[tunables]
WAY = [1, 2]
[default]
WAY = 1
[constraints]
few = "N <= 100000"
[target.cpu]
source = "twice.c"
tuned = "tuned.toml"
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
name = "usual"
dims = { N = 512 }
[reference]
builtin = "elementwise"
expressions = { y = "2 * x" }
[baselines]
plain = "plain.c:plain"
[sweep]
dims = { N = "64..4096:x4" }
"#;
const FAST: &str = "--samples 25 --max-samples 25 --seed 3";

fn kernel(name: &str) -> PathBuf {
    let folder = folder(name);
    for (file, text) in [("twice.c", KERNEL), ("plain.c", PLAIN), ("kernel.toml", FILE)] {
        std::fs::write(folder.join(file), text).unwrap();
    }
    folder
}

fn sizes(cells: &Value) -> Vec<i64> {
    let mut sizes: Vec<i64> =
        cells.as_array().unwrap().iter().map(|cell| cell["dims"]["N"].as_i64().unwrap()).collect();
    sizes.sort();
    sizes
}

fn at(object: &Value, n: i64) -> Value {
    let cells = object["cells"].as_array().unwrap();
    cells.iter().find(|cell| cell["dims"]["N"] == n).unwrap_or_else(|| panic!("{n} in {object:#}")).clone()
}

#[test]
fn the_cross_over_is_found_and_recorded() {
    let folder = kernel("sweep");
    let (object, code) = run(&folder, &format!("sweep . {FAST} --out maps --json"));
    assert_eq!(code, 0);
    assert_eq!(sizes(&object["cells"]), [64, 256, 1024, 4096]);
    let verdict = |n: i64| at(&object, n)["baselines"][0]["verdict"].clone();
    assert_eq!([64, 256, 1024, 4096].map(verdict), ["slower", "slower", "faster", "faster"]);
    let [only] = &object["crossovers"].as_array().unwrap()[..] else { panic!("{object:#}") };
    assert_eq!(only["between"], json!([256.0, 1024.0]));
    assert_eq!((&only["axis"], &only["wins_above"]), (&json!("N"), &json!(true)));
    let size = only["at"].as_f64().unwrap();
    assert!((256.0..1024.0).contains(&size), "{size}");
    let count = &object["summary"][0];
    assert_eq!((&count["faster"], &count["slower"], &count["refused"]), (&json!(2), &json!(2), &json!(0)));
    // The ends come first, then what lies between a win and a loss.
    let order: Vec<&Value> = object["cells"].as_array().unwrap().iter().map(|cell| &cell["dims"]["N"]).collect();
    assert_eq!(order[..2], [&json!(64), &json!(4096)]);

    let svg = std::fs::read_to_string(folder.join("maps/sweep-plain.svg")).unwrap();
    assert!(svg.contains("twice: speedup over plain") && svg.contains(">4096<"), "{svg}");
    let saved: Value = serde_json::from_slice(&std::fs::read(folder.join("maps/sweep.json")).unwrap()).unwrap();
    assert_eq!(saved, object);

    // It is a run like others: shown by its id, listed, and every sample can be compared.
    let id = object["run"]["short_id"].as_str().unwrap();
    let (shown, _) = run(&folder, &format!("show {id} --json"));
    assert_eq!((&shown["cells"], &shown["crossovers"]), (&object["cells"], &object["crossovers"]));
    let words = text(&folder, &format!("show {id}"));
    assert!(
        words.contains("faster than plain above N = ") && words.contains("slower at 256, faster at 1024"),
        "{words}"
    );
    let history = text(&folder, "history");
    assert!(history.contains(id) && history.contains("4 shapes"), "{history}");
    let (compared, _) = run(&folder, &format!("compare {id} {id} --json"));
    assert_eq!(compared["workloads"].as_array().unwrap().len(), 4, "{compared:#}");
    let reproduced = command(&folder, &format!("reproduce {id}")).output().unwrap();
    assert_eq!(reproduced.status.code(), Some(2));
}

/// What a command prints for people.
fn text(folder: &Path, line: &str) -> String {
    let output = command(folder, line).output().unwrap();
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn a_shape_without_figures_says_why() {
    let folder = kernel("sweep-refused");
    let (object, code) = run(&folder, &format!("sweep . --dim N=48,64,96,200000 {FAST} --json"));
    assert_eq!(code, 0);
    assert_eq!(at(&object, 96)["refusal"]["gate"], "numerics");
    assert_eq!(at(&object, 200_000)["refusal"]["rule"], "few");
    assert_eq!(at(&object, 48)["unmeasured"][0]["gate"], "numerics");
    assert_eq!(at(&object, 64)["baselines"][0]["verdict"], "slower");
    let count = &object["summary"][0];
    assert_eq!((&count["refused"], &count["unmeasured"], &count["slower"]), (&json!(2), &json!(1), &json!(1)));
    let words = text(&folder, &format!("show {}", object["run"]["short_id"].as_str().unwrap()));
    for part in ["numerics", "constraint", "no baseline", "N=96: refused by numerics", "N=48: plain: numerics"] {
        assert!(words.contains(part), "{part}: {words}");
    }
    // Nothing measured at all.
    let refused = command(&folder, &format!("sweep . --dim N=96 {FAST}")).output().unwrap();
    assert_eq!(refused.status.code(), Some(3), "{}", String::from_utf8_lossy(&refused.stdout));
    let wrong = command(&folder, "sweep . --dim M=1,2").output().unwrap();
    assert!(wrong.status.code() == Some(2) && String::from_utf8_lossy(&wrong.stderr).contains("expected one of N"));
}

#[test]
fn each_shape_has_the_nearest_tuned_configuration() {
    let folder = kernel("sweep-tuned");
    let entry = |name: &str, n: i64, way: i64| {
        format!("[[tuned]]\nworkload = \"{name}\"\ndims = {{ N = {n} }}\nconfig = {{ WAY = {way} }}\n")
    };
    std::fs::write(folder.join("tuned.toml"), entry("short", 64, 1) + &entry("long", 4096, 2)).unwrap();
    let (object, _) = run(&folder, &format!("sweep . --dim N=64,300,1024 {FAST} --json"));
    let of = |n: i64| (at(&object, n)["config"]["WAY"].clone(), at(&object, n)["tuned"].clone());
    assert_eq!(of(64), (json!(1), json!("short")));
    assert_eq!(of(300), (json!(1), json!("short")));
    assert_eq!(of(1024), (json!(2), json!("long")));
    let (object, _) = run(&folder, &format!("sweep . --dim N=64 --config WAY=2 {FAST} --json"));
    assert_eq!((&at(&object, 64)["config"]["WAY"], &at(&object, 64)["tuned"]), (&json!(2), &Value::Null));
}

#[test]
fn what_was_interrupted_goes_on() {
    let folder = kernel("sweep-interrupted");
    let dims = "--dim N=64,128,192,256,320,384,448,512,1024,2048,4096";
    let mut child = command(&folder, &format!("sweep . {dims} {FAST} --json"))
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let lines = BufReader::new(child.stderr.take().unwrap()).lines();
    let mut lines = lines.map_while(Result::ok);
    assert!(lines.any(|line| line.contains("against plain")), "no shape was measured");
    assert!(Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap().success());
    lines.for_each(drop);
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(130));
    let first: Value = serde_json::from_slice(&output.stdout).unwrap();
    let measured = first["cells"].as_array().unwrap().len();
    assert!((1..11).contains(&measured) && first["ended"] == "interrupted", "{first:#}");
    assert_eq!(measured + first["left"].as_array().unwrap().len(), 11);

    // A moment is enough for one more shape, and the rest is left again.
    let (second, code) = run(&folder, "sweep . --resume last --minutes 0.0001 --json");
    assert_eq!((code, &second["run"]["id"]), (0, &first["run"]["id"]));
    assert_eq!(second["cells"].as_array().unwrap().len(), measured + 1);
    let words = text(&folder, &format!("show {}", second["run"]["short_id"].as_str().unwrap()));
    assert_eq!(words.contains("--resume"), measured + 1 < 11, "{words}");
    let (all, code) = run(&folder, "sweep . --resume last --json");
    assert_eq!((code, sizes(&all["cells"]).len(), &all["ended"]), (0, 11, &Value::Null));
    assert_eq!(all["cells"].as_array().unwrap()[..measured], first["cells"].as_array().unwrap()[..]);
    assert_eq!(run(&folder, "history --json").0["runs"].as_array().unwrap().len(), 1);

    // Not with other code.
    std::fs::write(folder.join("twice.c"), KERNEL.replace("100 *", "200 *")).unwrap();
    let changed = command(&folder, "sweep . --resume last").output().unwrap();
    let said = String::from_utf8_lossy(&changed.stderr);
    assert!(changed.status.code() == Some(2) && said.contains("sources have changed since sweep"), "{said}");
}
