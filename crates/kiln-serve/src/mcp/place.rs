//! What lies inside the project. In: a path as a client wrote it. Out: the same path from the project's folder, with every link
//! followed. Refuses what leads out of the folder, whether by `..`, from the root, or by a link.

use std::io;

use kiln_app::{Report, Utf8Path, Utf8PathBuf};

/// The project's folder, which is the one the server works in.
#[derive(Debug, Clone)]
pub(super) struct Place {
    root: Utf8PathBuf,
}

impl Place {
    /// Characters of a path at most.
    pub(super) const LONGEST: usize = 1024;

    /// The folder the process is in.
    pub(super) fn here() -> io::Result<Place> {
        Ok(Place { root: Utf8Path::new(".").canonicalize_utf8()? })
    }

    /// Whether words mean a place and no name.
    pub(super) fn is_path(&self, words: &str) -> bool {
        words.contains(['/', '\\']) || words.starts_with('.') || self.root.join(words).exists()
    }

    /// The path from the project's folder, `.` for the folder itself.
    pub(super) fn inside(&self, words: &str) -> Result<Utf8PathBuf, Report> {
        if words.is_empty() || words.len() > Place::LONGEST || words.contains('\0') {
            let found =
                if words.is_empty() { "an empty path".into() } else { format!("a path of {} bytes", words.len()) };
            return Err(Report::error(found).label(format!("expected 1 to {} bytes without NUL", Place::LONGEST)));
        }
        let path = self.followed(&self.root.join(words)).ok_or_else(|| self.outside(words))?;
        // What is read there must lie inside too.
        let file = path.join("kernel.toml");
        if file.exists() && self.followed(&file).is_none() {
            return Err(self.outside(&format!("{words}/kernel.toml")));
        }
        let inner = path.strip_prefix(&self.root).map_err(|_| self.outside(words))?;
        Ok(if inner.as_str().is_empty() { ".".into() } else { inner.to_owned() })
    }

    /// Where a path leads, if that is inside. Of one that is not there, its folders are followed as far as they are.
    fn followed(&self, path: &Utf8Path) -> Option<Utf8PathBuf> {
        let mut rest = Vec::new();
        let mut there = path.to_owned();
        let found = loop {
            match there.canonicalize_utf8() {
                Ok(found) => break found,
                // A link that leads nowhere may lead out once something is there.
                Err(_) if there.is_symlink() => return None,
                Err(_) => {
                    rest.push(there.file_name()?.to_string());
                    there = there.parent()?.to_owned();
                }
            }
        };
        let found = rest.iter().rev().fold(found, |found, name| found.join(name));
        found.starts_with(&self.root).then_some(found)
    }

    fn outside(&self, words: &str) -> Report {
        let words: String = words.chars().take(200).collect();
        Report::error(format!("{words} is outside of the project"))
            .label(format!("expected a path inside {}", self.root))
            .hint("start the server in the folder that holds the kernel: kiln mcp --project FOLDER")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_way_leads_out_of_the_folder() {
        let above = tempfile::tempdir().unwrap();
        let above = Utf8Path::from_path(above.path()).unwrap().canonicalize_utf8().unwrap();
        let root = above.join("project");
        std::fs::create_dir_all(root.join("kernels/a")).unwrap();
        std::fs::create_dir_all(above.join("secret")).unwrap();
        std::fs::write(above.join("secret/kernel.toml"), "").unwrap();
        std::os::unix::fs::symlink(above.join("secret"), root.join("link")).unwrap();
        std::os::unix::fs::symlink(root.join("kernels"), root.join("inner")).unwrap();
        std::os::unix::fs::symlink(above.join("later"), root.join("dangling")).unwrap();
        std::os::unix::fs::symlink(above.join("secret/kernel.toml"), root.join("kernels/kernel.toml")).unwrap();
        let place = Place { root: root.clone() };
        let long = "a/".repeat(2000);
        for out in [
            "..",
            "../secret",
            "/etc/passwd",
            "kernels/../../secret",
            "link",
            "link/kernel.toml",
            "dangling",
            "nowhere/../../x",
            "kernels",
            "",
            "a\0b",
            &long,
        ] {
            assert!(place.inside(out).is_err(), "{out}");
        }
        for (inside, path) in
            [("kernels/a", "kernels/a"), (".", "."), ("inner/a", "kernels/a"), ("kernels/b.toml", "kernels/b.toml")]
        {
            assert_eq!(place.inside(inside).unwrap(), path, "{inside}");
        }
        assert_eq!(place.inside(root.join("kernels/a").as_str()).unwrap(), "kernels/a");
    }
}
