//! Data flows left to right through the crates: what each may depend on is written here, and cargo says what it does.

// A test that cannot go on says so by panicking.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::collections::BTreeSet;
use std::process::Command;

use serde_json::Value;

/// Every crate with the kiln crates it may use. A new crate is added here, with a reason to be able to see each.
const MAY_USE: &[(&str, &[&str])] = &[
    ("kiln-core", &[]),
    ("kiln-expr", &["kiln-core"]),
    ("kiln-device", &["kiln-core"]),
    ("kiln-stats", &[]),
    ("kiln-diagnose", &["kiln-core", "kiln-stats"]),
    ("kiln-session", &["kiln-core", "kiln-stats"]),
    ("kiln-spec", &["kiln-core", "kiln-device", "kiln-expr"]),
    ("kiln-formats", &["kiln-core", "kiln-expr", "kiln-spec"]),
    ("kiln-build", &["kiln-core"]),
    ("kiln-run", &["kiln-core"]),
    ("kiln-judge", &["kiln-core", "kiln-expr", "kiln-spec"]),
    ("kiln-space", &["kiln-core", "kiln-expr", "kiln-spec"]),
    ("kiln-search", &["kiln-core", "kiln-space"]),
    ("kiln-store", &["kiln-core", "kiln-diagnose", "kiln-session", "kiln-stats"]),
    (
        "kiln-bench",
        &[
            "kiln-build",
            "kiln-core",
            "kiln-device",
            "kiln-judge",
            "kiln-run",
            "kiln-search",
            "kiln-space",
            "kiln-spec",
            "kiln-stats",
        ],
    ),
    (
        "kiln-study",
        &[
            "kiln-bench",
            "kiln-core",
            "kiln-device",
            "kiln-judge",
            "kiln-run",
            "kiln-search",
            "kiln-space",
            "kiln-spec",
            "kiln-stats",
            "kiln-store",
        ],
    ),
    (
        "kiln-app",
        &[
            "kiln-build",
            "kiln-core",
            "kiln-device",
            "kiln-diagnose",
            "kiln-expr",
            "kiln-formats",
            "kiln-judge",
            "kiln-run",
            "kiln-search",
            "kiln-session",
            "kiln-space",
            "kiln-spec",
            "kiln-stats",
            "kiln-store",
            "kiln-study",
        ],
    ),
    (
        "kiln-show",
        &[
            "kiln-app",
            "kiln-core",
            "kiln-device",
            "kiln-expr",
            "kiln-formats",
            "kiln-judge",
            "kiln-study",
            "kiln-search",
            "kiln-space",
            "kiln-spec",
            "kiln-stats",
            "kiln-store",
        ],
    ),
    ("kiln-serve", &["kiln-app", "kiln-show"]),
    ("kiln-cli", &["kiln-app", "kiln-serve", "kiln-show"]),
];

/// Crates from outside that belong to one of ours alone.
const RESERVED: [(&str, &str); 8] = [
    ("cudarc", "kiln-run"),
    ("nvml-wrapper", "kiln-run"),
    ("libloading", "kiln-run"),
    ("sqlx", "kiln-store"),
    ("axum", "kiln-serve"),
    ("plotly", "kiln-serve"),
    ("rmcp", "kiln-serve"),
    ("clap", "kiln-cli"),
];

/// Crates that read, compute and return: nothing that does I/O or runs in the background.
const PURE: [&str; 10] = [
    "kiln-core",
    "kiln-expr",
    "kiln-device",
    "kiln-diagnose",
    "kiln-session",
    "kiln-spec",
    "kiln-formats",
    "kiln-space",
    "kiln-stats",
    "kiln-search",
];
const IMPURE: [&str; 5] = ["tokio", "fs-err", "process-wrap", "reqwest", "tracing-subscriber"];

fn packages() -> Vec<Value> {
    let output = Command::new(env!("CARGO"))
        .args(["metadata", "--no-deps", "--format-version", "1", "--offline"])
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let metadata: Value = serde_json::from_slice(&output.stdout).unwrap();
    metadata["packages"].as_array().unwrap().clone()
}

/// Names of a package's dependencies; those for tests only are left out.
fn dependencies(package: &Value) -> BTreeSet<String> {
    let all = package["dependencies"].as_array().unwrap();
    all.iter().filter(|d| d["kind"].as_str() != Some("dev")).map(|d| d["name"].as_str().unwrap().to_string()).collect()
}

#[test]
fn crates_only_look_to_their_left() {
    let packages = packages();
    assert!(!packages.is_empty());
    for package in &packages {
        let name = package["name"].as_str().unwrap();
        let (_, allowed) = MAY_USE.iter().find(|(n, _)| *n == name).unwrap_or_else(|| panic!("{name} is not listed"));
        for dependency in dependencies(package).iter().filter(|d| d.starts_with("kiln-")) {
            assert!(allowed.contains(&dependency.as_str()), "{name} must not use {dependency}");
        }
    }
}

/// What the command line may name besides kiln's library and its views: arguments, signals, JSON.
const CLI_MAY_NAME: [&str; 8] =
    ["clap", "clap_complete", "clap_mangen", "ctrlc", "kiln-app", "kiln-serve", "kiln-show", "serde_json"];

#[test]
fn the_command_line_is_arguments_operations_and_views() {
    let packages = packages();
    let named = |name: &str| packages.iter().find(|p| p["name"] == name).unwrap();
    let cli = dependencies(named("kiln-cli"));
    assert!(cli.iter().all(|d| CLI_MAY_NAME.contains(&d.as_str())), "kiln-cli names {cli:?}");
    let seen_by = |p: &&Value| dependencies(p).contains("kiln-app");
    let faces: Vec<&str> = packages.iter().filter(seen_by).map(|p| p["name"].as_str().unwrap()).collect();
    assert_eq!(faces, ["kiln-cli", "kiln-serve", "kiln-show"], "whoever sees kiln-app shows it to somebody");
    // No logic grows there unseen.
    let mut folders = vec![std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("src")];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            let lines = std::fs::read_to_string(&path).unwrap().lines().count();
            assert!(lines <= 200, "{} has {lines} lines", path.display());
        }
    }
}

/// Operations tell and return; what is printed is printed by the command line and the views.
#[test]
fn the_library_prints_nothing() {
    let mut folders = vec![std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../kiln-app/src")];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|e| e == "rs") {
                let text = std::fs::read_to_string(&path).unwrap();
                let printing = ["println!", "print!(", "io::stdout", "io::stderr", "process::exit"];
                let found = printing.iter().find(|word| text.contains(*word));
                assert!(found.is_none(), "{} has {}", path.display(), found.unwrap());
            }
        }
    }
}

#[test]
fn heavy_crates_stay_where_they_belong() {
    for package in &packages() {
        let name = package["name"].as_str().unwrap();
        let dependencies = dependencies(package);
        for (outside, owner) in RESERVED {
            assert!(name == owner || !dependencies.contains(outside), "only {owner} may use {outside}, not {name}");
        }
        if PURE.contains(&name) {
            for outside in IMPURE {
                assert!(!dependencies.contains(outside), "{name} is pure and must not use {outside}");
            }
        }
    }
}

#[test]
fn every_crate_takes_the_workspace_lints() {
    for package in &packages() {
        let manifest = std::fs::read_to_string(package["manifest_path"].as_str().unwrap()).unwrap();
        // The workspace forbids unsafe code; the one crate that has some must give a reason for every block.
        let own = package["name"] == "kiln-run" && manifest.contains("undocumented_unsafe_blocks = \"deny\"");
        assert!(own || manifest.contains("[lints]\nworkspace = true"), "{}", package["name"]);
    }
}

/// A crate with one binary for its tests names every file of them there: cargo looks for no others.
#[test]
fn no_test_is_forgotten() {
    for package in &packages() {
        let manifest = package["manifest_path"].as_str().unwrap();
        let folder = std::path::Path::new(manifest).with_file_name("tests");
        if !std::fs::read_to_string(manifest).unwrap().contains("autotests = false") {
            continue;
        }
        let named = std::fs::read_to_string(folder.join("main.rs")).unwrap();
        for entry in std::fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            let name = path.file_stem().unwrap().to_str().unwrap();
            if path.extension().is_some_and(|e| e == "rs") && name != "main" {
                assert!(named.contains(&format!("mod {name};")), "{} is not in main.rs", path.display());
            }
        }
    }
}
