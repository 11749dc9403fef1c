//! The skill file: how to work with kiln honestly, for assistants that read skills. Out: its text, with a mark at its end by which a later kiln
//! knows that nobody has changed it.

/// What it says.
const SKILL: &str = include_str!("skill.md");
/// What its last line begins with.
const MARK: &str = "<!-- written by kiln mcp --install; kiln keeps it up to date until somebody changes it: ";

/// The file as kiln writes it.
pub(super) fn text() -> String {
    format!("{SKILL}\n{MARK}{:016x} -->\n", sum(SKILL))
}

/// Whether a file is as this kiln or another one wrote it.
pub(super) fn is_kilns(text: &str) -> bool {
    let own = text.rsplit_once(&format!("\n{MARK}"));
    text == SKILL
        || own.is_some_and(|(body, mark)| mark.trim_end().trim_end_matches(" -->") == format!("{:016x}", sum(body)))
}

/// FNV-1a: the same in every kiln.
fn sum(text: &str) -> u64 {
    text.bytes().fold(0xcbf2_9ce4_8422_2325, |sum, byte| (sum ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_somebody_changed_is_not_kilns() {
        assert!(is_kilns(&text()) && is_kilns(SKILL));
        let older = "# old\n";
        assert!(is_kilns(&format!("{older}\n{MARK}{:016x} -->\n", sum(older))));
        for theirs in
            [text().replace("kiln is the judge", "I am the judge"), format!("{}more\n", text()), "mine".into()]
        {
            assert!(!is_kilns(&theirs), "{theirs}");
        }
    }

    #[test]
    fn the_skill_has_the_head_that_clients_read_and_names_tools_that_there_are() {
        assert!(SKILL.starts_with("---\nname: kiln\ndescription: "));
        let named =
            SKILL.split('`').skip(1).step_by(2).filter(|word| word.chars().all(|c| c.is_ascii_lowercase() || c == '_'));
        let known = |word: &str| crate::mcp::tool::ALL.iter().any(|tool| tool.name == word);
        let mut tools = 0;
        for word in named.filter(|word| !word.is_empty()) {
            assert!(known(word) || NOT_TOOLS.contains(&word), "{word}");
            tools += usize::from(known(word));
        }
        assert!(tools >= 12, "{tools}");
    }

    /// Other words of the skill that are quoted.
    const NOT_TOOLS: [&str; 10] = [
        "faster",
        "same",
        "slower",
        "too_noisy",
        "inconclusive",
        "not_run",
        "kiln",
        "evidence",
        "may_claim",
        "not_checked",
    ];
}
