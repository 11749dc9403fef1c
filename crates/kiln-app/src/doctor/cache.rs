//! The build cache: how large, and what killed builds left in it.

use std::time::Duration;

use crate::doctor::Finding;
use camino::Utf8PathBuf;
use kiln_core::{grouped, size};

use crate::project::Project;

const ID: &str = "cache";
const WHY: &str = "libraries of earlier builds are used again; too many of them fill the disk";
/// What the cache is trimmed to after every study.
const BOUND: u64 = 2 << 30;
/// A build that still runs is younger than this.
const ABANDONED: Duration = Duration::from_secs(3600);

/// Asks it.
pub(crate) fn look(project: &Project) -> Finding {
    let cache = project.cache();
    let state = match cache.state() {
        Ok(state) => state,
        Err(fault) => {
            let fix = format!("see who may read {}, or remove it: it is made again", cache.root());
            return Finding::warn(ID, WHY, format!("{}: {}", fault.what, fault.why), fix);
        }
    };
    let what = format!("{} libraries, {}", grouped(state.entries.into()), size(state.bytes));
    match abandoned(project).len() {
        0 if state.bytes <= BOUND => Finding::ok(ID, WHY, what),
        0 => Finding::warn(ID, WHY, what, "`kiln doctor --fix` trims it"),
        left => {
            let what = format!("{what}, and {left} left by builds that were killed");
            Finding::warn(ID, WHY, what, "`kiln doctor --fix` removes them")
        }
    }
}

/// Folders of builds that were killed.
pub(crate) fn abandoned(project: &Project) -> Vec<Utf8PathBuf> {
    let Ok(folders) = project.cache().root().join("tmp").read_dir_utf8() else { return Vec::new() };
    let old = |entry: &camino::Utf8DirEntry| {
        let modified = entry.metadata().and_then(|m| m.modified()).ok();
        modified.and_then(|m| m.elapsed().ok()).is_some_and(|age| age > ABANDONED)
    };
    folders.flatten().filter(old).map(camino::Utf8DirEntry::into_path).collect()
}
