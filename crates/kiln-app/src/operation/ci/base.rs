//! The base commit. In: a folder in a git repository, and what the user calls the base. Out: the commit. Refuses a folder
//! without a repository and a commit that is not in the clone.

use camino::{Utf8Path, Utf8PathBuf};
use kiln_core::Report;

use crate::failure::Failure;
use crate::repository::{Repository, git};

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
        if asked.trim().is_empty() || asked.starts_with('-') {
            return Err(Report::error(format!("--base `{asked}` is not a commit"))
                .hint("for example --base origin/main")
                .into());
        }
        let otherwise = "omit --base to compare with kiln-ratchet.toml";
        let found = Repository::around(folder, "--base checks a commit out of it", otherwise)?;
        let named = found.commit(asked)?;
        let repository = found.folder;
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
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_differs_is_noted_and_what_is_no_commit_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = Utf8PathBuf::from_path_buf(folder.path().canonicalize().unwrap()).unwrap();
        std::fs::write(path.join("a"), "1").unwrap();
        for words in
            [&["init", "-q"][..], &["add", "."], &["-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qm", "1"]]
        {
            git(&path, words).unwrap().unwrap();
        }
        assert!(Base::find(&path, "HEAD").unwrap().notes.is_empty());
        std::fs::write(path.join("a"), "2").unwrap();
        let base = Base::find(&path, "HEAD").unwrap();
        assert_eq!((base.notes.len(), base.changed(&path).unwrap()), (1, vec!["a".to_string()]));
        let refused = |folder: &Utf8Path, asked: &str| Base::find(folder, asked).unwrap_err().to_string();
        assert!(refused(&path, "origin/nope").contains("there is no commit `origin/nope`"));
        assert!(refused(&path, "--force").contains("is not a commit"));
        let outside = tempfile::tempdir().unwrap();
        let outside = Utf8PathBuf::from_path_buf(outside.path().into()).unwrap();
        assert!(refused(&outside, "HEAD").contains("is not in a git repository"));
    }
}
