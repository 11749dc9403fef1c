//! What can safely be put right: nothing that a user made is touched.

use crate::doctor::Finding;
use kiln_core::{grouped, size};

use crate::doctor::cache::abandoned;
use crate::doctor::venv;
use crate::project::Project;

const ID: &str = "fix";
const WHY: &str = "it was asked for";

/// What was done, in words, and what could not be.
#[derive(Debug, Default)]
pub(crate) struct Fixed {
    pub(crate) done: Vec<String>,
    pub(crate) failed: Vec<Finding>,
}

/// Makes `.kiln`, trims the build cache, removes what killed builds left behind, and gives Python an environment with NumPy
/// where it has none.
pub(crate) fn fix(project: &Project) -> Fixed {
    let mut fixed = Fixed::default();
    let folder = project.folder();
    if !folder.exists() {
        match fs_err::create_dir_all(folder) {
            Ok(()) => fixed.done.push(format!("made {folder}")),
            Err(why) => fixed.failed.push(Finding::fail(ID, WHY, why.to_string(), "see disk")),
        }
    }
    let before = abandoned(project).len();
    match project.cache().trim() {
        Ok(removed) if removed.entries > 0 => {
            let (entries, bytes) = (grouped(removed.entries.into()), size(removed.bytes));
            fixed.done.push(format!("removed the {entries} libraries used longest ago, {bytes}"));
        }
        Ok(_) => {}
        Err(fault) => {
            let what = format!("{}: {}", fault.what, fault.why);
            fixed.failed.push(Finding::fail(ID, WHY, what, "see who may write there"));
        }
    }
    match before.saturating_sub(abandoned(project).len()) {
        0 => {}
        swept => fixed.done.push(format!("removed {swept} left by builds that were killed")),
    }
    match venv::make(project) {
        Some(Ok(made)) => fixed.done.push(made),
        Some(Err(finding)) => fixed.failed.push(finding),
        None => {}
    }
    if fixed.done.is_empty() && fixed.failed.is_empty() {
        fixed.done.push("nothing needed it".into());
    }
    fixed
}
