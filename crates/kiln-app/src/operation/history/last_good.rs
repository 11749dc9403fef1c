//! The newest commit that is recorded as good. In: a kernel and a measure. Out: the commit, of those that the current one descends
//! from. Built and correct are those that `kiln check`, `kiln ci`, `kiln bench` and `kiln bisect` found so; fast are those
//! that `kiln ci` and `kiln bisect` found no slower, and those whose runs lie on the fastest level of their history.

use std::collections::BTreeSet;

use camino::{Utf8Path, Utf8PathBuf};
use kiln_core::{Fault, Report, nearest};
use kiln_stats::ChangeRule;
use kiln_store::{AttemptsOf, CommitJudged, Filter, Store};
use serde::Serialize;

use super::changes::{inside, moments, of_kernel};
use super::{is_path, kernel_name, kernels, series};
use crate::failure::Failure;
use crate::project::Project;
use crate::record::commits;
use crate::repository::Commit;

/// Commits looked through at most.
const MOST: usize = 100_000;
/// How far from the fastest level is fast.
const SLACK: f64 = 0.03;

/// What to do where no folder is known.
const FOLDER: &str = "give the kernel's folder: `kiln history kernels/NAME --last-good`";

/// The newest good commit.
#[derive(Debug, Clone, Serialize)]
pub struct LastGood {
    /// The kernel's name.
    pub kernel: String,
    /// `build`, `check` or `fast`.
    pub judged: &'static str,
    /// The commit; none where none is recorded.
    pub commit: Option<Commit>,
    /// Commits that came after it.
    pub behind: Option<usize>,
    /// How many commits are recorded as good.
    pub recorded: usize,
}

/// Names the newest commit that is recorded as good.
pub fn last_good(project: &Project, path: &Utf8Path, judged: &str) -> Result<LastGood, Failure> {
    let Some(measure) = CommitJudged::named(judged) else {
        let report = Report::error(format!("--last-good {judged} is not understood"));
        return Err(report.label("expected build, check or fast").into());
    };
    let kernel = kernel_name(path)?;
    if !is_path(path) {
        known(project, path)?;
    }
    let Some((repository, inside)) = inside(path) else {
        let what = match path.exists() {
            true => format!("{path} is not in a git repository"),
            false => format!("`{path}` is a kernel's name: commits are those of its folder's repository"),
        };
        return Err(Report::error(what).label("expected a kernel's folder in a git repository").hint(FOLDER).into());
    };
    let recorded = match project.recorded()? {
        Some(store) => good_commits(&store, &kernel, path, &inside, measure)?,
        None => BTreeSet::new(),
    };
    let head = repository.commit("HEAD")?;
    let ancestors = repository.ancestors(&head, MOST)?;
    let place = ancestors.iter().position(|commit| recorded.contains(commit));
    let commit = place.map(|place| repository.described(&ancestors[place])).transpose()?;
    Ok(LastGood { kernel, judged: measure.name(), commit, behind: place, recorded: recorded.len() })
}

/// Refuses a name that no kernel has: neither a folder here nor any record.
fn known(project: &Project, name: &Utf8Path) -> Result<(), Failure> {
    let mut names = Vec::new();
    if let Some(store) = project.recorded()? {
        let own = Filter { kernel: Some(name.to_string()), limit: Some(1) };
        let recorded = !store.attempts(AttemptsOf::Kernel(name.as_str(), 1))?.is_empty()
            || !store.runs(&own)?.is_empty()
            || !store.studies(&own)?.is_empty();
        if recorded {
            return Ok(());
        }
        names = kernels(&store)?;
    }
    let what = match name.is_dir() {
        true => format!("there is no kernel in {name}"),
        false => format!("there is no kernel `{name}` here"),
    };
    let near = nearest(name.as_str(), names.iter().map(String::as_str)).map(|near| format!("did you mean {near}?"));
    let report = Report::error(what).label("expected a kernel's folder, or its kernel.toml");
    Err(report.hint(near.unwrap_or_else(|| FOLDER.into())).into())
}

/// Commits that are recorded as good by a measure.
pub(crate) fn good_commits(
    store: &Store,
    kernel: &str,
    path: &Utf8Path,
    inside: &Utf8PathBuf,
    judged: CommitJudged,
) -> Result<BTreeSet<String>, Failure> {
    let mut found = commits::good(store, kernel, inside, judged)?;
    if judged == CommitJudged::Fast {
        let runs = of_kernel(store, kernel, Some(path).filter(|path| is_path(path)))?;
        let when = moments(&runs);
        let (mut fast, mut slow) = (BTreeSet::new(), BTreeSet::new());
        let rule = ChangeRule::default();
        for series in series::of(runs, false, &when, &rule)? {
            for (point, is_fast) in series.fast(SLACK, &rule) {
                if let (Some(commit), false) = (point.commit.clone(), point.dirty) {
                    _ = if is_fast { fast.insert(commit) } else { slow.insert(commit) };
                }
            }
        }
        let bad = commits::bad(store, kernel, inside, judged).map_err(|e: Fault| e)?;
        found.extend(fast.into_iter().filter(|commit| !slow.contains(commit) && !bad.contains(commit)));
    }
    Ok(found)
}
