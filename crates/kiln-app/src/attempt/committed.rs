//! A kernel's sources at a commit. In: the kernel's path, a commit, the digest that attempts recorded of what is wanted. Out: the files that
//! differ from those of today. None outside a repository, and where the commit holds other sources.

use camino::{Utf8Path, Utf8PathBuf};

use super::about::{LARGEST, digest, sources_among, sources_at};
use crate::kernel::folder;
use crate::repository::{git, git_bytes};

/// How git hands a file out: as a checkout would write it, or as it is kept, which is how a checkout with other settings was written.
const WAYS: [&[&str]; 2] = [&["cat-file", "--filters"], &["cat-file", "blob"]];

/// What differs between the sources of a commit and those of today, within the kernel's folder.
#[derive(Debug, PartialEq)]
pub(crate) struct Committed {
    /// Files that the commit has, with other contents or not at all today.
    pub(crate) restored: Vec<Utf8PathBuf>,
    /// Files of today that the commit does not have.
    pub(crate) removed: Vec<Utf8PathBuf>,
}

/// The sources of the kernel at a path as they are in a commit; where `wanted` is none, whatever they are.
pub(crate) fn committed(path: &Utf8Path, commit: &str, wanted: Option<&str>) -> Option<Committed> {
    let folder = folder(path);
    let own = if path.is_dir() { "kernel.toml" } else { path.file_name()? };
    let listed = git(folder, &["-c", "core.quotePath=false", "ls-tree", "-r", "--name-only", commit]).ok()?.ok()?;
    let listed: Vec<&Utf8Path> = listed.lines().map(Utf8Path::new).collect();
    let held = WAYS.iter().find_map(|way| {
        let read = |file: &Utf8Path| git_bytes(folder, &[*way, &[&format!("{commit}:./{file}")]].concat()).ok()?.ok();
        let (spec, _) = kiln_spec::parse(own, &read(own.into())?).ok()?;
        let named = spec.targets.iter().flat_map(|target| &target.implementations).flat_map(|one| &one.sources);
        let named = named.map(|file| Utf8PathBuf::from(file.trim_start_matches("./")));
        let mut files: Vec<Utf8PathBuf> = named.chain(sources_among(&listed)).chain([own.into()]).collect();
        files.sort();
        files.dedup();
        let held = files.into_iter().filter_map(|file| read(&file).map(|bytes| (file, bytes)));
        let held: Vec<(Utf8PathBuf, Vec<u8>)> = held.filter(|(_, bytes)| bytes.len() as u64 <= LARGEST).collect();
        let found = digest(&spec, held.iter().cloned().map(Some))?;
        wanted.is_none_or(|wanted| wanted == found).then_some(held)
    })?;
    let differs = |(file, then): &&(Utf8PathBuf, Vec<u8>)| fs_err::read(folder.join(file)).ok().as_ref() != Some(then);
    let restored = held.iter().filter(differs).map(|(file, _)| file.clone()).collect();
    let now = sources_at(path.as_str());
    let now = now.iter().filter_map(|file| file.strip_prefix(folder).ok());
    let removed = now.filter(|file| !held.iter().any(|(own, _)| own == file)).map(Utf8Path::to_owned).collect();
    Some(Committed { restored, removed })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::attempt::About;
    use crate::kernel::KernelFile;

    const SPEC: &str =
        "[kernel]\nname = \"k\"\nentry = \"k\"\n[tunables]\nX = [1, 2]\n[target.cpu]\nsource = \"./k.c\"\n";

    #[test]
    fn a_commit_has_the_digest_that_its_sources_had() {
        let held = tempfile::tempdir().unwrap();
        let root = Utf8Path::from_path(held.path()).unwrap();
        let path = &root.join("k");
        let own = ["-c", "user.name=a", "-c", "user.email=a@b", "-c", "commit.gpgsign=false"];
        let commit = || {
            git(path, &["add", "-A"]).unwrap().unwrap();
            git(path, &[&own[..], &["commit", "-q", "-m", "c"]].concat()).unwrap().unwrap();
            git(path, &["rev-parse", "HEAD"]).unwrap().unwrap()
        };
        let now = || About::of(&KernelFile::read(path).unwrap(), path).sources.unwrap();
        let write = |name: &str, text: &str| fs_err::write(path.join(name), text).unwrap();
        git(root, &["init", "-q"]).unwrap().unwrap();
        fs_err::create_dir_all(path.join("parts")).unwrap();
        write("kernel.toml", SPEC);
        write("k.c", "void k(void) {}  \n\n");
        write("parts/all.hh", "\n");
        write("notes.md", "one");
        let (first, before) = (commit(), now());
        assert_eq!(committed(path, &first, Some(&before)), Some(Committed { restored: vec![], removed: vec![] }));
        write("notes.md", "two");
        write("k.c", "#include \"k.h\"\n");
        write("k.h", "");
        write("parts/all.hh", "int a;\n");
        let then = Committed { restored: vec!["k.c".into(), "parts/all.hh".into()], removed: vec!["k.h".into()] };
        assert_eq!(committed(path, &first, Some(&before)), Some(then));
        assert_eq!(committed(path, &first, Some(&now())), None, "it holds other sources");
        assert!(committed(path, &first, None).is_some());
        let second = commit();
        assert_eq!(committed(path, &second, Some(&now())), Some(Committed { restored: vec![], removed: vec![] }));
        assert!(committed(path, "0123456789", None).is_none());
        // Lines that end as they did, in a repository that would write them otherwise.
        git(path, &["config", "core.autocrlf", "true"]).unwrap().unwrap();
        assert!(committed(path, &second, Some(&now())).is_some());
    }
}
