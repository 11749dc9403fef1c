//! The outcomes that are part of kiln: `fixtures/outcomes/*.jsonl` at the root of the repository.

use std::sync::OnceLock;

use super::outcome::Outcome;
use super::read::read_outcomes;

macro_rules! files {
    ($($name:literal,)*) => {
        &[$(($name, include_str!(concat!("../../../../fixtures/outcomes/", $name, ".jsonl"))),)*]
    };
}

/// Every file, by name. A test holds this against the folder.
const FILES: &[(&str, &str)] = files!["2026-11-18-h200", "kernels", "planted",];

/// Files of the folder whose promises are people's, not a diagnosis': the model learns nothing of rules from them.
#[cfg(test)]
const OTHERS: &[&str] = &["recorded"];

/// The outcomes that come with kiln.
pub fn shipped_outcomes() -> &'static [Outcome] {
    static ALL: OnceLock<Vec<Outcome>> = OnceLock::new();
    // A file with mistakes does not pass the test below.
    ALL.get_or_init(|| FILES.iter().flat_map(|(name, text)| read_outcomes(name, text).unwrap_or_default()).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_file_of_the_folder_is_read_without_mistakes() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/outcomes");
        let mut there: Vec<String> = std::fs::read_dir(folder)
            .unwrap()
            .filter_map(|entry| Some(entry.unwrap().file_name().to_str()?.strip_suffix(".jsonl")?.to_string()))
            .collect();
        there.sort();
        there.retain(|name| !OTHERS.contains(&name.as_str()));
        assert_eq!(there, FILES.iter().map(|(name, _)| name.to_string()).collect::<Vec<_>>(), "add the file to FILES");
        for (name, text) in FILES {
            let read = read_outcomes(name, text).unwrap_or_else(|reports| panic!("{reports:#?}"));
            assert!(!read.is_empty(), "{name}");
        }
    }
}
