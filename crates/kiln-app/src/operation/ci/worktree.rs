//! The base commit, checked out beside the work. In: a folder in a git repository, and what the user calls the base. Out: the
//! commit, and a worktree of it in a temporary folder, removed when it is dropped; one that a killed kiln left behind is
//! removed by the next. Refuses a folder without a repository and a commit that is not in the clone.

use std::process::Command;

use camino::{Utf8Path, Utf8PathBuf};
use kiln_core::{Fault, Report};

use crate::failure::Failure;

/// How the temporary folders of bases begin; the number of the process follows.
const PREFIX: &str = "kiln-base-";

/// A commit to compare with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Base {
    /// What the user calls it.
    pub(super) asked: String,
    /// The commit.
    pub(super) commit: String,
    /// The repository's folder.
    pub(super) repository: Utf8PathBuf,
    /// What a reader should know.
    pub(super) notes: Vec<String>,
}

impl Base {
    /// The commit that is meant by a name: where the work branched off from it.
    pub(super) fn find(folder: &Utf8Path, asked: &str) -> Result<Base, Failure> {
        let missing = |words: String| Report::error(words);
        if asked.trim().is_empty() || asked.starts_with('-') {
            return Err(missing(format!("--base `{asked}` is not a commit"))
                .hint("for example --base origin/main")
                .into());
        }
        let repository = match git(folder, &["rev-parse", "--show-toplevel"])? {
            Ok(repository) => Utf8PathBuf::from(repository),
            // git does not trust a folder that belongs to somebody else, as in many containers.
            Err(why) if why.contains("dubious ownership") => {
                let first = why.lines().next().unwrap_or_default().trim_start_matches("fatal: ").to_string();
                return Err(missing(first)
                    .label("git does not read this repository")
                    .hint("git config --global --add safe.directory FOLDER")
                    .into());
            }
            Err(_) => {
                return Err(missing(format!("{folder} is not in a git repository"))
                    .label("--base checks a commit out of it")
                    .hint("omit --base to compare with kiln-ratchet.toml")
                    .into());
            }
        };
        let Ok(named) = git(folder, &["rev-parse", "--verify", "--quiet", &format!("{asked}^{{commit}}")])? else {
            let shallow = git(folder, &["rev-parse", "--is-shallow-repository"])?.is_ok_and(|answer| answer == "true");
            let report = missing(format!("there is no commit `{asked}` in {repository}"));
            return Err(match shallow {
                true => report
                    .label("the clone is shallow")
                    .hint("git fetch --unshallow; in GitHub Actions: fetch-depth: 0 for actions/checkout")
                    .into(),
                false => report.hint("git fetch origin; `git branch --all` lists what there is").into(),
            });
        };
        let mut notes = Vec::new();
        let commit = match git(folder, &["merge-base", "HEAD", &named])? {
            Ok(common) => common,
            Err(_) => {
                notes.push(format!("HEAD and {asked} have no common commit in this clone: {asked} itself is the base"));
                named
            }
        };
        let changed = git(folder, &["status", "--porcelain", "--", "."])?.unwrap_or_default();
        if !changed.is_empty() {
            notes.push("files differ from the last commit: they are measured as they are".into());
        }
        Ok(Base { asked: asked.into(), commit, repository, notes })
    }

    /// Files of a folder that differ from the base's, as their paths in it.
    pub(super) fn changed(&self, folder: &Utf8Path) -> Result<Vec<String>, Failure> {
        let listed = git(folder, &["diff", "--name-only", "--relative", &self.commit, "--", "."])?.unwrap_or_default();
        Ok(listed.lines().map(String::from).collect())
    }

    /// The start of the commit's name.
    pub(super) fn short(&self) -> &str {
        self.commit.get(..12).unwrap_or(&self.commit)
    }
}

/// A worktree, until it is dropped.
#[derive(Debug)]
pub(super) struct Worktree {
    repository: Utf8PathBuf,
    folder: Utf8PathBuf,
    // Behind the other fields: git is to forget the worktree before its folder goes.
    _holder: tempfile::TempDir,
}

impl Worktree {
    /// Checks a base out.
    pub(super) fn add(base: &Base) -> Result<Worktree, Failure> {
        let fault = |why: String| Fault::new(format!("checking out the base {}", base.short()), why);
        remove_left_behind(&base.repository)?;
        let prefix = format!("{PREFIX}{}-", std::process::id());
        let holder = tempfile::Builder::new().prefix(&prefix).tempdir().map_err(|e| fault(e.to_string()))?;
        let folder = Utf8PathBuf::from_path_buf(holder.path().join("base"));
        let folder = folder.map_err(|path| fault(format!("{} is not UTF-8", path.display())))?;
        let worktree = Worktree { repository: base.repository.clone(), folder, _holder: holder };
        let words = ["worktree", "add", "--detach", "--force", "--quiet", worktree.folder.as_str(), &base.commit];
        // What a repository does on checkouts by its user is not for this one.
        let words = [&["-c", "core.hooksPath=/dev/null"][..], &words].concat();
        match git(&base.repository, &words)? {
            Ok(_) => Ok(worktree),
            Err(why) => Err(fault(why).hint("`git worktree list` shows the repository's worktrees").into()),
        }
    }

    /// Where a path of the repository lies in the worktree; none where the base does not have it.
    pub(super) fn path(&self, ours: &Utf8Path) -> Option<Utf8PathBuf> {
        let there = self.folder.join(ours.canonicalize_utf8().ok()?.strip_prefix(&self.repository).ok()?);
        there.exists().then_some(there)
    }
}

impl Drop for Worktree {
    fn drop(&mut self) {
        // What cannot be removed now is removed by the next kiln; there is nobody left to tell.
        let _ = git(&self.repository, &["worktree", "remove", "--force", self.folder.as_str()]);
    }
}

/// Removes worktrees of kilns that were killed.
fn remove_left_behind(repository: &Utf8Path) -> Result<(), Failure> {
    let Ok(listed) = git(repository, &["worktree", "list", "--porcelain"])? else { return Ok(()) };
    for folder in listed.lines().filter_map(|line| line.strip_prefix("worktree ")) {
        let holder = Utf8Path::new(folder).parent();
        let dead = holder.and_then(Utf8Path::file_name).is_some_and(is_of_the_dead);
        if let (true, Some(holder)) = (dead, holder) {
            let _ = git(repository, &["worktree", "remove", "--force", folder])?;
            let _ = fs_err::remove_dir_all(holder);
        }
    }
    Ok(())
}

/// Whether a folder's name is that of a base whose process is gone.
fn is_of_the_dead(name: &str) -> bool {
    let number = name.strip_prefix(PREFIX).and_then(|rest| rest.split('-').next()).and_then(|n| n.parse::<u32>().ok());
    number.is_some_and(|number| !Utf8Path::new("/proc").join(number.to_string()).exists())
}

/// Where a hook of git has kiln run, these speak of the commit in progress: a worktree of ours must not touch its index.
const OF_A_REPOSITORY: [&str; 9] = [
    "GIT_DIR",
    "GIT_INDEX_FILE",
    "GIT_WORK_TREE",
    "GIT_COMMON_DIR",
    "GIT_PREFIX",
    "GIT_OBJECT_DIRECTORY",
    "GIT_ALTERNATE_OBJECT_DIRECTORIES",
    "GIT_QUARANTINE_PATH",
    "GIT_NAMESPACE",
];

/// Runs git in a folder: what it printed, or what it complained of. A fault where there is no git.
fn git(folder: &Utf8Path, words: &[&str]) -> Result<Result<String, String>, Fault> {
    let mut command = Command::new("git");
    OF_A_REPOSITORY.iter().for_each(|name| _ = command.env_remove(name));
    let output = command.arg("-C").arg(folder).args(words).output();
    let output = output.map_err(|e| Fault::new("running git", e).hint("install git, or omit --base"))?;
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).trim().to_string();
    Ok(if output.status.success() { Ok(text(&output.stdout)) } else { Err(text(&output.stderr)) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_bases_of_processes_that_are_gone_are_left_behind() {
        assert!(is_of_the_dead(&format!("{PREFIX}{}-abc", u32::MAX)));
        assert!(!is_of_the_dead(&format!("{PREFIX}{}-abc", std::process::id())));
        assert!(!is_of_the_dead("kiln-base-") && !is_of_the_dead("work") && !is_of_the_dead("kiln-base-x-1"));
    }

    /// A repository with one commit.
    fn repository() -> (tempfile::TempDir, Utf8PathBuf) {
        let folder = tempfile::tempdir().unwrap();
        let path = Utf8PathBuf::from_path_buf(folder.path().canonicalize().unwrap()).unwrap();
        std::fs::create_dir(path.join("k")).unwrap();
        std::fs::write(path.join("k/a"), "1").unwrap();
        for words in
            [&["init", "-q"][..], &["add", "."], &["-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qm", "1"]]
        {
            git(&path, words).unwrap().unwrap();
        }
        (folder, path)
    }

    #[test]
    fn a_worktree_holds_the_commit_and_is_gone_afterwards() {
        let (_keep, path) = repository();
        let base = Base::find(&path.join("k"), "HEAD").unwrap();
        assert!(base.notes.is_empty());
        std::fs::write(path.join("k/a"), "2").unwrap();
        assert_eq!(Base::find(&path.join("k"), "HEAD").unwrap().notes.len(), 1);
        let worktree = Worktree::add(&base).unwrap();
        let there = worktree.path(&path.join("k")).unwrap();
        assert_eq!(std::fs::read_to_string(there.join("a")).unwrap(), "1");
        std::fs::create_dir(path.join("new")).unwrap();
        assert_eq!(worktree.path(&path.join("new")), None);
        drop(worktree);
        assert!(!there.exists());
        assert_eq!(git(&path, &["worktree", "list"]).unwrap().unwrap().lines().count(), 1);
    }

    #[test]
    fn what_a_killed_kiln_left_is_removed() {
        let (_keep, path) = repository();
        let elsewhere = tempfile::tempdir().unwrap();
        let left = elsewhere.path().join(format!("{PREFIX}{}-x", u32::MAX)).join("base");
        git(&path, &["worktree", "add", "--detach", "--quiet", left.to_str().unwrap(), "HEAD"]).unwrap().unwrap();
        // A worktree of the user's whose folder is away for now stays.
        let away = elsewhere.path().join("away");
        git(&path, &["worktree", "add", "--detach", "--quiet", away.to_str().unwrap(), "HEAD"]).unwrap().unwrap();
        std::fs::rename(&away, elsewhere.path().join("moved")).unwrap();
        remove_left_behind(&path).unwrap();
        assert!(!left.exists());
        assert_eq!(git(&path, &["worktree", "list"]).unwrap().unwrap().lines().count(), 2);
    }

    #[test]
    fn what_is_no_commit_is_refused() {
        let (_keep, path) = repository();
        let refused = |folder: &Utf8Path, asked: &str| Base::find(folder, asked).unwrap_err().to_string();
        assert!(refused(&path, "origin/nope").contains("there is no commit `origin/nope`"));
        assert!(refused(&path, "--force").contains("is not a commit"));
        let outside = tempfile::tempdir().unwrap();
        let outside = Utf8PathBuf::from_path_buf(outside.path().into()).unwrap();
        assert!(refused(&outside, "HEAD").contains("is not in a git repository"));
    }
}
