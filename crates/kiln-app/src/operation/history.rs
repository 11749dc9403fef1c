//! Past studies and benchmarks, newest first. In: a kernel, or all of them. Out: each as it stands now. Where the kernel asked
//! for has none, the kernels that have.

mod changes;
mod last_good;
mod only;
mod series;
mod table;

use std::collections::BTreeSet;

use camino::{Utf8Path, Utf8PathBuf};
use kiln_session::Decision;
use kiln_store::{Filter, Run, Store, Study, Validation};

use crate::failure::Failure;
use crate::kernel::{KernelFile, Opened, Selecting};
use crate::operation::session::retired_kernel;
use crate::operation::tune::spec_hash;
use crate::project::Project;
use crate::record::{StudyNow, Whose, as_they_stand, place_of};

pub use changes::{Changes, ChangesRequest, changes};
pub(crate) use last_good::good_commits;
pub use last_good::{LastGood, last_good};
pub use only::HistoryFilter;
use only::{Only, Record};
pub use series::{Series, SeriesChange, SeriesKey, SeriesPoint};
pub use table::{FileChange, FileChanges, FileSeriesChanges, series_changes};

/// Which studies to list.
#[derive(Debug, Clone, Default)]
pub struct HistoryRequest {
    /// Only those of this kernel: its folder, its kernel.toml or its name.
    pub kernel: Option<Utf8PathBuf>,
    /// Whether that is a name, whatever lies in a folder of this name.
    pub by_name: bool,
    /// Only studies with this tag.
    pub tag: Option<String>,
    /// Of those, these alone.
    pub only: HistoryFilter,
    /// The newest so many.
    pub limit: u32,
}

/// Past studies.
pub struct History {
    /// The newest first.
    pub studies: Vec<StudyNow>,
    /// Benchmarks, the newest first.
    pub runs: Vec<Run>,
    /// Configurations that were validated, the newest first.
    pub validations: Vec<Validation>,
    /// The decision by which the kernel is retired, if it is.
    pub retired: Option<Decision>,
    /// The kernel they were asked for by.
    pub kernel: Option<String>,
    /// Kernels that have studies, for when the one asked for has none.
    pub others: Vec<String>,
    /// Folders of other kernels of its name that have studies, for when it has none.
    pub namesakes: Vec<String>,
    /// Which filter left nothing, in words, where one did.
    pub emptied: Option<String>,
    /// True when there are older ones.
    pub more: bool,
    /// How many records cannot be read, and are not among these.
    pub damaged: usize,
}

/// Lists past studies.
pub fn history(project: &Project, request: &HistoryRequest) -> Result<History, Failure> {
    let is_path = |words: &Utf8Path| !request.by_name && is_path(words);
    let named = |words: &Utf8Path| if request.by_name { Ok(words.to_string()) } else { kernel_name(words) };
    let kernel = request.kernel.as_deref().map(named).transpose()?;
    let only = Only::read(&request.only)?;
    let (mut studies, mut runs, mut validations, mut others, mut damaged) = Default::default();
    let mut namesakes = Vec::new();
    let mut emptied = None;
    if let Some(store) = project.recorded()? {
        // A path means the kernel there, not another one of its name.
        let at = request.kernel.as_deref().filter(|words| is_path(words)).zip(kernel.as_deref());
        let whose = at.map(|(path, name)| Whose::at(name, path));
        // One more than is shown tells whether there are older ones. What is looked through for some is read whole.
        let whole = whose.is_some() || request.tag.is_some() || !only.is_all();
        let limit = (!whole).then_some(request.limit.saturating_add(1));
        let filter = Filter { kernel: kernel.clone(), limit };
        let labels = store.labels()?;
        let tagged = |study: &Study| {
            let has = |tag| labels.get(&study.id).is_some_and(|labels| labels.tags.contains(tag));
            request.tag.as_ref().is_none_or(has)
        };
        let mut found = store.studies(&filter)?;
        found.retain(|study| tagged(study) && whose.as_ref().is_none_or(|whose| whose.is(study)));
        let mut all: Vec<Record> = found.iter().map(Record::from).collect();
        found.retain(|study| only.keeps(&Record::from(study)));
        found.truncate(request.limit as usize + 1);
        studies = as_they_stand(&store, found)?;
        // Benchmarks have no tags.
        if request.tag.is_none() {
            runs = store.runs(&filter)?;
            runs.retain(|run| whose.as_ref().is_none_or(|whose| whose.ran(run)));
            all.extend(runs.iter().map(Record::from));
            runs.retain(|run| only.keeps(&Record::from(run)));
            validations = store.validations(kernel.as_deref())?;
            all.extend(validations.iter().map(Record::from));
            validations.retain(|made| only.keeps(&Record::from(made)));
            // Of other sources nothing is known.
            let (mut shown, most) = (0, request.limit as usize);
            validations.retain(|made| {
                let stands = shown <= most && !is_outdated(made);
                shown += usize::from(stands);
                stands
            });
        }
        emptied = only.emptied(&all);
        if studies.is_empty() && runs.is_empty() {
            others = kernels(&store)?;
            if let Some(whose) = &whose {
                let named = store.studies(&Filter { kernel: kernel.clone(), limit: None })?;
                let theirs = named.iter().filter(|study| !whose.is(study)).map(place_of);
                namesakes = theirs.collect::<BTreeSet<String>>().into_iter().collect();
                // The kernel itself has none.
                others.retain(|name| Some(name) != kernel.as_ref());
            }
        }
        damaged = store.damaged().len();
    }
    let limit = request.limit as usize;
    let more = studies.len() > limit || runs.len() > limit || validations.len() > limit;
    studies.truncate(limit);
    runs.truncate(limit);
    validations.truncate(limit);
    let at = request.kernel.as_deref().filter(|words| is_path(words));
    let retired = kernel.as_deref().map(|name| retired_kernel(project, name, at)).transpose()?.flatten();
    Ok(History { studies, runs, validations, retired, kernel, others, namesakes, emptied, more, damaged })
}

/// Whether the kernel has changed since it was validated, as far as its files are there to be looked at.
fn is_outdated(made: &Validation) -> bool {
    let hashes = || {
        let file = KernelFile::read(Utf8Path::new(&made.path)).ok()?;
        let selecting = Selecting {
            path: made.path.clone().into(),
            target: Some(made.target.clone()),
            variant: Some(made.variant.clone()).filter(|variant| !variant.is_empty()),
            ..Selecting::default()
        };
        let opened = Opened::unexamined(&file, &selecting).ok()?;
        Some((opened.kernel.fingerprint().ok()?, spec_hash(&opened.kernel)))
    };
    hashes().is_some_and(|(sources, spec)| sources != made.sources || spec != made.spec_hash)
}

/// Whether words mean a place and no name.
pub(crate) fn is_path(words: &Utf8Path) -> bool {
    words.as_str().contains('/') || words.is_file() || words.join("kernel.toml").is_file()
}

/// The name of the kernel meant: that of the file where there is one, else what was typed.
fn kernel_name(words: &Utf8Path) -> Result<String, Failure> {
    if is_path(words) { Ok(KernelFile::read(words)?.spec.name) } else { Ok(words.to_string()) }
}

/// Kernels that have studies.
fn kernels(store: &Store) -> Result<Vec<String>, Failure> {
    let mut names: Vec<String> = store.studies(&Filter::default())?.into_iter().map(|s| s.kernel).collect();
    names.sort();
    names.dedup();
    Ok(names)
}
