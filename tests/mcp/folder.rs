//! A project with a kernel that runs on a processor.

use std::ops::Deref;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The binary.
pub(crate) const KILN: &str = env!("CARGO_BIN_EXE_kiln");

/// A folder of this test's own with the kernel `sample`, and a link that leads out of it.
pub(crate) fn project(name: &str) -> Project {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("mcp-{name}"));
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).unwrap();
    let made = Command::new(KILN).args(["init", "sample"]).current_dir(&folder).output().unwrap();
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
    // A space that no study comes to the end of.
    let file = folder.join("sample/kernel.toml");
    let text = std::fs::read_to_string(&file).unwrap();
    let text = text
        .replace("[tunables]\n", "[tunables]\nSPARE = { from = 1, to = 5000 }\n")
        .replace("[default]\n", "[default]\nSPARE = 1\n");
    std::fs::write(&file, text).unwrap();
    std::os::unix::fs::symlink("/etc", folder.join("link")).unwrap();
    Project(folder)
}

/// The folder; a study that a test left running ends with it.
pub(crate) struct Project(PathBuf);

impl Deref for Project {
    type Target = Path;

    fn deref(&self) -> &Path {
        &self.0
    }
}

impl Drop for Project {
    fn drop(&mut self) {
        for launch in std::fs::read_dir(self.join(".kiln/launched")).into_iter().flatten().flatten() {
            let Ok(text) = std::fs::read_to_string(launch.path().join("launch.json")) else { continue };
            let about: serde_json::Value = serde_json::from_str(&text).unwrap();
            let line = std::fs::read_to_string(format!("/proc/{}/cmdline", about["process"])).unwrap_or_default();
            // Its number may be another process's by now.
            if line.contains(&*launch.file_name().to_string_lossy()) {
                let _ = Command::new("kill").args(["-KILL", &about["process"].to_string()]).status();
            }
        }
    }
}
