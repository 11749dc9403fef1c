//! A kernel's sources at a commit. In: the kernel's path, a commit. Out: their digest, as attempts record it, and the files that git brings
//! back to have them again. None outside a repository, and where a file of today was never added: git cannot take it away.

use camino::{Utf8Path, Utf8PathBuf};

use super::about::{SOURCES, digest, sources_at};
use crate::kernel::folder;
use crate::repository::{git, git_bytes};

/// What a commit holds of a kernel.
pub(crate) struct Committed {
    /// The digest of its sources.
    pub(crate) digest: String,
    /// Within the kernel's folder: those of the commit, and those of today, which git removes where the commit has none.
    pub(crate) files: Vec<Utf8PathBuf>,
}

/// The sources of the kernel at a path, as they are in a commit.
pub(crate) fn committed(path: &Utf8Path, commit: &str) -> Option<Committed> {
    let folder = folder(path);
    let own = if path.is_dir() { "kernel.toml" } else { path.file_name()? };
    // As a checkout would write it.
    let read =
        |file: &Utf8Path| git_bytes(folder, &["cat-file", "--filters", &format!("{commit}:./{file}")]).ok()?.ok();
    let (spec, _) = kiln_spec::parse(own, &read(own.into())?).ok()?;
    let listed = git(folder, &["-c", "core.quotePath=false", "ls-tree", "--name-only", commit]).ok()?.ok()?;
    let is_source = |file: &&Utf8Path| file.extension().is_some_and(|end| SOURCES.contains(&end));
    let beside = listed.lines().map(Utf8Path::new).filter(is_source);
    let named = spec.targets.iter().flat_map(|target| &target.implementations).flat_map(|one| &one.sources);
    let mut files: Vec<Utf8PathBuf> =
        named.map(Utf8PathBuf::from).chain(beside.map(Utf8Path::to_owned)).chain([own.into()]).collect();
    files.sort();
    files.dedup();
    let mut held = Vec::new();
    files.retain(|file| read(file).map(|bytes| held.push((file.clone(), bytes))).is_some());
    let digest = digest(&spec, held.into_iter().map(Some))?;
    for file in sources_at(path.as_str()) {
        let file = file.strip_prefix(folder).ok()?.to_owned();
        if !files.contains(&file) {
            git(folder, &["ls-files", "--error-unmatch", "--", file.as_str()]).ok()?.ok()?;
            files.push(file);
        }
    }
    Some(Committed { digest, files })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::attempt::About;
    use crate::kernel::KernelFile;

    const SPEC: &str =
        "[kernel]\nname = \"k\"\nentry = \"k\"\n[tunables]\nX = [1, 2]\n[target.cpu]\nsource = \"k.c\"\n";

    #[test]
    fn a_commit_has_the_digest_that_its_sources_had() {
        let held = tempfile::tempdir().unwrap();
        let path = Utf8Path::from_path(held.path()).unwrap();
        let own = ["-c", "user.name=a", "-c", "user.email=a@b", "-c", "commit.gpgsign=false"];
        let commit = || {
            git(path, &["add", "-A"]).unwrap().unwrap();
            git(path, &[&own[..], &["commit", "-q", "-m", "c"]].concat()).unwrap().unwrap();
            git(path, &["rev-parse", "HEAD"]).unwrap().unwrap()
        };
        let now = || About::of(&KernelFile::read(path).unwrap(), path).sources.unwrap();
        let write = |name: &str, text: &str| fs_err::write(path.join(name), text).unwrap();
        git(path, &["init", "-q"]).unwrap().unwrap();
        write("kernel.toml", SPEC);
        write("k.c", "void k(void) {}  \n\n");
        write("notes.md", "one");
        let (first, before) = (commit(), now());
        write("notes.md", "two");
        write("k.c", "#include \"k.h\"\n");
        write("k.h", "");
        let names = |found: &Committed| found.files.iter().map(ToString::to_string).collect::<Vec<_>>();
        assert!(committed(path, &first).is_none(), "a header that git does not know cannot be taken away by it");
        let second = commit();
        let (then, after) = (committed(path, &first).unwrap(), committed(path, &second).unwrap());
        assert_eq!((&then.digest, &after.digest), (&before, &now()));
        assert_eq!(names(&then), ["k.c", "kernel.toml", "k.h"]);
        assert!(committed(path, "0123456789").is_none());
        // What it names brings the sources back, and leaves the notes as they are.
        let files: Vec<&str> = then.files.iter().map(|file| file.as_str()).collect();
        git(path, &[&["restore", "--source", &first, "--"][..], &files].concat()).unwrap().unwrap();
        assert_eq!((now(), fs_err::read_to_string(path.join("notes.md")).unwrap()), (before, "two".to_string()));
    }
}
