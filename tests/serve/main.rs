//! `kiln serve` as a browser and as an attacker meet it: a real server on a store that a real study made, asked over plain TCP, and looked at by a real
//! Chromium. Without Chromium its tests are skipped, unless KILN_NEED_BROWSER is set.

// A test that cannot go on says so by panicking.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod access;
mod axe;
mod browser;
mod http;
mod keyboard;
mod limits;
mod live;
mod pages;
mod server;
mod sight;
mod words;

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

/// The repository.
fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

/// A folder of this test's own.
fn folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("serve-{name}"));
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).unwrap();
    folder
}

/// kiln, run in a folder.
fn kiln(folder: &Path, words: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_kiln"));
    command.args(words).current_dir(folder).env_remove("KILN_STORE");
    command
}

/// What tunes a copy of this repository's softmax with few trials. A copy beside the store: no record names where the repository lies.
fn tuning(folder: &Path, trials: &str) -> Command {
    copy_softmax(&folder.join("softmax"));
    let short = ["--trials", trials, "--samples", "25", "--seed", trials, "--no-ablation", "--json"];
    kiln(folder, &[&["tune", "softmax"][..], &short].concat())
}

fn copy_softmax(to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(root().join("kernels/softmax")).unwrap() {
        let path = entry.unwrap().path();
        if path.is_file() {
            std::fs::copy(&path, to.join(path.file_name().unwrap())).unwrap();
        }
    }
}

/// A folder in which two studies have come to their ends within a session, made once. The last is the larger one.
fn studied() -> &'static Path {
    static FOLDER: OnceLock<PathBuf> = OnceLock::new();
    FOLDER.get_or_init(|| {
        let folder = folder("studied");
        let done = |mut command: Command, sign: &str| {
            let output = command.output().unwrap();
            let text = String::from_utf8_lossy(&output.stdout);
            assert!(text.contains(sign), "{text}{}", String::from_utf8_lossy(&output.stderr));
        };
        copy_softmax(&folder.join("softmax"));
        let start = ["session", "start", "softmax", "--goal", "1.2x", "--budget", "1h", "--json"];
        done(kiln(&folder, &start), "\"started\"");
        done(tuning(&folder, "5"), "\"verdict\"");
        // A picture of a page wants more to show than a test.
        let larger = if std::env::var_os("KILN_PICTURES").is_some() { "120" } else { "12" };
        done(tuning(&folder, larger), "\"verdict\"");
        done(kiln(&folder, &["session", "end", "--json"]), "\"grade\"");
        folder
    })
}

/// A copy of that store, which a test may write into.
fn copied(name: &str) -> PathBuf {
    let folder = folder(name);
    std::fs::create_dir(folder.join(".kiln")).unwrap();
    for entry in std::fs::read_dir(studied().join(".kiln")).unwrap() {
        let path = entry.unwrap().path();
        if path.is_file() {
            std::fs::copy(&path, folder.join(".kiln").join(path.file_name().unwrap())).unwrap();
        }
    }
    folder
}

/// The short id of the store's last study.
fn study(folder: &Path) -> String {
    let output = kiln(folder, &["show", "last", "--json"]).output().unwrap();
    let shown: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let id = shown["study"]["id"].as_str().or(shown["id"].as_str()).unwrap().to_string();
    id[id.len() - 8..].to_string()
}

/// The short id of the study before it.
fn earlier(folder: &Path) -> String {
    let output = kiln(folder, &["history", "--json"]).output().unwrap();
    let listed: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let id = listed["studies"][1]["id"].as_str().unwrap().to_string();
    id[id.len() - 8..].to_string()
}
