//! The files a source includes by name: they are part of what is built, so a change in one must miss the cache. In: a
//! source and the include folders. Out: every quoted include that exists, found again in those files. System headers
//! (`<...>`) are left to the compiler's version.

use std::collections::BTreeSet;

use camino::{Utf8Path, Utf8PathBuf};

pub(crate) fn included(source: &Utf8Path, folders: &[Utf8PathBuf]) -> BTreeSet<Utf8PathBuf> {
    let mut found = BTreeSet::new();
    let mut open = vec![source.to_owned()];
    while let Some(file) = open.pop() {
        // A file that cannot be read is the compiler's to complain about.
        let Ok(bytes) = fs_err::read(&file) else { continue };
        let here = file.parent().unwrap_or(Utf8Path::new("."));
        for name in quoted(&String::from_utf8_lossy(&bytes)) {
            let places = std::iter::once(here).chain(folders.iter().map(Utf8PathBuf::as_path));
            if let Some(path) = places.map(|folder| folder.join(&name)).find(|p| p.is_file())
                && found.insert(path.clone())
            {
                open.push(path);
            }
        }
    }
    found
}

/// The names in `#include "name"` lines, also those in branches that may not be taken: one too many costs a rebuild, one
/// too few a wrong result.
fn quoted(text: &str) -> Vec<String> {
    text.lines()
        .filter_map(|line| {
            let rest = line.trim_start().strip_prefix('#')?.trim_start().strip_prefix("include")?;
            let (name, _) = rest.trim_start().strip_prefix('"')?.split_once('"')?;
            Some(name.to_string())
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quoted_includes_are_found_and_system_ones_left() {
        let text = "#include <math.h>\n  # include \"a.h\"\n#include\"b/c.h\" // x\n// #include \"no.h\"\n#define X\n";
        assert_eq!(quoted(text), ["a.h", "b/c.h"]);
    }
}
