//! What the store holds of a kernel, and how its files are now. In: a project, a kernel. Out: studies, runs, profiles, validations and
//! verdicts of that kernel alone, newest first.

use std::collections::BTreeSet;

use camino::{Utf8Path, Utf8PathBuf};
use kiln_core::grouped;
use kiln_diagnose::next::Look;
use kiln_store::{CommitVerdict, Filter, ProfileRecord, Run, Store, Study, Validation};
use kiln_study::Kernel;

use super::asked::Asked;
use crate::attempt::sources_at;
use crate::failure::Failure;
use crate::kernel::folder;
use crate::operation::tune::spec_hash;
use crate::project::Project;
use crate::record::{Whose, commits, folder_of};
use crate::repository::{git, in_worktree};

/// So many of each are looked at, the newest.
const NEWEST: u32 = 100;

/// What is recorded of a kernel.
pub(super) struct Records {
    pub(super) store: Option<Store>,
    pub(super) studies: Vec<Study>,
    /// Runs of a configuration, and of baselines alone; no sweeps.
    pub(super) runs: Vec<Run>,
    pub(super) profiles: Vec<ProfileRecord>,
    pub(super) validations: Vec<Validation>,
    pub(super) commits: Vec<CommitVerdict>,
}

impl Records {
    pub(super) fn of(project: &Project, asked: &Asked) -> Result<Records, Failure> {
        let Some(store) = project.recorded()? else {
            let (studies, runs, profiles) = Default::default();
            return Ok(Records { store: None, studies, runs, profiles, validations: vec![], commits: vec![] });
        };
        let (name, whose) = (asked.name.as_str(), Whose::at(&asked.name, &asked.path));
        let filter = Filter { kernel: Some(name.into()), limit: Some(NEWEST) };
        let mut studies = store.studies(&filter)?;
        studies.retain(|study| whose.is(study));
        let mut runs = store.runs(&filter)?;
        // What a bisection measured of other commits says nothing about the files as they are.
        let elsewhere = |run: &Run| {
            let folder = run.environment.read().ok().and_then(|environment| environment.folder.clone());
            folder.is_some_and(|folder| in_worktree(Utf8Path::new(&folder)))
        };
        runs.retain(|run| whose.ran(run) && run.sweep().is_none() && !elsewhere(run));
        let ours = folder_of(&asked.path).map(|folder| folder.to_string());
        let mut profiles = store.profiles(Some(name))?;
        // One whose folder is gone was moved.
        profiles.retain(|profile| {
            ours.as_ref().is_none_or(|ours| profile.path == *ours || !Utf8Path::new(&profile.path).exists())
        });
        profiles.reverse();
        let validations = store.validations(Some(name))?;
        let mut commits = store.commits(name)?;
        // A kernel is known by its name and its folder.
        commits.retain(|verdict| ours.as_ref().is_none_or(|ours| Utf8Path::new(ours).ends_with(&verdict.inside)));
        Ok(Records { store: Some(store), studies, runs, profiles, validations, commits })
    }

    /// Whether there is anything.
    pub(super) fn any(&self) -> bool {
        let empty = self.studies.is_empty() && self.runs.is_empty() && self.profiles.is_empty();
        !(empty && self.validations.is_empty() && self.commits.is_empty())
    }

    /// Target and variant of what was recorded last.
    pub(super) fn worked_on(&self) -> (Option<String>, Option<String>) {
        let of = |at: i64, target: &str, variant: &str| (at, target.to_string(), variant.to_string());
        let study = self.studies.first().map(|own| of(own.started_ms, &own.target, &own.variant));
        let run = self.runs.first().map(|own| of(own.started_ms, &own.target, &own.variant));
        let profile = self.profiles.first().map(|own| of(own.at_ms, &own.target, &own.variant));
        // Older kilns recorded none where none was typed.
        let verdict = self.commits.iter().find(|own| !own.target.is_empty());
        let verdict = verdict.map(|own| of(own.at_ms, &own.target, &own.variant));
        match [study, run, profile, verdict].into_iter().flatten().max() {
            Some((_, target, variant)) => (Some(target), Some(variant).filter(|variant| !variant.is_empty())),
            None => (None, None),
        }
    }

    /// How much there is, in words.
    pub(super) fn logged(&self, attempts: usize) -> Look<String> {
        let parts = [
            (attempts, "attempt", "attempts"),
            (self.studies.len(), "study", "studies"),
            (self.runs.len(), "run", "runs"),
            (self.profiles.len(), "profile", "profiles"),
            (self.commits.len(), "verdict on a commit", "verdicts on commits"),
        ];
        let word = |(count, one, many): &(usize, &str, &str)| match count {
            0 => None,
            1 => Some(format!("1 {one}")),
            many_of => Some(format!("{} {many}", grouped(*many_of as u128))),
        };
        let words: Vec<String> = parts.iter().filter_map(word).collect();
        Look::of(Some(words.join(", ")).filter(|words| !words.is_empty()))
    }
}

/// How the kernel's files are now.
pub(super) struct Now {
    /// When the youngest of its sources was written, in milliseconds since 1970.
    pub(super) modified_ms: Option<i64>,
    /// The hash of everything that decides what is computed.
    pub(super) sources: Option<String>,
    /// The hash of the kernel file.
    pub(super) spec_hash: Option<String>,
    /// The commits that have the kernel's folder as it is; none where files differ from the newest, and outside a repository.
    commits: BTreeSet<String>,
}

impl Now {
    pub(super) fn of(asked: &Asked, kernel: Option<&Kernel<'_>>) -> Now {
        Now {
            modified_ms: modified(asked),
            sources: kernel.and_then(|kernel| kernel.fingerprint().ok()),
            spec_hash: kernel.map(spec_hash),
            commits: commits_of(folder(&asked.path)),
        }
    }

    /// Whether a commit has the kernel's folder as it is now: a verdict on any other is about other files.
    pub(super) fn is_of(&self, commit: &str) -> bool {
        self.commits.contains(commit)
    }
}

/// The newest commit and those before it that have the same in a folder.
fn commits_of(folder: &Utf8Path) -> BTreeSet<String> {
    let Some((_, head)) = commits::clean(folder) else { return BTreeSet::new() };
    let listed = |words: &[&str]| git(folder, &[&["rev-list", "--first-parent"][..], words].concat()).ok()?.ok();
    let changed = listed(&["--max-count=1", &head, "--", "."]).filter(|commit| !commit.is_empty());
    let since =
        changed.as_ref().and_then(|changed| listed(&[format!("{changed}..{head}").as_str()])).unwrap_or_default();
    since.lines().map(String::from).chain(changed).chain([head]).collect()
}

/// When the youngest of the kernel's sources was written; the kernel file is one.
fn modified(asked: &Asked) -> Option<i64> {
    let moment = |file: &Utf8PathBuf| {
        let since = std::fs::metadata(file).ok()?.modified().ok()?.duration_since(std::time::UNIX_EPOCH).ok()?;
        i64::try_from(since.as_millis()).ok()
    };
    sources_at(asked.path.as_str()).iter().filter_map(moment).max()
}
