//! A lesson: when it applies, what the cause was, what worked.

use super::Pattern;

/// What was learned once.
#[derive(Debug, Clone, PartialEq)]
pub struct Lesson {
    /// Its stable name, which is its file's name too.
    pub id: String,
    /// The lesson in a line.
    pub title: String,
    /// What it looks like: alternatives, each enough alone.
    pub symptoms: Vec<Pattern>,
    /// Why it happens.
    pub cause: String,
    /// What to do.
    pub remedy: String,
    /// A command that helps; `{path}`, `{config}` and `{workload}` stand for those at hand.
    pub action: Option<String>,
    /// A tunable to change.
    pub tunable: Option<String>,
    /// A compiler flag to add.
    pub flag: Option<String>,
    /// Where it was seen and what it cost, with figures.
    pub evidence: Option<String>,
    /// The time it cost those who did not know it.
    pub saves: Option<String>,
}

impl Lesson {
    /// The command with what is at hand; what is not stays as a word in capitals.
    pub fn action(&self, path: Option<&str>, config: Option<&str>, workload: Option<&str>) -> Option<String> {
        let filled = self.action.as_ref()?.replace("{path}", path.unwrap_or("PATH"));
        let filled = filled.replace("{config}", config.unwrap_or("CONFIG"));
        Some(filled.replace("{workload}", workload.unwrap_or("WORKLOAD")))
    }

    /// How well it answers these words: how many of them it contains, those of its title and name twice. None unless it has
    /// all of them.
    pub fn answers(&self, words: &[String]) -> Option<usize> {
        let head = format!("{} {}", self.id, self.title).to_lowercase();
        let patterns = self.symptoms.iter().flat_map(Pattern::words);
        let parts = [Some(&self.cause), Some(&self.remedy), self.action.as_ref(), self.evidence.as_ref()];
        let rest = parts.into_iter().flatten().map(String::as_str).chain(patterns);
        let rest = rest.collect::<Vec<_>>().join("\n").to_lowercase();
        let worth = |word: &String| match (head.contains(word.as_str()), rest.contains(word.as_str())) {
            (true, _) => Some(2),
            (false, true) => Some(1),
            (false, false) => None,
        };
        words.iter().map(|word| worth(&word.to_lowercase())).sum()
    }
}

/// Whether a text can name a lesson: lower-case letters, digits and underscores, beginning with a letter.
pub fn is_id(text: &str) -> bool {
    text.starts_with(|first: char| first.is_ascii_lowercase())
        && text.len() <= 64
        && text.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lesson() -> Lesson {
        Lesson {
            id: "row_alignment".into(),
            title: "Rows begin at 16 bytes".into(),
            symptoms: Vec::new(),
            cause: "Padding by one element.".into(),
            remedy: "Pad by 16 bytes.".into(),
            action: Some("kiln sanitize {path} --config {config} --workload {workload}".into()),
            tunable: None,
            flag: None,
            evidence: None,
            saves: None,
        }
    }

    #[test]
    fn actions_are_filled_with_what_is_at_hand() {
        let filled = lesson().action(Some("kernels/k"), None, Some("s65"));
        assert_eq!(filled.as_deref(), Some("kiln sanitize kernels/k --config CONFIG --workload s65"));
    }

    #[test]
    fn every_word_counts_and_the_title_counts_twice() {
        let answers = |words: &[&str]| lesson().answers(&words.iter().map(|w| (*w).to_string()).collect::<Vec<_>>());
        assert_eq!(answers(&["ROWS", "padding"]), Some(3));
        assert_eq!(answers(&["rows", "divergence"]), None);
    }

    #[test]
    fn names_are_plain() {
        assert!(is_id("row_alignment_16"));
        assert!(!is_id("") && !is_id("Row") && !is_id("../x") && !is_id("1st") && !is_id(&"a".repeat(65)));
    }
}
