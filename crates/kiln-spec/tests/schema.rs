//! The schema against the reader: what kiln takes the schema takes, and what a schema can refuse it refuses. Files are judged by
//! Python's jsonschema, from the interpreter that KILN_PYTHON names; skipped, and said so, where there is none.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::collections::BTreeSet;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::{Value, json};

/// Reads {"schema", "documents"} and prints for each document null, or what is wrong with it.
const VALIDATE: &str = r#"
import json, sys, tomllib
import jsonschema
asked = json.load(sys.stdin)
jsonschema.Draft7Validator.check_schema(asked["schema"])
validator = jsonschema.Draft7Validator(asked["schema"])
def judge(text):
    try:
        document = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        return f"TOML: {error}"
    errors = [f"{list(e.absolute_path)}: {e.message}"[:300] for e in validator.iter_errors(document)]
    return "; ".join(errors) or None
print(json.dumps([judge(text) for text in asked["documents"]]))
"#;

/// What the schema says of each document; none where there is no jsonschema.
fn judged(documents: &[String]) -> Option<Vec<Option<String>>> {
    let python = std::env::var("KILN_PYTHON").unwrap_or_else(|_| "python3".into());
    let look = Command::new(&python).args(["-c", "import jsonschema, tomllib"]).output();
    if !look.is_ok_and(|output| output.status.success()) {
        println!("skipped: {python} has no jsonschema");
        assert!(std::env::var("KILN_PYTHON").is_err(), "KILN_PYTHON has no jsonschema");
        return None;
    }
    let mut command = Command::new(python);
    let mut child =
        command.args(["-c", VALIDATE]).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("Python starts");
    let asked = json!({ "schema": kiln_spec::schema(), "documents": documents });
    child.stdin.take().unwrap().write_all(asked.to_string().as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success());
    Some(serde_json::from_slice(&output.stdout).unwrap())
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Every kernel.toml below a folder.
fn kernel_files(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap();
        if path.is_dir() && !name.starts_with('.') && name != "target" {
            kernel_files(&path, found);
        } else if name == "kernel.toml" {
            found.push(path);
        }
    }
}

#[test]
fn every_kernel_of_the_repository_is_valid() {
    let mut files = Vec::new();
    kernel_files(&root(), &mut files);
    let good = std::fs::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/good")).unwrap();
    files.extend(good.map(|entry| entry.unwrap().path()).filter(|path| path.extension().is_some_and(|e| e == "toml")));
    assert!(files.len() > 20, "{}", files.len());
    // The one that `kiln init` writes has a place for the name.
    let text = |path: &PathBuf| std::fs::read_to_string(path).unwrap().replace("{{name}}", "sample");
    let texts: Vec<String> = files.iter().map(text).collect();
    for (path, wrong) in files.iter().zip(judged(&texts).into_iter().flatten()) {
        assert_eq!(wrong, None, "{}", path.display());
    }
}

/// Mistakes that no schema can see, and why. All other files of tests/bad_specs are refused by the schema too.
const BEYOND: [(&str, &str); 12] = [
    ("cycle", "derived values that need each other"),
    ("default_of_another_target", "a default whose tunable only another target has"),
    ("default_values", "a default that is not among the tunable's values"),
    ("device_off_the_gpu", "device limits in an expression of a target without a GPU"),
    ("duplicate_names", "the same name twice"),
    ("elementwise", "names of arguments in the reference's expressions"),
    ("kinds", "the kind of value that an expression gives"),
    ("many_errors", "names that are not defined"),
    ("no_workloads_for_names", "names that are not defined"),
    ("shared_but_not_for_all", "names that only one target defines"),
    ("undefined_names", "names that are not defined"),
    ("work_depends_on_tunables", "expressions that may not use tunables"),
];

#[test]
fn the_schema_refuses_every_wrong_file_that_a_schema_can() {
    let mut files: Vec<PathBuf> =
        std::fs::read_dir(root().join("tests/bad_specs")).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    let texts: Vec<String> = files.iter().map(|path| std::fs::read_to_string(path).unwrap()).collect();
    let Some(judged) = judged(&texts) else { return };
    let name = |path: &PathBuf| path.file_stem().unwrap().to_str().unwrap().to_owned();
    let taken: BTreeSet<String> =
        files.iter().zip(&judged).filter(|(_, wrong)| wrong.is_none()).map(|(path, _)| name(path)).collect();
    let beyond: BTreeSet<String> = BEYOND.iter().map(|(file, _)| (*file).to_owned()).collect();
    assert_eq!(taken, beyond);
}

/// A kernel file with every key.
const WHOLE: &str = include_str!("good/every_key.toml");

/// The value as TOML in one line.
fn inline(value: &Value) -> String {
    let joined = |parts: Vec<String>| parts.join(", ");
    match value {
        Value::Array(items) => format!("[{}]", joined(items.iter().map(inline).collect())),
        Value::Object(map) => {
            format!("{{ {} }}", joined(map.iter().map(|(key, value)| format!("{key:?} = {}", inline(value))).collect()))
        }
        other => other.to_string(),
    }
}

fn document(value: &Value) -> String {
    let entries = value.as_object().unwrap().iter();
    entries.map(|(key, value)| format!("{key:?} = {}\n", inline(value))).collect()
}

/// The document with one key set to each wrong value, and with one unknown key, at every place.
fn mutated(value: &Value, wrap: &dyn Fn(Value) -> Value, path: &str, found: &mut Vec<(String, Value)>) {
    let wrong =
        [json!(-7.5), json!(true), json!("no_such_word"), json!([]), json!({}), json!([[1]]), json!({ "nokey": 1 })];
    if !path.is_empty() {
        found.extend(wrong.iter().map(|wrong| (format!("{path} = {wrong}"), wrap(wrong.clone()))));
    }
    match value {
        Value::Object(map) => {
            let mut more = map.clone();
            more.insert("unknwon key".into(), json!(1));
            found.push((format!("{path} with an unknown key"), wrap(Value::Object(more))));
            for (key, inner) in map {
                let mut less = map.clone();
                less.remove(key);
                found.push((format!("{path} without {key}"), wrap(Value::Object(less))));
                let with = |changed: Value| {
                    let mut map = map.clone();
                    map.insert(key.clone(), changed);
                    wrap(Value::Object(map))
                };
                mutated(inner, &with, &format!("{path}.{key}"), found);
            }
        }
        Value::Array(items) => {
            for (at, inner) in items.iter().enumerate() {
                let with = |changed: Value| {
                    let mut items = items.clone();
                    items[at] = changed;
                    wrap(Value::Array(items))
                };
                mutated(inner, &with, &format!("{path}[{at}]"), found);
            }
        }
        _ => {}
    }
}

/// What a schema cannot see, in kiln's own messages: names, and what one key says about another.
const CROSS: [&str; 16] = [
    " is not defined",
    " is not an argument",
    " is not a tunable",
    " is not a value of ",
    "no workload has the dimension ",
    "no scalar argument is called ",
    // One end of a range is compared with the other.
    "scalars.alpha ends before it begins",
    "unknown dtype ",
    "workload small lacks N",
    "workload large lacks N",
    "the box has rank ",
    "arguments.x.strides has 1 value",
    " does not fit this ",
    // What of an output is compared decides what its size may depend on.
    " depends on STAGES, a tunable",
    // The kind of value that an argument's dtype or shape needs.
    "value is a ",
    "type is a ",
];

#[test]
fn one_mistake_at_every_key_is_refused_by_both_or_by_neither() {
    let whole: toml::Table = WHOLE.parse().unwrap();
    let whole = serde_json::to_value(whole).unwrap();
    let mut found = Vec::new();
    mutated(&whole, &|value| value, "", &mut found);
    assert!(found.len() > 900, "{}", found.len());
    let texts: Vec<String> = found.iter().map(|(_, value)| document(value)).collect();
    let Some(judged) = judged(&texts) else { return };
    let (mut stricter, mut unseen) = (Vec::new(), Vec::new());
    for (((what, _), text), wrong) in found.iter().zip(&texts).zip(judged) {
        match (kiln_spec::parse("kernel.toml", text.as_bytes()), wrong) {
            (Ok(_), Some(wrong)) => stricter.push(format!("{what}: {wrong}")),
            (Err(reports), None) => unseen.push(format!("{what}: {}", reports[0].message)),
            _ => {}
        }
    }
    assert!(stricter.is_empty(), "the schema refuses what kiln takes:\n{}", stricter.join("\n"));
    // What a name stands for decides whether an expression that uses it is an integer.
    let defines = |line: &String| [".derived.", ".tunables."].iter().any(|table| line.contains(table));
    let surprising: Vec<&String> =
        unseen.iter().filter(|line| !CROSS.iter().any(|word| line.contains(word)) && !defines(line)).collect();
    assert!(surprising.is_empty(), "the schema takes what kiln refuses:\n{surprising:#?}");
}
