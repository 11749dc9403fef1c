//! Git, as far as kiln asks it: commits by their names, what lies between two, and worktrees to build them in. In: a folder in a
//! repository. Out: commits, and folders that are removed when they are dropped; one that a killed kiln left behind is
//! removed by the next. The user's own tree, index and branches are never touched. Refuses a folder without a repository and
//! a commit that is not in the clone.

use std::process::Command;

use camino::{Utf8Path, Utf8PathBuf};
use kiln_core::{Fault, Report};

use crate::failure::Failure;

/// How the temporary folders of worktrees begin; the number of the process follows.
const PREFIX: &str = "kiln-base-";
/// What to do about commits that were not fetched.
pub(crate) const UNSHALLOW: &str = "git fetch --unshallow; in GitHub Actions: fetch-depth: 0 for actions/checkout";
/// Between the fields of a described commit.
const FIELD: char = '\u{1f}';

/// A repository, by the folder of its working tree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Repository {
    pub(crate) folder: Utf8PathBuf,
}

/// A commit as people know it.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct Commit {
    /// Its whole name.
    pub commit: String,
    /// The first line of its message.
    pub subject: String,
    /// Who wrote it.
    pub author: String,
    /// When it was committed, in milliseconds since 1970.
    pub at_ms: i64,
}

impl Commit {
    /// The start of its name.
    pub fn short(&self) -> &str {
        short(&self.commit)
    }
}

/// The start of a commit's name.
pub(crate) fn short(commit: &str) -> &str {
    commit.get(..12).unwrap_or(commit)
}

impl Repository {
    /// The repository around a folder; `needed` says what for, `otherwise` what to do without one.
    pub(crate) fn around(folder: &Utf8Path, needed: &str, otherwise: &str) -> Result<Repository, Failure> {
        match git(folder, &["rev-parse", "--show-toplevel"])? {
            Ok(found) => Ok(Repository { folder: Utf8PathBuf::from(found) }),
            // git does not trust a folder that belongs to somebody else, as in many containers.
            Err(why) if why.contains("dubious ownership") => {
                let first = why.lines().next().unwrap_or_default().trim_start_matches("fatal: ").to_string();
                Err(Report::error(first)
                    .label("git does not read this repository")
                    .hint("git config --global --add safe.directory FOLDER")
                    .into())
            }
            Err(_) => {
                Err(Report::error(format!("{folder} is not in a git repository")).label(needed).hint(otherwise).into())
            }
        }
    }

    /// The commit that a name means.
    pub(crate) fn commit(&self, asked: &str) -> Result<String, Failure> {
        // What begins so is a flag to git.
        if asked.trim().is_empty() || asked.starts_with('-') {
            return Err(Report::error(format!("`{asked}` is not a commit")).into());
        }
        let named = format!("{asked}^{{commit}}");
        if let Ok(found) = git(&self.folder, &["rev-parse", "--verify", "--quiet", &named])? {
            return Ok(found);
        }
        let shallow = self.is_shallow()?;
        let report = Report::error(format!("there is no commit `{asked}` in {}", self.folder));
        Err(match shallow {
            true => report.label("the clone is shallow").hint(UNSHALLOW).into(),
            false => report.hint("git fetch origin; `git branch --all` lists what there is").into(),
        })
    }

    /// Whether commits before some point were not fetched.
    pub(crate) fn is_shallow(&self) -> Result<bool, Failure> {
        Ok(git(&self.folder, &["rev-parse", "--is-shallow-repository"])?.is_ok_and(|answer| answer == "true"))
    }

    /// The newest commit up to this one that added a file, of merges the side they were merged into; none where there is none.
    pub(crate) fn added(&self, commit: &str, file: &Utf8Path) -> Result<Option<String>, Failure> {
        // A first commit adds what it has, whatever somebody's settings show of it.
        let own = ["-c", "log.showRoot=true", "-c", "log.follow=false"];
        let words = ["log", "--first-parent", "-m", "--diff-filter=A", "--format=%H", "-1"];
        let listed = git(&self.folder, &[&own[..], &words, &[commit, "--", file.as_str()]].concat())?;
        let listed = listed.map_err(|why| Fault::new(format!("looking for the commit that added {file}"), why))?;
        Ok(listed.lines().next().map(String::from))
    }

    /// Where a file lay before a commit that moved it; none where the commit did not.
    pub(crate) fn moved_from(&self, commit: &str, file: &Utf8Path) -> Result<Option<Utf8PathBuf>, Failure> {
        let words = ["-c", "core.quotePath=false", "diff", "--name-status", "-M", "--diff-filter=R"];
        let told = git(&self.folder, &[&words[..], &[&format!("{commit}^1"), commit]].concat())?;
        let from = |line: &str| {
            let mut fields = line.split('\t').skip(1);
            let (from, to) = (fields.next()?, fields.next()?);
            (to == file.as_str()).then(|| Utf8PathBuf::from(from))
        };
        Ok(told.ok().and_then(|text| text.lines().find_map(from)))
    }

    /// Whether the first is the second or an ancestor of it.
    pub(crate) fn is_ancestor(&self, first: &str, second: &str) -> Result<bool, Failure> {
        Ok(git(&self.folder, &["merge-base", "--is-ancestor", first, second])?.is_ok())
    }

    /// The commits after the first up to the second, oldest first: of merges the side they were merged into.
    pub(crate) fn between(&self, first: &str, second: &str) -> Result<Vec<String>, Failure> {
        let range = format!("{first}..{second}");
        let listed = git(&self.folder, &["rev-list", "--first-parent", "--reverse", &range])?;
        let listed = listed.map_err(|why| Fault::new(format!("listing the commits {range}"), why))?;
        Ok(listed.lines().map(String::from).collect())
    }

    /// A commit and its ancestors, newest first, at most so many: of merges the side they were merged into.
    pub(crate) fn ancestors(&self, commit: &str, most: usize) -> Result<Vec<String>, Failure> {
        let most = format!("--max-count={most}");
        let listed = git(&self.folder, &["rev-list", "--first-parent", &most, commit])?;
        let listed = listed.map_err(|why| Fault::new(format!("listing the ancestors of {}", short(commit)), why))?;
        Ok(listed.lines().map(String::from).collect())
    }

    /// How a commit is known to people.
    pub(crate) fn described(&self, commit: &str) -> Result<Commit, Failure> {
        let words = ["show", "--no-patch", "--format=%H%x1f%s%x1f%an%x1f%ct", commit];
        let text = git(&self.folder, &words)?;
        let text = text.map_err(|why| Fault::new(format!("describing {}", short(commit)), why))?;
        let mut fields = text.split(FIELD).map(String::from);
        let mut next = || fields.next().unwrap_or_default();
        let (commit, subject, author) = (next(), next(), next());
        Ok(Commit { commit, subject, author, at_ms: 1000 * next().trim().parse().unwrap_or(0) })
    }

    /// What a folder or file of the repository holds at a commit, by its hash; none where it is not there.
    pub(crate) fn held(&self, commit: &str, inside: &Utf8Path) -> Result<Option<String>, Failure> {
        let named = format!("{commit}:{inside}");
        Ok(git(&self.folder, &["rev-parse", "--verify", "--quiet", &named])?.ok())
    }

    /// Where a path lies in the repository; none where it is outside.
    pub(crate) fn inside(&self, path: &Utf8Path) -> Option<Utf8PathBuf> {
        Some(path.canonicalize_utf8().ok()?.strip_prefix(&self.folder).ok()?.to_path_buf())
    }
}

/// A worktree, until it is dropped.
#[derive(Debug)]
pub(crate) struct Worktree {
    repository: Utf8PathBuf,
    folder: Utf8PathBuf,
    // Behind the other fields: git is to forget the worktree before its folder goes.
    _holder: tempfile::TempDir,
}

impl Worktree {
    /// Checks a commit out.
    pub(crate) fn add(repository: &Utf8Path, commit: &str) -> Result<Worktree, Failure> {
        let fault = |why: String| Fault::new(format!("checking out {}", short(commit)), why);
        remove_left_behind(repository)?;
        let prefix = format!("{PREFIX}{}-", std::process::id());
        let holder = tempfile::Builder::new().prefix(&prefix).tempdir().map_err(|e| fault(e.to_string()))?;
        let folder = Utf8PathBuf::from_path_buf(holder.path().join("base"));
        let folder = folder.map_err(|path| fault(format!("{} is not UTF-8", path.display())))?;
        let worktree = Worktree { repository: repository.into(), folder, _holder: holder };
        let words = ["worktree", "add", "--detach", "--force", "--quiet", worktree.folder.as_str(), commit];
        match git(repository, &[WITHOUT_HOOKS, &words].concat())? {
            Ok(_) => Ok(worktree),
            Err(why) => Err(fault(why).hint("`git worktree list` shows the repository's worktrees").into()),
        }
    }

    /// Checks another commit out in the same place; nothing of the last one is left.
    pub(crate) fn switch(&self, commit: &str) -> Result<(), Failure> {
        let fault = |why: String| Fault::new(format!("checking out {}", short(commit)), why);
        let words = ["checkout", "--detach", "--force", "--quiet", commit];
        git(&self.folder, &[WITHOUT_HOOKS, &words].concat())?.map_err(fault)?;
        git(&self.folder, &["clean", "-ffdxq"])?.map_err(fault)?;
        Ok(())
    }

    /// Where a path of the repository lies in the worktree; none where the commit does not have it.
    pub(crate) fn path(&self, ours: &Utf8Path) -> Option<Utf8PathBuf> {
        self.at(ours.canonicalize_utf8().ok()?.strip_prefix(&self.repository).ok()?)
    }

    /// The same for a path as it is in the repository.
    pub(crate) fn at(&self, inside: &Utf8Path) -> Option<Utf8PathBuf> {
        let there = self.folder.join(inside);
        there.exists().then_some(there)
    }
}

/// What a repository does on checkouts by its user is not for kiln's.
const WITHOUT_HOOKS: &[&str] = &["-c", "core.hooksPath=/dev/null"];

impl Drop for Worktree {
    fn drop(&mut self) {
        // What cannot be removed now is removed by the next kiln; there is nobody left to tell.
        let _ = git(&self.repository, &["worktree", "remove", "--force", self.folder.as_str()]);
    }
}

/// Whether a folder lies in a worktree of kiln's: what was found there is of another commit.
pub(crate) fn in_worktree(folder: &Utf8Path) -> bool {
    folder.components().any(|part| part.as_str().starts_with(PREFIX))
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
pub(crate) fn git(folder: &Utf8Path, words: &[&str]) -> Result<Result<String, String>, Fault> {
    let printed = git_bytes(folder, words)?;
    Ok(printed.map(|bytes| String::from_utf8_lossy(&bytes).trim().to_string()))
}

/// The same for what is no text, or where every space counts.
pub(crate) fn git_bytes(folder: &Utf8Path, words: &[&str]) -> Result<Result<Vec<u8>, String>, Fault> {
    let mut command = Command::new("git");
    OF_A_REPOSITORY.iter().for_each(|name| _ = command.env_remove(name));
    // Looking leaves the index as it is: git would write down what it found out about files on the way.
    let output = command.args(["--no-optional-locks", "-C"]).arg(folder).args(words).output();
    let output = output.map_err(|e| Fault::new("running git", e).hint("install git"))?;
    let complaint = || String::from_utf8_lossy(&output.stderr).trim().to_string();
    Ok(if output.status.success() { Ok(output.stdout) } else { Err(complaint()) })
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

    fn commit(path: &Utf8Path, message: &str) {
        let own = ["-c", "user.name=a", "-c", "user.email=a@b", "-c", "commit.gpgsign=false"];
        git(path, &["add", "."]).unwrap().unwrap();
        git(path, &[&own[..], &["commit", "-qm", message]].concat()).unwrap().unwrap();
    }

    /// A repository with one commit.
    fn repository() -> (tempfile::TempDir, Utf8PathBuf) {
        let folder = tempfile::tempdir().unwrap();
        let path = Utf8PathBuf::from_path_buf(folder.path().canonicalize().unwrap()).unwrap();
        std::fs::create_dir(path.join("k")).unwrap();
        std::fs::write(path.join("k/a"), "1").unwrap();
        git(&path, &["init", "-q"]).unwrap().unwrap();
        commit(&path, "1");
        (folder, path)
    }

    #[test]
    fn a_worktree_holds_the_commit_and_is_gone_afterwards() {
        let (_keep, path) = repository();
        let first = Repository::around(&path.join("k"), "", "").unwrap().commit("HEAD").unwrap();
        std::fs::write(path.join("k/a"), "2").unwrap();
        let worktree = Worktree::add(&path, &first).unwrap();
        let there = worktree.path(&path.join("k")).unwrap();
        assert!(in_worktree(&there) && !in_worktree(&path));
        assert_eq!(std::fs::read_to_string(there.join("a")).unwrap(), "1");
        std::fs::create_dir(path.join("new")).unwrap();
        assert_eq!(worktree.path(&path.join("new")), None);
        // Another commit in the same place: what the first one left is gone, the user's tree is as it was.
        commit(&path, "2");
        std::fs::write(path.join("k/a"), "3").unwrap();
        std::fs::write(there.join("left"), "").unwrap();
        worktree.switch(&Repository { folder: path.clone() }.commit("HEAD").unwrap()).unwrap();
        assert_eq!(std::fs::read_to_string(there.join("a")).unwrap(), "2");
        assert!(!there.join("left").exists());
        assert_eq!(std::fs::read_to_string(path.join("k/a")).unwrap(), "3");
        drop(worktree);
        assert!(!there.exists());
        assert_eq!(git(&path, &["worktree", "list"]).unwrap().unwrap().lines().count(), 1);
    }

    #[test]
    fn commits_are_listed_and_described() {
        let (_keep, path) = repository();
        for text in ["2", "3"] {
            std::fs::write(path.join("k/a"), text).unwrap();
            commit(&path, text);
        }
        let repository = Repository::around(&path, "", "").unwrap();
        let named = |name: &str| repository.commit(name).unwrap();
        let (first, last) = (named("HEAD~2"), named("HEAD"));
        assert_eq!(repository.between(&first, &last).unwrap(), [named("HEAD~1"), last.clone()]);
        assert_eq!(repository.ancestors(&last, 2).unwrap(), [last.clone(), named("HEAD~1")]);
        assert!(repository.is_ancestor(&first, &last).unwrap() && !repository.is_ancestor(&last, &first).unwrap());
        let described = repository.described(&last).unwrap();
        assert_eq!((described.subject.as_str(), described.author.as_str()), ("3", "a"));
        assert!(described.at_ms > 1_000_000_000_000 && described.commit == last);
        let held = |commit: &str| repository.held(commit, Utf8Path::new("k")).unwrap();
        assert!(held(&first).is_some() && held(&first) != held(&last));
        assert_eq!(repository.held(&first, Utf8Path::new("none")).unwrap(), None);
    }

    #[test]
    fn the_beginning_of_a_file_is_known_and_whence_it_was_moved() {
        let (_keep, path) = repository();
        std::fs::write(path.join("other"), "").unwrap();
        commit(&path, "2");
        std::fs::create_dir(path.join("new")).unwrap();
        git(&path, &["mv", "k/a", "new/a"]).unwrap().unwrap();
        commit(&path, "3");
        let repository = Repository { folder: path.clone() };
        let named = |name: &str| repository.commit(name).unwrap();
        let added = |commit: &str, file: &str| repository.added(&named(commit), Utf8Path::new(file)).unwrap();
        assert_eq!((added("HEAD", "new/a"), added("HEAD~1", "k/a")), (Some(named("HEAD")), Some(named("HEAD~2"))));
        assert_eq!(added("HEAD", "none"), None);
        let from = |commit: &str, file: &str| repository.moved_from(&named(commit), Utf8Path::new(file)).unwrap();
        assert_eq!(from("HEAD", "new/a").as_deref(), Some(Utf8Path::new("k/a")));
        assert_eq!((from("HEAD~1", "other"), from("HEAD~2", "k/a")), (None, None));
        assert!(!repository.is_shallow().unwrap());
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
}
