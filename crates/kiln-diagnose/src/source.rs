//! Sources that findings point into. In: names and texts of files. Out: a line by the name a tool uses for its file, which
//! may be a full path on another machine or the last part of one. A name that fits several files fits none.

/// The sources at hand.
#[derive(Debug, Clone, Default)]
pub struct Sources {
    files: Vec<(String, String)>,
}

impl Sources {
    /// No sources: findings name lines, and show none.
    pub fn none() -> Self {
        Self::default()
    }

    /// Adds a file.
    pub fn with(mut self, name: impl Into<String>, text: impl Into<String>) -> Self {
        self.files.push((name.into(), text.into()));
        self
    }

    /// Names and texts.
    pub(crate) fn files(&self) -> impl Iterator<Item = (&str, &str)> {
        self.files.iter().map(|(name, text)| (name.as_str(), text.as_str()))
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.files.is_empty()
    }

    /// The text of a file, by the name a tool gave it.
    pub(crate) fn text(&self, file: &str) -> Option<&str> {
        let by = |same: fn(&str, &str) -> bool| {
            let mut found = self.files().filter(|(name, _)| same(name, file));
            match (found.next(), found.next()) {
                (Some((_, text)), None) => Some(text),
                _ => None,
            }
        };
        by(|a, b| a == b).or_else(|| by(|a, b| last_part(a) == last_part(b)))
    }

    /// One line without its indentation; none if the file is not at hand, ends before it, or has nothing there.
    pub fn line(&self, file: &str, line: u32) -> Option<&str> {
        let index = usize::try_from(line).ok()?.checked_sub(1)?;
        self.text(file)?.lines().nth(index).map(str::trim).filter(|line| !line.is_empty())
    }
}

/// Names a log's source may have, beside the log: `b12_sync.cu` for `b12_sync_planted.synccheck.txt`. A log that names no file,
/// because the program hung, is explained by its source alone.
pub fn source_names(log: &str) -> Vec<String> {
    let mut stem = last_part(log).split('.').next().unwrap_or_default();
    let mut names = Vec::new();
    while !stem.is_empty() {
        names.extend(["cu", "cpp", "c", "py"].map(|ending| format!("{stem}.{ending}")));
        stem = stem.rfind(['_', '-']).map_or("", |at| &stem[..at]);
    }
    names
}

/// A path's last part, whichever way its slashes lean.
pub(crate) fn last_part(path: &str) -> &str {
    path.rsplit(['/', '\\']).next().unwrap_or(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_found_by_any_path_to_it() {
        let sources =
            Sources::none().with("kernels/a.cu", "one\n  two\n\n").with("b/same.cu", "x").with("c/same.cu", "y");
        for name in ["kernels/a.cu", "a.cu", "/home/user/other/a.cu", "C:\\work\\a.cu"] {
            assert_eq!(sources.line(name, 2), Some("two"), "{name}");
        }
        assert_eq!(sources.line("a.cu", 0), None);
        assert_eq!(sources.line("a.cu", 3), None);
        assert_eq!(sources.line("a.cu", 9), None);
        assert_eq!(sources.line("same.cu", 1), None, "two files have this name");
        assert_eq!(sources.line("c/same.cu", 1), Some("y"));
    }

    #[test]
    fn a_logs_name_leads_to_its_source() {
        let names = source_names("logs/b12_sync_planted.synccheck.txt");
        let cuda: Vec<&str> = names.iter().map(String::as_str).filter(|name| name.ends_with(".cu")).collect();
        assert_eq!(cuda, ["b12_sync_planted.cu", "b12_sync.cu", "b12.cu"]);
        assert!(source_names("").is_empty());
    }
}
