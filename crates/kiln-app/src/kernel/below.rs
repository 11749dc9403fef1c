//! Kernels that lie below a folder, for whoever named none. In: a folder. Out: the folders with a `kernel.toml`, by name; not far down, and
//! only among so many. What cannot be read is not there.

use camino::{Utf8Path, Utf8PathBuf};

/// `kernels/attention` is two down.
const DEEPEST: usize = 2;
/// Folders that are looked into.
const MOST: usize = 500;

/// The folders below `folder` that hold a kernel.
pub(crate) fn kernels_below(folder: &Utf8Path) -> Vec<Utf8PathBuf> {
    let (mut found, mut looked) = (Vec::new(), 0);
    look(folder, DEEPEST, &mut looked, &mut found);
    found.sort();
    found
}

fn look(folder: &Utf8Path, deeper: usize, looked: &mut usize, found: &mut Vec<Utf8PathBuf>) {
    for entry in folder.read_dir_utf8().into_iter().flatten().flatten() {
        // Hidden folders are tools' own, and a link may lead round.
        let is_folder = entry.file_type().is_ok_and(|kind| kind.is_dir());
        if !is_folder || entry.file_name().starts_with('.') || *looked >= MOST {
            continue;
        }
        *looked += 1;
        let path = folder.join(entry.file_name());
        let path = path.strip_prefix(".").map_or(path.clone(), Utf8Path::to_path_buf);
        match path.join("kernel.toml").is_file() {
            true => found.push(path),
            false if deeper > 1 => look(&path, deeper - 1, looked, found),
            false => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kernels_are_found_two_folders_down_and_not_in_hidden_ones() {
        let place = tempfile::tempdir().unwrap();
        let root = Utf8Path::from_path(place.path()).unwrap();
        assert!(kernels_below(root).is_empty() && kernels_below(&root.join("none")).is_empty());
        for folder in ["mine", "kernels/a", ".cache/b", "one/two/three"] {
            std::fs::create_dir_all(root.join(folder)).unwrap();
            std::fs::write(root.join(folder).join("kernel.toml"), "").unwrap();
        }
        assert_eq!(kernels_below(root), [root.join("kernels/a"), root.join("mine")]);
    }
}
