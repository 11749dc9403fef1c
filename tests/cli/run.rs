//! Running the binary.

use std::path::{Path, PathBuf};
use std::process::Command;

/// What a run printed and how it ended.
pub(crate) struct Ran {
    pub(crate) out: String,
    pub(crate) err: String,
    pub(crate) code: i32,
}

/// The repository's root, where commands are run.
pub(crate) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

/// Runs `kiln` with words split at blanks, in the repository's root.
pub(crate) fn kiln(line: &str) -> Ran {
    kiln_in(&root(), &line.split_whitespace().collect::<Vec<_>>())
}

/// Runs `kiln` with exactly these arguments in a folder.
pub(crate) fn kiln_in(folder: &Path, arguments: &[&str]) -> Ran {
    let output = Command::new(env!("CARGO_BIN_EXE_kiln")).args(arguments).current_dir(folder).output().unwrap();
    Ran {
        out: String::from_utf8(output.stdout).unwrap(),
        err: String::from_utf8(output.stderr).unwrap(),
        code: output.status.code().unwrap_or(-1),
    }
}

/// The JSON a run printed.
pub(crate) fn json(line: &str) -> serde_json::Value {
    let ran = kiln(line);
    serde_json::from_str(&ran.out).unwrap_or_else(|e| panic!("{line}: {e}\n{}{}", ran.out, ran.err))
}

/// A folder of this test's own, empty at the start.
pub(crate) fn empty_folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).unwrap();
    folder
}

/// Snapshots without times: what was measured differs from run to run.
pub(crate) fn untimed() -> insta::Settings {
    let mut settings = insta::Settings::clone_current();
    settings.add_filter(r"counted in [0-9.]+ (us|ms|s)", "counted in [time]");
    settings.set_prepend_module_to_snapshot(false);
    settings
}
