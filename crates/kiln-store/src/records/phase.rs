//! A phase of a study by name: `search`, or `WORKLOAD/search` where each workload is tuned apart. In: the text a record
//! has. Out: its parts, and back. Every text is one: the name is what follows the last slash.

use std::fmt;

/// The phases whose trials compete for the best configuration; later ones measure the same configurations again.
const SEARCHING: [&str; 3] = [DEFAULT, "seed", "search"];
const DEFAULT: &str = "default";

/// A phase, of all workloads together or of one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct PhaseId<'a> {
    /// The workload, where each is tuned apart.
    pub workload: Option<&'a str>,
    /// The phase.
    pub name: &'a str,
}

impl<'a> PhaseId<'a> {
    /// The phase of that text.
    pub fn parse(text: &'a str) -> PhaseId<'a> {
        match text.rsplit_once('/') {
            Some((workload, name)) => PhaseId { workload: Some(workload), name },
            None => PhaseId { workload: None, name: text },
        }
    }

    /// Whether its trials were proposed by a search, the default among them.
    pub fn is_searching(&self) -> bool {
        SEARCHING.contains(&self.name)
    }

    /// Whether it tries the default configuration.
    pub fn is_default(&self) -> bool {
        self.name == DEFAULT
    }
}

impl fmt::Display for PhaseId<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.workload {
            Some(workload) => write!(f, "{workload}/{}", self.name),
            None => f.write_str(self.name),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn phases_are_read_back_as_they_were_written() {
        for text in ["search", "s128/seed", "odd/name of one/run-off", "/confirm", "s1/", ""] {
            assert_eq!(PhaseId::parse(text).to_string(), text);
        }
        let odd = PhaseId::parse("a/b/default");
        assert_eq!((odd.workload, odd.name), (Some("a/b"), "default"));
        assert!(odd.is_default() && odd.is_searching());
        assert!(!PhaseId::parse("default/confirm").is_searching() && !PhaseId::parse("my_default").is_default());
    }
}
