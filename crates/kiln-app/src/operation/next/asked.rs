//! Which kernel is meant. In: what was typed, the current folder, the store. Out: a kernel by name and path, with its file where that can
//! be read. Refuses a name that nothing is recorded of, and a file with mistakes.

use camino::{Utf8Path, Utf8PathBuf};
use kiln_core::{Report, nearest};
use kiln_diagnose::next::{KernelAt, quoted};
use kiln_store::{AttemptsOf, Filter};
use kiln_study::Kernel;

use super::NextRequest;
use super::records::Records;
use crate::failure::Failure;
use crate::kernel::{KernelFile, Selecting, folder, kernel, kernels_below, runnable};
use crate::operation::history::is_path;
use crate::project::Project;

/// Kernels that are named where none was.
const SHOWN: usize = 5;
/// Attempts that are looked through for kernels.
const NEWEST: u32 = 200;
/// Where `kiln ci --update` keeps what was reached.
const RATCHET: &str = "kiln-ratchet.toml";

/// A kernel.
pub(super) struct Asked {
    pub(super) name: String,
    pub(super) path: Utf8PathBuf,
    /// None where it is not there any more, or cannot be read.
    pub(super) file: Option<KernelFile>,
}

impl Asked {
    /// The kernel that is meant; none where there is none to mean.
    pub(super) fn find(project: &Project, request: &NextRequest) -> Result<Option<Asked>, Failure> {
        let here = Utf8Path::new(".");
        match request.kernel.as_deref() {
            Some(path) if !request.by_name && is_path(path) => Asked::read(path).map(Some),
            Some(name) => Asked::named(project, name.as_str()).map(Some),
            None if here.join("kernel.toml").is_file() => Asked::read(here).map(Some),
            None => match newest(project)? {
                Some((name, path)) => Ok(Some(Asked::recorded(name, path))),
                None => Asked::below(here),
            },
        }
    }

    /// The only kernel below a folder. Several are for the user to choose from.
    fn below(folder: &Utf8Path) -> Result<Option<Asked>, Failure> {
        let found = kernels_below(folder);
        match found.as_slice() {
            [] => Ok(None),
            [one] => Asked::read(one).map(Some),
            many => {
                let some: Vec<&str> = many.iter().take(SHOWN).map(|path| path.as_str()).collect();
                let more = if many.len() > SHOWN { ", ..." } else { "" };
                let report = Report::error(format!("there are {} kernels here, and nothing is recorded", many.len()));
                let report = report.label(format!("expected one of {}{more}", some.join(", ")));
                Err(report.hint(format!("kiln next {}", many[0])).into())
            }
        }
    }

    fn read(path: &Utf8Path) -> Result<Asked, Failure> {
        let file = KernelFile::read(path)?;
        Ok(Asked { name: file.spec.name.clone(), path: path.into(), file: Some(file) })
    }

    /// A kernel where it was last, or where it is now if nothing is there any more.
    pub(super) fn recorded(name: String, path: String) -> Asked {
        let gone = !Utf8Path::new(&path).exists();
        let read = |path: Utf8PathBuf| KernelFile::read(&path).ok().map(|file| (path, file));
        let mut below = kernels_below(Utf8Path::new(".")).into_iter().filter(|_| gone).filter_map(read);
        if let Some((path, file)) = below.find(|(_, file)| file.spec.name == name) {
            return Asked { name, path, file: Some(file) };
        }
        let path = Utf8PathBuf::from(path);
        let file = KernelFile::read(&path).ok().filter(|file| file.spec.name == name);
        Asked { name, path, file }
    }

    fn named(project: &Project, name: &str) -> Result<Asked, Failure> {
        let all = all(project)?;
        if let Some((_, name, path)) = all.iter().find(|(_, own, _)| own == name) {
            return Ok(Asked::recorded(name.clone(), path.clone()));
        }
        let near =
            nearest(name, all.iter().map(|(_, own, _)| own.as_str())).map(|near| format!("did you mean {near}?"));
        let hint = near.unwrap_or_else(|| "give its folder or its kernel.toml".into());
        Err(Report::error(format!("nothing is recorded of a kernel `{name}`")).hint(hint).into())
    }

    /// The kernel as it is now, on the target and variant that was worked on last.
    pub(super) fn opened(&self, records: &Records) -> Option<Kernel<'_>> {
        let file = self.file.as_ref()?;
        let selecting = self.selecting(records);
        let selection = match &selecting.target {
            Some(_) => file.select(&selecting).ok()?,
            None => {
                runnable(file, &selecting).map(|(selection, _)| selection).or_else(|_| file.select(&selecting)).ok()?
            }
        };
        kernel(selection, &self.path).ok()
    }

    fn selecting(&self, records: &Records) -> Selecting {
        let (target, variant) = records.worked_on();
        Selecting { path: self.path.clone(), target, variant, ..Selecting::default() }
    }

    /// A target of its file, by name.
    pub(super) fn target(&self, name: &str) -> Option<&kiln_spec::Target> {
        self.file.as_ref()?.spec.targets.iter().find(|target| target.kind.name() == name)
    }

    /// The kernel as commands name it.
    pub(super) fn at(&self, records: &Records) -> String {
        let (target, variant) = records.worked_on();
        let flag =
            |name: &str, value: Option<String>| value.map(|v| format!(" {name} {}", quoted(&v))).unwrap_or_default();
        format!("{}{}{}", quoted(self.path.as_str()), flag("--target", target), flag("--variant", variant))
    }

    /// What its file says.
    pub(super) fn described(&self, records: &Records, kernel: Option<&Kernel<'_>>) -> KernelAt {
        let (target, variant) = records.worked_on();
        let selection = kernel.map(|kernel| &kernel.selection);
        let folder = folder(&self.path);
        KernelAt {
            name: self.name.clone(),
            path: self.path.to_string(),
            folder: folder.to_string(),
            target,
            variant,
            has_baseline: selection.map(|selection| !selection.target.baselines.is_empty()),
            has_reference: self.file.as_ref().map(|file| file.spec.reference.is_some()),
            smallest_workload: selection
                .and_then(|selection| selection.workloads.first())
                .map(|workload| workload.name.to_string())
                .filter(|name| !name.is_empty()),
            guarded: folder.is_dir().then(|| folder.join(RATCHET).is_file()),
        }
    }
}

/// The newest kernel that something is recorded of.
fn newest(project: &Project) -> Result<Option<(String, String)>, Failure> {
    Ok(all(project)?.into_iter().next().map(|(_, name, path)| (name, path)))
}

/// Every kernel with its path, as it was named last; the newest first.
fn all(project: &Project) -> Result<Vec<(i64, String, String)>, Failure> {
    let Some(store) = project.recorded()? else { return Ok(Vec::new()) };
    let filter = Filter { kernel: None, limit: Some(NEWEST) };
    let studies = store.studies(&filter)?.into_iter().map(|study| (study.started_ms, study.kernel, study.path));
    let runs = store.runs(&filter)?.into_iter().map(|run| (run.started_ms, run.kernel, run.path));
    let attempts = store.attempts(AttemptsOf::Before(i64::MAX, NEWEST))?.into_iter();
    let attempts = attempts.filter(|one| !one.kernel.is_empty()).map(|one| (one.at_ms, one.kernel, one.path));
    let mut all: Vec<(i64, String, String)> = studies.chain(runs).chain(attempts).collect();
    all.sort_by_key(|(at, _, _)| std::cmp::Reverse(*at));
    Ok(all)
}
