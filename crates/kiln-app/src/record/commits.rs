//! Verdicts on commits. In: what was found of a kernel at a commit. Out: a row in the store; and which commits are recorded as
//! built, correct or fast. A store that cannot be written is told; nothing else is lost for it.

use std::collections::{BTreeMap, BTreeSet};

use camino::{Utf8Path, Utf8PathBuf};
use kiln_core::{Fault, Report};
use kiln_store::{CommitJudged, CommitVerdict, Store, Study};

use crate::project::Project;
use crate::repository::git;
use crate::teller::Teller;

/// Where a folder lies in its repository, and at which commit; none outside one, and where files differ from it.
pub(crate) fn clean(folder: &Utf8Path) -> Option<(Utf8PathBuf, String)> {
    // The last of the three fails where the commit does not have the folder: it is ignored, or not added yet.
    let told = git(folder, &["rev-parse", "--show-prefix", "HEAD", "HEAD:./"]).ok()?.ok()?;
    let mut lines = told.lines().rev().skip(1);
    let commit = lines.next()?;
    // At the top of the repository the prefix is an empty line, which is trimmed with what git printed.
    let inside = lines.next().unwrap_or_default();
    let changed = git(folder, &["status", "--porcelain", "--", "."]).ok()?.ok()?;
    changed.is_empty().then(|| (inside.trim_end_matches('/').into(), commit.to_string()))
}

/// What was found of a kernel at a commit.
pub(crate) struct AtCommit<'c> {
    pub(crate) kernel: &'c str,
    /// The kernel's folder within its repository.
    pub(crate) inside: &'c Utf8Path,
    pub(crate) commit: &'c str,
    pub(crate) judged: CommitJudged,
    pub(crate) good: bool,
    pub(crate) target: &'c str,
    pub(crate) variant: &'c str,
    pub(crate) device: &'c str,
    pub(crate) words: &'c str,
}

impl AtCommit<'_> {
    /// Records it.
    pub(crate) fn record(&self, project: &Project, teller: &Teller<'_>) {
        let verdict = CommitVerdict {
            id: Study::new_id(),
            at_ms: jiff::Timestamp::now().as_millisecond(),
            kernel: self.kernel.into(),
            inside: self.inside.to_string(),
            git_commit: self.commit.into(),
            judged: self.judged,
            good: self.good,
            target: self.target.into(),
            variant: self.variant.into(),
            device: self.device.into(),
            words: self.words.into(),
            kiln_version: env!("CARGO_PKG_VERSION").into(),
        };
        if let Err(fault) = project.store().and_then(|store| store.record_commit(&verdict)) {
            teller.warn(&[Report::warning(format!("the verdict on this commit is not recorded: {fault}"))]);
        }
    }
}

/// Commits that are recorded as good by a measure: by the newest verdict on each, and by runs, which are built and correct. A
/// commit that is fast is correct, and one that is correct builds.
pub(crate) fn good(
    store: &Store,
    kernel: &str,
    inside: &Utf8Path,
    judged: CommitJudged,
) -> Result<BTreeSet<String>, Fault> {
    let mut newest = verdicts(store, kernel, inside, judged)?;
    if judged != CommitJudged::Fast {
        for commit in store.points(kernel)?.into_iter().filter_map(|point| point.git_commit) {
            // A tree with changes is no commit.
            if !commit.ends_with('+') {
                newest.entry(commit).or_insert(true);
            }
        }
    }
    Ok(newest.into_iter().filter(|(_, good)| *good).map(|(commit, _)| commit).collect())
}

/// Commits that are recorded as bad by a measure.
pub(crate) fn bad(
    store: &Store,
    kernel: &str,
    inside: &Utf8Path,
    judged: CommitJudged,
) -> Result<BTreeSet<String>, Fault> {
    let newest = verdicts(store, kernel, inside, judged)?;
    Ok(newest.into_iter().filter(|(_, good)| !*good).map(|(commit, _)| commit).collect())
}

/// The newest verdict on each commit.
fn verdicts(
    store: &Store,
    kernel: &str,
    inside: &Utf8Path,
    judged: CommitJudged,
) -> Result<BTreeMap<String, bool>, Fault> {
    let mut newest: BTreeMap<String, bool> = BTreeMap::new();
    for verdict in store.commits(kernel)?.into_iter().filter(|verdict| verdict.inside == inside.as_str()) {
        // Bad by a weaker measure is bad by this one, good by a stronger one is good.
        let says = if verdict.good { verdict.judged >= judged } else { verdict.judged <= judged };
        if says {
            newest.entry(verdict.git_commit).or_insert(verdict.good);
        }
    }
    Ok(newest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_verdict_counts_and_a_stronger_one_implies_the_weaker() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(folder.path().join("kiln.db").to_str().unwrap()).unwrap();
        use CommitJudged::{Build, Check, Fast};
        let rows = [
            ("a", Check, true, 1),
            ("a", Check, false, 2),
            ("b", Fast, true, 3),
            ("c", Build, true, 4),
            ("d", Build, false, 5),
            ("d", Build, true, 6),
            ("e", Fast, false, 7),
        ];
        for (commit, judged, good, at_ms) in rows {
            let verdict = CommitVerdict {
                id: Study::new_id(),
                at_ms,
                kernel: "k".into(),
                inside: "k".into(),
                git_commit: commit.into(),
                judged,
                good,
                target: "cpu".into(),
                variant: String::new(),
                device: String::new(),
                words: String::new(),
                kiln_version: String::new(),
            };
            store.record_commit(&verdict).unwrap();
        }
        let good = |judged| good(&store, "k", Utf8Path::new("k"), judged).unwrap().into_iter().collect::<Vec<_>>();
        assert_eq!(
            (good(Build).join(""), good(Check).join(""), good(Fast).join("")),
            ("abcd".into(), "b".into(), "b".into())
        );
        assert!(super::good(&store, "k", Utf8Path::new("elsewhere"), Build).unwrap().is_empty());
    }
}
