//! A folder for what a worker writes: new for each, removed with it. A kiln that was killed leaves some behind; the next one
//! removes those that nobody has used for a day.

use std::fs;
use std::io;
use std::path::Path;
use std::sync::Once;
use std::time::Duration;

use tempfile::TempDir;

const PREFIX: &str = "kiln-worker-";
const A_DAY: Duration = Duration::from_secs(24 * 60 * 60);

/// A new folder that nobody else can look into.
pub(crate) fn scratch() -> io::Result<TempDir> {
    static SWEPT: Once = Once::new();
    SWEPT.call_once(|| sweep(&std::env::temp_dir(), A_DAY));
    tempfile::Builder::new().prefix(&format!("{PREFIX}{}-", std::process::id())).tempdir()
}

/// Removes folders of processes that are gone.
fn sweep(folder: &Path, unused: Duration) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let owner = name.to_str().and_then(|name| name.strip_prefix(PREFIX)?.split('-').next());
        let gone = owner.is_some_and(|owner| !Path::new("/proc").join(owner).exists());
        let age = entry.metadata().and_then(|about| about.modified()).map(|since| since.elapsed().unwrap_or_default());
        if gone && age.is_ok_and(|age| age >= unused) {
            // Another's, or gone by now: not our concern.
            let _ = fs::remove_dir_all(entry.path());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_a_dead_process_left_is_removed() {
        let folder = tempfile::tempdir().unwrap();
        let (dead, alive) = (format!("{PREFIX}999999999-x"), format!("{PREFIX}{}-x", std::process::id()));
        for name in [&dead, &alive, "other"] {
            fs::create_dir(folder.path().join(name)).unwrap();
        }
        sweep(folder.path(), A_DAY);
        assert!(folder.path().join(&dead).exists());
        sweep(folder.path(), Duration::ZERO);
        let left = |name: &str| folder.path().join(name).exists();
        assert!(!left(&dead) && left(&alive) && left("other"));
    }
}
