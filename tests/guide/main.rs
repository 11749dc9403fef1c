//! The documents hold what they promise: docs/guide.md is run as the transcript it is, docs/json.md is held against what
//! the verbs print. Times are measured and never judged here.

// A test that cannot go on says so by panicking.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod compare;
mod json;
mod numpy;
mod transcript;

use std::path::{Path, PathBuf};
use std::process::Command;

use camino::Utf8Path;
use kiln_build::Nvrtc;

/// Whether CUDA can be compiled here; with KILN_NEED_CUDA=1 it must be.
fn cuda() -> bool {
    match Nvrtc::find(Utf8Path::new(env!("CARGO_BIN_EXE_kiln"))) {
        Ok(_) => true,
        Err(fault) if std::env::var("KILN_NEED_CUDA").is_ok_and(|v| v == "1") => panic!("{fault}"),
        Err(fault) => {
            println!("skipped: {fault}");
            false
        }
    }
}

/// A document of this repository.
fn document(path: &str) -> String {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    std::fs::read_to_string(root.join(path)).unwrap()
}

/// A folder of this test's own, empty at the start.
fn empty_folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).unwrap();
    folder
}

/// Runs a line as a shell would, with the built `kiln` on the path; what it printed, both streams in the order written.
fn shell(folder: &Path, line: &str) -> String {
    let binary = Path::new(env!("CARGO_BIN_EXE_kiln")).parent().unwrap();
    let path = format!("{}:{}", binary.display(), std::env::var("PATH").unwrap_or_default());
    let line = format!("exec 2>&1; {line}");
    let output = Command::new("sh").args(["-c", &line]).current_dir(folder).env("PATH", path).output().unwrap();
    String::from_utf8_lossy(&output.stdout).into_owned()
}

#[test]
fn the_guide_is_a_transcript() {
    let folder = empty_folder("guide");
    let mut wrong = Vec::new();
    let mut commands = 0;
    for step in transcript::steps(&document("docs/guide.md")) {
        match step {
            transcript::Step::File { path, text } => {
                let path = folder.join(path);
                std::fs::create_dir_all(path.parent().unwrap()).unwrap();
                std::fs::write(path, text).unwrap();
            }
            transcript::Step::Command { at, line, expected } => {
                commands += 1;
                let printed = shell(&folder, &line);
                if let Err(why) = compare::output(&expected, &printed) {
                    wrong.push(format!("docs/guide.md:{at}: $ {line}\n{why}\nit printed\n{printed}"));
                }
            }
        }
    }
    assert!(commands >= 15, "only {commands} commands were found in the guide");
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}
