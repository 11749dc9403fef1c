//! Sources of attempts that failed, so that a later success can say what was changed. In: a digest and the files behind it. Out: a folder
//! `.kiln/attempts/DIGEST`, and later the lines that differ. The newest few are kept. Nothing here is worth a failure of its own.

use camino::{Utf8Path, Utf8PathBuf};
use kiln_session::changed_lines;

use crate::project::Project;

/// Kept at most.
const MOST: usize = 20;
/// Larger files are not kept.
const LARGEST: u64 = 256 << 10;

fn place(project: &Project) -> Utf8PathBuf {
    project.folder().join("attempts")
}

/// Keeps the files of a failure; those that are kept already stay as they are.
pub(crate) fn keep(project: &Project, digest: &str, files: &[Utf8PathBuf]) {
    let folder = place(project).join(digest);
    if folder.exists() || fs_err::create_dir_all(&folder).is_err() {
        return;
    }
    for file in files {
        let small = std::fs::metadata(file).is_ok_and(|about| about.len() <= LARGEST);
        if let (true, Some(name)) = (small, file.file_name()) {
            let _ = fs_err::copy(file, folder.join(name));
        }
    }
    forget(&place(project));
}

/// Removes the oldest, but for so many.
fn forget(folder: &Utf8Path) {
    let entries = folder.read_dir_utf8().into_iter().flatten().flatten();
    let mut all: Vec<_> =
        entries.filter_map(|entry| Some((entry.metadata().ok()?.modified().ok()?, entry.into_path()))).collect();
    all.sort();
    let old = all.len().saturating_sub(MOST);
    all.iter().take(old).for_each(|(_, path)| _ = fs_err::remove_dir_all(path));
}

/// Names of the files that are not as they were kept; none where nothing is kept.
pub(crate) fn differing(project: &Project, digest: &str, files: &[Utf8PathBuf]) -> Vec<String> {
    let folder = place(project).join(digest);
    let differs = |file: &&Utf8PathBuf| {
        let before = file.file_name().and_then(|name| std::fs::read(folder.join(name)).ok());
        before.is_some_and(|before| std::fs::read(file).is_ok_and(|after| after != before))
    };
    files.iter().filter(differs).filter_map(|file| Some(file.file_name()?.to_string())).collect()
}

/// Lines that differ between the kept files of a failure and those of now, as `FILE: -line`; none where nothing is kept.
pub(crate) fn differences(project: &Project, digest: &str, files: &[Utf8PathBuf]) -> Vec<String> {
    let folder = place(project).join(digest);
    let mut found = Vec::new();
    for file in files {
        let Some(name) = file.file_name() else { continue };
        let (Ok(before), Ok(after)) = (std::fs::read_to_string(folder.join(name)), std::fs::read_to_string(file))
        else {
            continue;
        };
        found.extend(changed_lines(&before, &after).into_iter().map(|line| format!("{name}: {line}")));
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::project::Stop;

    #[test]
    fn what_failed_is_kept_and_held_against_what_works() {
        let place = tempfile::tempdir().unwrap();
        let folder = Utf8Path::from_path(place.path()).unwrap();
        let project = Project::here(None, Stop::never()).in_folder(&folder.join(".kiln"));
        let file = folder.join("k.c");
        std::fs::write(&file, "int a;\nint b;\n").unwrap();
        let files = vec![file.clone()];
        keep(&project, "one", &files);
        std::fs::write(&file, "int a;\nint c;\n").unwrap();
        assert_eq!(differences(&project, "one", &files), ["k.c: -int b;", "k.c: +int c;"]);
        assert_eq!(differing(&project, "one", &files), ["k.c"]);
        assert!(differences(&project, "none", &files).is_empty());
        (0..MOST + 5).for_each(|n| keep(&project, &format!("more{n}"), &files));
        assert_eq!(folder.join(".kiln/attempts").read_dir_utf8().unwrap().count(), MOST);
    }
}
