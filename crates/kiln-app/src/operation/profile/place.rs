//! Where profiles are kept: a folder of their own each, below the project's. In: what is profiled. Out: paths. Made when something is to be
//! written.

use std::path::{Path, PathBuf};

use camino::Utf8PathBuf;
use kiln_core::Fault;

use super::Profiled;
use crate::project::Project;

/// The folder of one profile.
#[derive(Debug, Clone)]
pub(crate) struct Place {
    folder: Utf8PathBuf,
}

impl Place {
    /// `.kiln/profiles/KERNEL/20261117T142355Z_WORKLOAD_quick`, or with the baseline's name before the level.
    pub(crate) fn new(project: &Project, profiled: &Profiled) -> Place {
        let baseline = profiled.baseline.as_deref();
        Place::named(project, &profiled.kernel, &profiled.workload, baseline, profiled.level.name())
    }

    pub(crate) fn named(project: &Project, kernel: &str, workload: &str, baseline: Option<&str>, level: &str) -> Place {
        let now = jiff::Timestamp::now().strftime("%Y%m%dT%H%M%S%3fZ").to_string();
        let parts = [Some(now.as_str()), Some(workload), baseline, Some(level)];
        let parts: Vec<String> = parts.into_iter().flatten().filter(|part| !part.is_empty()).map(plain).collect();
        Place { folder: project.folder().join("profiles").join(plain(kernel)).join(parts.join("_")) }
    }

    /// Makes the folder.
    pub(super) fn make(&self) -> Result<(), Fault> {
        fs_err::create_dir_all(&self.folder).map_err(|e| Fault::new(format!("making {} for a profile", self.folder), e))
    }

    /// A file in it, from wherever it is asked for: the profiler may work in another folder.
    pub(super) fn absolute(&self, name: &str) -> Result<PathBuf, Fault> {
        let path = self.folder.join(name);
        std::path::absolute(path.as_std_path()).map_err(|e| Fault::new(format!("looking for {path}"), e))
    }

    /// The same as it is shown.
    pub(super) fn shown(&self, name: &str) -> Utf8PathBuf {
        self.folder.join(name)
    }

    /// Removes it where nothing of use is in it.
    pub(super) fn clear(&self, report: &Path) {
        if !report.exists() {
            let _ = fs_err::remove_dir_all(&self.folder);
        }
    }
}

/// A name that is one folder on every system.
fn plain(name: impl AsRef<str>) -> String {
    let letter = |c: char| if c.is_alphanumeric() || matches!(c, '-' | '_' | '.') { c } else { '-' };
    name.as_ref().chars().map(letter).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::project::Stop;

    #[test]
    fn a_profile_has_a_folder_that_says_what_it_is_of() {
        let project = Project::here(None, Stop::never());
        let place = Place::named(&project, "a/b", "s 512", Some("torch"), "full");
        let path = place.shown("raw.csv").into_string();
        assert!(path.starts_with(".kiln/profiles/a-b/2") && path.ends_with("Z_s-512_torch_full/raw.csv"), "{path}");
        let none = Place::named(&project, "k", "", None, "quick").shown("x").into_string();
        assert!(none.ends_with("Z_quick/x"), "{none}");
    }
}
