//! Winners as Python programs read them at run time: `tuned.json` beside the table, for `kiln.tuned` of the Python package.
//! In: winners, what they ran on, and the file as it is. Out: the file with them, each in place of the one of the same architecture,
//! variant and workload. Carries what decides whether a winner still applies: hashes of sources, versions, constraints. Refuses a
//! file that is no such table.

use camino::{Utf8Path, Utf8PathBuf};
use kiln_bench::Kernel;
use kiln_core::{Config, Fault, IMPLEMENTATION, Value};
use kiln_spec::{Argument, ElementType, Implementation, Role};
use serde_json::{Map, Value as Json, json};
use sha2::{Digest, Sha256};

use crate::recording::summary::{Confirmed, Summary};
use crate::winners::document::{MOVE, rounded};
use crate::winners::write::write_whole;

/// What the file says it is; the package refuses another version.
const FORMAT: (&str, u64) = ("kiln-tuned", 1);
/// What tells winners apart.
const KEY: [&str; 3] = ["arch", "variant", "workload"];

/// What winners were measured on.
#[derive(Debug, Clone, Copy)]
pub struct Ran<'a> {
    /// The GPU's or the processor's name.
    pub device: &'a str,
    /// The GPU's compute capability; none on the processor.
    pub capability: Option<(u32, u32)>,
    /// Triton's version, where it is installed.
    pub triton: Option<&'a str>,
    /// The day, such as `2026-11-18`.
    pub date: &'a str,
}

/// Where they are written for a table.
pub(crate) fn file(table: &Utf8Path) -> Utf8PathBuf {
    table.with_extension("json")
}

/// Refuses a file that winners cannot be written into: before a study begins, not after it.
pub(crate) fn check(table: &Utf8Path) -> Result<(), Fault> {
    read(&file(table)).map(|_| ())
}

/// Writes winners into the file beside the table.
pub(crate) fn write(
    kernel: &Kernel<'_>,
    summary: &Summary,
    winners: &[(&Confirmed, &Config)],
    ran: &Ran<'_>,
    table: &Utf8Path,
) -> Result<Utf8PathBuf, Fault> {
    let file = file(table);
    let sources = sources(kernel, ran)?;
    let new: Vec<Json> = winners.iter().map(|winner| entry(kernel, summary, *winner, ran, &sources)).collect();
    let key = |entry: &Json| KEY.map(|name| entry.get(name).cloned());
    let fits = |entry: &Json| {
        let config = entry.get("config").and_then(Json::as_object);
        let of = |one: &Implementation, config: &Map<String, Json>| {
            let named = config.get(IMPLEMENTATION).and_then(Json::as_str) == one.name.as_deref();
            named && config.len() == names(one).len() && names(one).iter().all(|t| config.contains_key(*t))
        };
        let all = &kernel.selection.target.implementations;
        config.is_some_and(|config| all.iter().any(|one| of(one, config)))
    };
    let mut entries = read(&file)?;
    // One of other tunables is of no use to the function as it is now.
    entries.retain(|old| fits(old) && !new.iter().any(|entry| key(entry) == key(old)));
    entries.extend(new);
    let text = serde_json::to_string_pretty(&document(kernel, entries))
        .map_err(|e| Fault::new(format!("writing {file}"), e))?;
    write_whole(&file, format!("{text}\n").as_bytes())?;
    Ok(file)
}

/// The winners of a file; none where it is not there.
fn read(file: &Utf8Path) -> Result<Vec<Json>, Fault> {
    let fault = |why: String| Fault::new(format!("reading {file}"), why).hint(MOVE);
    let text = match fs_err::read_to_string(file) {
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        read => read.map_err(|e| fault(e.to_string()))?,
    };
    let document: Json = serde_json::from_str(&text).map_err(|e| fault(e.to_string()))?;
    let (format, version) = FORMAT;
    if document["format"] != format || document["version"] != version {
        return Err(fault(format!("it is not version {version} of {format}")));
    }
    document["tuned"].as_array().cloned().ok_or_else(|| fault("it has no list of winners".into()))
}

/// What a configuration of an implementation has values for.
fn names(one: &Implementation) -> Vec<&str> {
    let own = one.name.iter().map(|_| IMPLEMENTATION);
    own.chain(one.tunables.iter().map(|t| &*t.name)).collect()
}

/// What decides which shapes a configuration of an implementation is valid on.
fn described(one: &Implementation) -> Map<String, Json> {
    let derived = one.derived.iter().map(|d| (&*d.name, d.formula.expression.text()));
    let constraints = one.constraints.iter().map(|c| (&*c.name, c.formula.expression.text()));
    let name = one.name.iter().map(|name| (IMPLEMENTATION.to_string(), json!(**name)));
    let mut default: Map<String, Json> = name.collect();
    if let Json::Object(stated) = values(one.default.iter().map(|(name, value)| (&**name, value))) {
        default.extend(stated);
    }
    let mut words = Map::new();
    words.insert("tunables".into(), json!(names(one)));
    words.insert("default".into(), default.into());
    words.insert("derived".into(), texts(derived));
    words.insert("constraints".into(), texts(constraints));
    words
}

fn document(kernel: &Kernel<'_>, entries: Vec<Json>) -> Json {
    let (spec, target) = (kernel.selection.spec, kernel.selection.target);
    let (format, version) = FORMAT;
    let folder = from_here(&kernel.folder);
    let quote = if folder.contains(char::is_whitespace) { "'" } else { "" };
    let mut document = json!({
        "format": format,
        "version": version,
        "kernel": kernel.name(),
        "device": if kernel.on_gpu() { "cuda" } else { "cpu" },
        "command": format!("kiln tune {quote}{folder}{quote} --target python --adopt"),
        "arguments": spec.arguments.iter().filter(|a| a.role != Role::Tensormap).map(argument).collect::<Vec<_>>(),
    });
    let first = target.implementations.first().map(described).unwrap_or_default();
    first.into_iter().for_each(|(name, words)| document[name] = words);
    if kernel.selection.competing() {
        let named = target.implementations.iter().filter_map(|one| Some((one.name.as_ref()?.to_string(), one)));
        document["implementations"] =
            named.map(|(name, one)| (name, Json::Object(described(one)))).collect::<Map<_, _>>().into();
    }
    document["tuned"] = entries.into();
    document
}

/// A folder as it would be typed here: where a project lies is nobody else's business.
fn from_here(folder: &Utf8Path) -> &str {
    let here = std::env::current_dir().ok().and_then(|here| Utf8PathBuf::from_path_buf(here).ok());
    let short = here.and_then(|here| folder.strip_prefix(here).ok()).unwrap_or(folder);
    if short.as_str().is_empty() { "." } else { short.as_str() }
}

/// An argument as the kernel file has it.
fn argument(argument: &Argument) -> Json {
    let role = Role::ALL.iter().find(|(_, role)| *role == argument.role).map_or("", |(word, _)| word);
    let element = match &argument.kind.element {
        ElementType::Dtype(dtype) => dtype.name(),
        ElementType::Variable(name) => name,
    };
    let sides: Vec<&str> = argument.kind.shape.iter().map(|side| side.expression.text()).collect();
    let shape = if sides.is_empty() { String::new() } else { format!("[{}]", sides.join(", ")) };
    let mut written = json!({ "name": &*argument.name, "role": role, "type": format!("{element}{shape}") });
    // A scalar that varies from question to question says nothing about the shape.
    if let (Some(value), None) = (&argument.value, &argument.range) {
        written["value"] = value.expression.text().into();
    }
    written
}

/// The winner of a workload.
fn entry(
    kernel: &Kernel<'_>,
    summary: &Summary,
    (confirmed, config): (&Confirmed, &Config),
    ran: &Ran<'_>,
    sources: &(Json, Json),
) -> Json {
    let workload = kernel.selection.workloads.iter().find(|w| *w.name == *confirmed.name);
    let dims = workload.map(|w| values(w.dims.iter().map(|(name, size)| (&**name, size))));
    let variant = kernel.selection.variant.iter().map(|(name, dtype)| (&**name, dtype.name()));
    let interval = confirmed.speedup_ci95;
    json!({
        // Code that runs on one capability runs there whatever is written behind the number.
        "arch": ran.capability.map_or(std::env::consts::ARCH.into(), |(major, minor)| format!("sm_{major}{minor}")),
        "variant": texts(variant),
        "workload": confirmed.name,
        "dims": dims.unwrap_or_else(|| json!({})),
        "config": values(config.iter().map(|(name, value)| (&**name, value))),
        "sources": sources.0,
        "versions": sources.1,
        "device": ran.device,
        "baseline": summary.baseline.as_deref().unwrap_or("the default configuration"),
        "best_ms": rounded(confirmed.best_ms, 6),
        "baseline_ms": rounded(confirmed.baseline_ms, 6),
        "speedup": rounded(confirmed.speedup, 4),
        "speedup_ci95": [rounded(interval.low, 4), rounded(interval.high, 4)],
        "study": summary.study,
        "kiln": env!("CARGO_PKG_VERSION"),
    })
}

/// The hash of each of the kernel's files by its path from the table, and the version of Triton where one of them names it.
fn sources(kernel: &Kernel<'_>, ran: &Ran<'_>) -> Result<(Json, Json), Fault> {
    let target = kernel.selection.target;
    let mut files: Vec<Utf8PathBuf> = Vec::new();
    for one in &target.implementations {
        files.extend(one.sources.iter().map(|source| kernel.folder.join(source)));
        files.push(kernel.python_entry_of(one)?.0);
    }
    files.dedup();
    let up = Utf8Path::new(target.tuned.file.as_deref().unwrap_or_default()).components().count().saturating_sub(1);
    let (mut hashes, mut versions) = (Map::new(), Map::new());
    for file in files {
        let bytes = fs_err::read(&file).map_err(|e| Fault::new(format!("reading {file}"), e))?;
        let path = file.strip_prefix(&kernel.folder).unwrap_or(&file);
        let hash: String = Sha256::digest(&bytes).iter().map(|byte| format!("{byte:02x}")).collect();
        hashes.insert(format!("{}{path}", "../".repeat(up)), hash.into());
        if let Some(triton) = ran.triton.filter(|_| String::from_utf8_lossy(&bytes).contains("triton")) {
            versions.insert("triton".into(), triton.into());
        }
    }
    Ok((hashes.into(), versions.into()))
}

fn values<'v>(pairs: impl Iterator<Item = (&'v str, &'v Value)>) -> Json {
    let value = |value: &Value| match value {
        Value::Int(v) => json!(v),
        Value::Float(v) => json!(v),
        Value::Bool(v) => json!(v),
        Value::Str(text) => json!(**text),
    };
    Json::Object(pairs.map(|(name, chosen)| (name.into(), value(chosen))).collect())
}

fn texts<'t>(pairs: impl Iterator<Item = (&'t str, &'t str)>) -> Json {
    Json::Object(pairs.map(|(name, text)| (name.into(), text.into())).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    const KERNEL: &str = r#"
[kernel]
name = "k"
entry = "k.py:k"
variants = { T = ["f16", "f32"] }
[target.python]
tuned = "results/tuned.toml"
[tunables]
BLOCK = [32, 64]
WAY = ["a", "b"]
[default]
BLOCK = 32
WAY = "a"
[derived]
parts = "ceildiv(COLS, BLOCK)"
[constraints]
few = "parts <= 64"
[[arguments]]
name = "x"
type = "T[ROWS, COLS + 1]"
role = "in"
[[arguments]]
name = "cols"
type = "i64"
role = "scalar"
value = "COLS"
[[workloads]]
name = "short"
dims = { ROWS = 4, COLS = 64 }
[[workloads]]
name = "long"
dims = { ROWS = 4, COLS = 1024 }
"#;

    /// What a file holds after the winner of a workload was written into it.
    fn written(folder: &Utf8Path, workload: &str, block: i64, ran: &Ran<'_>) -> Json {
        let (spec, _) = kiln_spec::parse("k.toml", KERNEL.as_bytes()).unwrap();
        let kernel = Kernel::new(spec.select(Default::default()).unwrap(), folder).unwrap();
        let confirmed: Confirmed = serde_json::from_value(json!({
            "name": workload, "best_ms": 1.0, "best_ci95_ms": [1.0, 2.0], "baseline_ms": 2.0,
            "baseline_ci95_ms": [1.0, 2.0], "speedup": 1.5, "speedup_ci95": [1.25, 2.0], "cliffs_delta": 1.0,
            "p_value": 0.0, "verdict": "faster", "samples": 25, "warnings": [], "holdout": false,
        }))
        .unwrap();
        let summary: Summary = serde_json::from_value(json!({
            "verdict": "reached", "reason": "", "workloads": [], "config": null, "speedup": null, "speedup_ci95": null,
            "target_speedup": 1.1, "baseline": "numpy", "trials": 1, "refused": {}, "ablation": [], "seed": 1,
            "seconds": 1.0, "study": "s",
        }))
        .unwrap();
        let config = kernel.read_config(&format!("BLOCK={block},WAY=b")).unwrap();
        let file = write(&kernel, &summary, &[(&confirmed, &config)], ran, &folder.join("results/tuned.toml")).unwrap();
        serde_json::from_str(&std::fs::read_to_string(file).unwrap()).unwrap()
    }

    fn folder() -> (tempfile::TempDir, Utf8PathBuf) {
        let held = tempfile::tempdir().unwrap();
        let folder = Utf8PathBuf::from_path_buf(held.path().into()).unwrap();
        std::fs::create_dir(folder.join("results")).unwrap();
        std::fs::write(folder.join("k.py"), "import triton\n").unwrap();
        (held, folder)
    }

    #[test]
    fn a_winner_carries_what_it_depends_on() {
        let (_held, folder) = folder();
        let ran = Ran { device: "card", capability: Some((9, 0)), triton: Some("3.4.0"), date: "2026-11-18" };
        let document = written(&folder, "short", 64, &ran);
        assert_eq!(document["command"], format!("kiln tune {folder} --target python --adopt"));
        assert_eq!(document["arguments"][0], json!({ "name": "x", "role": "in", "type": "T[ROWS, COLS + 1]" }));
        assert_eq!(document["arguments"][1]["value"], "COLS");
        assert_eq!(document["default"], json!({ "BLOCK": 32, "WAY": "a" }));
        assert_eq!(document["derived"]["parts"], "ceildiv(COLS, BLOCK)");
        assert_eq!(document["constraints"]["few"], "parts <= 64");
        let entry = &document["tuned"][0];
        assert_eq!((&entry["arch"], &entry["variant"]), (&json!("sm_90"), &json!({ "T": "f16" })));
        assert_eq!(entry["dims"], json!({ "ROWS": 4, "COLS": 64 }));
        assert_eq!(entry["config"], json!({ "BLOCK": 64, "WAY": "b" }));
        assert_eq!(entry["versions"], json!({ "triton": "3.4.0" }));
        // By Python's hashlib.
        let hash = "d7e3f7f580116a511296f35afb3c4130f5e6a1c3b223388a751226103d5eb26f";
        assert_eq!(entry["sources"], json!({ "../k.py": hash }));
    }

    #[test]
    fn a_winner_takes_the_place_of_its_like_alone() {
        let (_held, folder) = folder();
        std::fs::write(folder.join("k.py"), "import numpy\n").unwrap();
        let here = Ran { device: "processor", capability: None, triton: Some("3.4.0"), date: "2026-11-18" };
        written(&folder, "short", 32, &here);
        written(&folder, "long", 32, &here);
        written(&folder, "short", 32, &Ran { capability: Some((8, 0)), ..here });
        let document = written(&folder, "short", 64, &here);
        let found: Vec<(&str, &str, i64)> = document["tuned"]
            .as_array()
            .unwrap()
            .iter()
            .map(|e| {
                (e["arch"].as_str().unwrap(), e["workload"].as_str().unwrap(), e["config"]["BLOCK"].as_i64().unwrap())
            })
            .collect();
        let arch = std::env::consts::ARCH;
        assert_eq!(found, [(arch, "long", 32), ("sm_80", "short", 32), (arch, "short", 64)]);
        // It names no Triton, and does not depend on its version.
        assert_eq!(document["tuned"][0]["versions"], json!({}));
        // One of tunables that are gone is left out.
        let file = folder.join("results/tuned.json");
        let text = std::fs::read_to_string(&file).unwrap().replacen("\"WAY\": \"b\"", "\"OLD\": 1", 1);
        std::fs::write(&file, text).unwrap();
        assert_eq!(written(&folder, "short", 64, &here)["tuned"].as_array().unwrap().len(), 2);
    }

    #[test]
    fn what_is_no_such_file_is_not_written_over() {
        let (_held, folder) = folder();
        let table = folder.join("results/tuned.toml");
        check(&table).unwrap();
        for text in
            ["{", "[]", "{\"format\": \"kiln-tuned\", \"version\": 2}", "{\"format\": \"kiln-tuned\", \"version\": 1}"]
        {
            std::fs::write(file(&table), text).unwrap();
            let fault = check(&table).unwrap_err();
            assert!(fault.what.ends_with("tuned.json") && fault.hint.is_some(), "{fault}");
        }
    }
}
