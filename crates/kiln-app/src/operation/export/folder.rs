//! The package's folder, all of it or nothing. In: a path and the files. Out: the files as they lie there. Refuses a folder that holds
//! what kiln did not write, and whatever `--force` says the kernel's own folder and the one kiln is run in.

use std::collections::BTreeSet;

use camino::{Utf8Path, Utf8PathBuf};
use kiln_core::Report;
use serde_json::{Value, json};

use crate::failure::Failure;
use crate::kernel::folder as kernel_folder;
use crate::operation::export::table::FORMAT;

/// What shows that kiln wrote a folder, and which files.
pub(super) const MANIFEST: &str = "kiln-export.json";
/// What builds, tests and Python leave in a package.
const LEFT: [&str; 5] = ["__pycache__", "build", "dist", ".pytest_cache", "lib"];

/// Refuses a destination that must not be replaced, before anything is built.
pub(super) fn check(folder: &Utf8Path, kernel: &Utf8Path, force: bool) -> Result<(), Failure> {
    let refused = |why: String, hint: &str| Err(Report::error(why).hint(hint).into());
    if folder.is_file() {
        return refused(format!("{folder} is a file"), "choose another folder with -o");
    }
    let Ok(real) = folder.canonicalize_utf8() else { return Ok(()) };
    let here = std::env::current_dir().ok().and_then(|here| Utf8PathBuf::from_path_buf(here).ok());
    let kernel = kernel_folder(kernel).canonicalize_utf8().ok();
    if let Some(inside) = [here, kernel].into_iter().flatten().find(|inside| inside.starts_with(&real)) {
        return refused(
            format!("{folder} would be replaced, and {inside} lies in it"),
            "choose another folder with -o",
        );
    }
    if force {
        return Ok(());
    }
    let strange = strange(folder)?;
    match strange.first() {
        None => Ok(()),
        Some(first) => {
            let more = if strange.len() > 1 { format!(" and {} more", strange.len() - 1) } else { String::new() };
            refused(
                format!("{folder} holds files that kiln did not write: {first}{more}"),
                "choose another folder with -o, or --force to replace all of it",
            )
        }
    }
}

/// Files in a folder that no export wrote.
fn strange(folder: &Utf8Path) -> Result<Vec<String>, Failure> {
    let written: BTreeSet<String> = match fs_err::read_to_string(folder.join(MANIFEST)) {
        Ok(text) => {
            let manifest: Value = serde_json::from_str(&text).unwrap_or_default();
            let files = manifest["files"].as_array().cloned().unwrap_or_default();
            let known = manifest["format"] == FORMAT.0;
            files.iter().filter(|_| known).filter_map(|f| f.as_str().map(String::from)).collect()
        }
        Err(_) => BTreeSet::new(),
    };
    let (mut found, mut open) = (Vec::new(), vec![folder.to_owned()]);
    while let Some(inside) = open.pop() {
        for entry in inside.read_dir_utf8()? {
            let path = entry?.into_path();
            let name = path.file_name().unwrap_or_default();
            if path.is_dir() && (LEFT.contains(&name) || name.ends_with(".egg-info")) {
                continue;
            }
            let below = path.strip_prefix(folder).unwrap_or(&path).to_string();
            match path.is_dir() && !path.is_symlink() {
                true => open.push(path),
                false if below == MANIFEST || written.contains(&below) => {}
                false => found.push(below),
            }
        }
    }
    found.sort();
    Ok(found)
}

/// Writes all files beside the folder, and moves them into its place at once.
pub(super) fn write(folder: &Utf8Path, files: &[(Utf8PathBuf, Vec<u8>)]) -> Result<Vec<(Utf8PathBuf, u64)>, Failure> {
    let folder = Utf8PathBuf::from(folder.as_str().trim_end_matches('/'));
    let parent = folder.parent().filter(|parent| !parent.as_str().is_empty()).unwrap_or(Utf8Path::new("."));
    fs_err::create_dir_all(parent)?;
    let beside = tempfile::Builder::new().prefix(".kiln-export-").tempdir_in(parent)?;
    let new = Utf8Path::from_path(beside.path()).map(|path| path.join("new"));
    let new = new.ok_or_else(|| Report::error(format!("{parent} has a name that is not UTF-8")))?;
    let mut names: Vec<&str> = files.iter().map(|(path, _)| path.as_str()).collect();
    names.sort_unstable();
    let (format, version) = FORMAT;
    let kiln = env!("CARGO_PKG_VERSION");
    let manifest = json!({ "format": format, "version": version, "kiln": kiln, "files": names });
    let manifest = (Utf8PathBuf::from(MANIFEST), format!("{manifest:#}\n").into_bytes());
    let mut written = Vec::with_capacity(files.len() + 1);
    for (path, bytes) in files.iter().chain([&manifest]) {
        let file = new.join(path);
        fs_err::create_dir_all(file.parent().unwrap_or(&new))?;
        fs_err::write(&file, bytes)?;
        written.push((path.clone(), bytes.len() as u64));
    }
    if folder.exists() {
        // What was there is deleted with the temporary folder, once the new one is in its place.
        let old = new.with_file_name("old");
        fs_err::rename(&folder, &old)?;
        if let Err(fault) = fs_err::rename(&new, &folder) {
            fs_err::rename(&old, &folder)?;
            return Err(fault.into());
        }
    } else {
        fs_err::rename(&new, &folder)?;
    }
    written.sort();
    Ok(written)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place() -> (tempfile::TempDir, Utf8PathBuf) {
        let folder = tempfile::tempdir().unwrap();
        let path = Utf8PathBuf::from_path_buf(folder.path().canonicalize().unwrap()).unwrap();
        (folder, path)
    }

    #[test]
    fn an_earlier_export_is_replaced_whole_and_other_files_are_kept() {
        let (_kept, root) = place();
        let (to, kernel) = (root.join("out"), root.join("kernel"));
        fs_err::create_dir(&kernel).unwrap();
        let file = |name: &str, text: &str| (Utf8PathBuf::from(name), text.as_bytes().to_vec());
        check(&to, &kernel, false).unwrap();
        write(&to, &[file("a/one", "1"), file("two", "2")]).unwrap();
        check(&to, &kernel, false).unwrap();
        write(&to, &[file("a/one", "3")]).unwrap();
        assert_eq!(fs_err::read_to_string(to.join("a/one")).unwrap(), "3");
        assert!(!to.join("two").exists());
        fs_err::create_dir(to.join("__pycache__")).unwrap();
        check(&to, &kernel, false).unwrap();
        fs_err::write(to.join("notes.txt"), "mine").unwrap();
        let refused = check(&to, &kernel, false).unwrap_err().to_string();
        assert!(refused.contains("files that kiln did not write: notes.txt"), "{refused}");
        check(&to, &kernel, true).unwrap();
        assert_eq!(root.read_dir_utf8().unwrap().count(), 2, "nothing temporary stays");
    }

    #[test]
    fn the_kernels_own_folder_is_never_replaced() {
        let (_kept, root) = place();
        let kernel = root.join("kernel");
        fs_err::create_dir(&kernel).unwrap();
        for folder in [&kernel, &root] {
            let refused = check(folder, &kernel, true).unwrap_err().to_string();
            assert!(refused.contains("lies in it"), "{refused}");
        }
    }
}
