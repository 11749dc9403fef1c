//! Whose study it is. A kernel is known by its name and its folder: two folders may hold kernels of one name. In: a kernel and
//! a study's name. Out: the study meant. Refuses a study of another kernel.

use camino::{Utf8Path, Utf8PathBuf};
use kiln_core::Report;
use kiln_store::{Environment, Filter, Kept, Run, RunPoint, State, Store, Study};

use crate::failure::Failure;
use crate::project::Project;

/// Studies looked through for the last of a folder.
const NEWEST: u32 = 200;

/// A kernel as studies are recorded of it.
#[derive(Debug, Clone)]
pub(crate) struct Whose {
    name: String,
    /// None where it cannot be found out.
    folder: Option<Utf8PathBuf>,
}

impl Whose {
    /// The kernel of that name at a path: its folder or its kernel.toml.
    pub(crate) fn at(name: &str, path: &Utf8Path) -> Whose {
        Whose { name: name.into(), folder: folder_of(path) }
    }

    /// Whether a study is of this kernel. One whose folder is not known by now counts: kernels are moved.
    pub(crate) fn is(&self, study: &Study) -> bool {
        self.has(&study.kernel, &study.path, &study.environment)
    }

    /// The same of a benchmark.
    pub(crate) fn ran(&self, run: &Run) -> bool {
        self.has(&run.kernel, &run.path, &run.environment)
    }

    /// The same of what a benchmark measured.
    pub(crate) fn measured(&self, kernel: &str, point: &RunPoint) -> bool {
        self.has(kernel, &point.path, &point.environment)
    }

    fn has(&self, kernel: &str, path: &str, environment: &Kept<Environment>) -> bool {
        let recorded = environment.read().ok().and_then(|e| e.folder.as_ref()).map(Utf8PathBuf::from);
        // Older kilns recorded no folder for benchmarks. What was typed means the same only where it was typed.
        let theirs = match recorded {
            Some(folder) => Some(folder).filter(|folder| folder.is_dir()),
            None => folder_of(Utf8Path::new(path)),
        };
        let elsewhere = self.folder.as_ref().zip(theirs).is_some_and(|(ours, theirs)| *ours != theirs);
        kernel == self.name && !elsewhere
    }

    /// Where its winner goes unless told otherwise: a folder by its name, and where another kernel of that name has it, one by
    /// name and path.
    pub(crate) fn best(&self, project: &Project) -> Utf8PathBuf {
        let folder = project.best(&self.name);
        let Some(ours) = self.folder.as_ref().filter(|ours| !kiln_study::is_of(&folder, ours, &folder_of)) else {
            return folder;
        };
        let hash = blake3::hash(ours.as_str().as_bytes()).to_hex();
        project.best(&format!("{}-{}", self.name, &hash[..8]))
    }

    /// The newest of this kernel on a target that did not end.
    pub(crate) fn unfinished(&self, store: &Store, target: &str) -> Result<Option<Study>, Failure> {
        let open = |study: &Study| study.state != State::Finished && study.target == target;
        Ok(self.newest(store)?.into_iter().find(|study| open(study) && self.is(study)))
    }

    fn newest(&self, store: &Store) -> Result<Vec<Study>, Failure> {
        Ok(store.studies(&Filter { kernel: Some(self.name.clone()), limit: Some(NEWEST) })?)
    }

    /// The study that is meant; `last` is the last of this kernel.
    pub(crate) fn meant(&self, store: &Store, name: &str) -> Result<Study, Failure> {
        let kernel = self.name.as_str();
        let last = match name == "last" || name == kernel {
            true => self.newest(store)?.into_iter().find(|study| self.is(study)),
            false => None,
        };
        let study = match last {
            Some(study) => return Ok(study),
            None => store.find(if name == "last" { kernel } else { name })?,
        };
        if self.is(&study) {
            return Ok(study);
        }
        let (short, theirs) = (study.short_id(), study.kernel.as_str());
        let what = match theirs == kernel {
            true => format!("study {short} tuned another {kernel}, the one in {}", place_of(&study)),
            false => format!("study {short} tuned {theirs}, not {kernel}"),
        };
        Err(Report::error(what).hint(format!("`kiln history {kernel}` lists those of {kernel}")).into())
    }
}

/// The folder that a study's kernel lay in: the whole path, where that is recorded.
pub(crate) fn place_of(study: &Study) -> String {
    let recorded = study.environment.read().ok().and_then(|environment| environment.folder.clone());
    recorded.unwrap_or_else(|| study.path.clone())
}

/// The folder of a kernel, as only one folder is called.
pub(crate) fn folder_of(path: &Utf8Path) -> Option<Utf8PathBuf> {
    let folder = match path.is_dir() {
        true => path,
        false => path.parent().filter(|_| path.is_file())?,
    };
    let folder = if folder.as_str().is_empty() { Utf8Path::new(".") } else { folder };
    folder.canonicalize_utf8().ok()
}
