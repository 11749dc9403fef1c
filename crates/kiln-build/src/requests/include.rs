//! The files a source includes by name: they are part of what is built, so a change in one must miss the cache. In: a
//! source and the include folders. Out: every include that exists beside the source or in those folders, found again in
//! those files. System headers are left to the compiler's version.

use std::collections::BTreeSet;

use camino::{Utf8Path, Utf8PathBuf};

/// The files that a source includes by name, from its own folder or from `folders`, and those that they include.
pub fn included(source: &Utf8Path, folders: &[Utf8PathBuf]) -> BTreeSet<Utf8PathBuf> {
    let mut found = BTreeSet::new();
    let mut open = vec![source.to_owned()];
    while let Some(file) = open.pop() {
        // A file that cannot be read is the compiler's to complain about.
        let Ok(bytes) = fs_err::read(&file) else { continue };
        let here = file.parent().unwrap_or(Utf8Path::new("."));
        for (name, quoted) in named(&String::from_utf8_lossy(&bytes)) {
            let places = quoted.then_some(here).into_iter().chain(folders.iter().map(Utf8PathBuf::as_path));
            if let Some(path) = places.map(|folder| folder.join(&name)).find(|p| p.is_file())
                && found.insert(path.clone())
            {
                open.push(path);
            }
        }
    }
    found
}

/// The names in `#include "name"` and `#include <name>`, and whether they are quoted; also those in branches that may not
/// be taken: one too many costs a rebuild, one too few a wrong result.
fn named(text: &str) -> Vec<(String, bool)> {
    text.lines()
        .filter_map(|line| {
            let rest = line.trim_start().strip_prefix('#')?.trim_start().strip_prefix("include")?.trim_start();
            let quoted = rest.strip_prefix('"').and_then(|rest| rest.split_once('"'));
            let angled = || rest.strip_prefix('<').and_then(|rest| rest.split_once('>'));
            let (name, _) = quoted.or_else(angled)?;
            Some((name.to_string(), quoted.is_some()))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn includes_are_found_with_their_form() {
        let text = "#include <math.h>\n  # include \"a.h\"\n#include\"b/c.h\" // x\n// #include \"no.h\"\n#define X\n";
        let expected = [("math.h", false), ("a.h", true), ("b/c.h", true)];
        assert_eq!(named(text), expected.map(|(name, quoted)| (name.to_string(), quoted)));
    }

    #[test]
    fn angled_includes_are_looked_for_in_the_folders_alone() {
        let folder = tempfile::tempdir().expect("a folder for the test");
        let root = Utf8PathBuf::from_path_buf(folder.path().to_owned()).expect("its name is UTF-8");
        fs_err::create_dir(root.join("inc")).expect("making a folder");
        let files = [
            ("k.cu", "#include <lib.h>\n#include <here.h>\n"),
            ("here.h", ""),
            ("inc/lib.h", "#include \"own.h\"\n"),
            ("inc/own.h", ""),
        ];
        for (name, text) in files {
            fs_err::write(root.join(name), text).expect("writing a file");
        }
        let found: Vec<_> = included(&root.join("k.cu"), &[root.join("inc")]).into_iter().collect();
        assert_eq!(found, [root.join("inc/lib.h"), root.join("inc/own.h")]);
    }
}
