//! Commands as they are typed. In: a word. Out: the word as a shell takes it whole.

/// A word as a shell takes it whole.
pub fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "/._-=,+:".contains(c);
    if !word.is_empty() && word.chars().all(plain) { word.into() } else { format!("'{}'", word.replace('\'', r"'\''")) }
}

/// A command in one line that can be pasted into a shell: every word as it was given, line breaks and control characters written out.
pub fn pasted<W: AsRef<str>>(words: &[W]) -> String {
    let breaks = |c: char| c.is_control() || matches!(c, '\u{2028}' | '\u{2029}');
    let word = |word: &str| match word.contains(breaks) {
        false => quoted(word),
        true => {
            let letter = |c: char| match c {
                '\n' => r"\n".to_string(),
                '\t' => r"\t".into(),
                '\r' => r"\r".into(),
                '\\' | '\'' => format!("\\{c}"),
                c if breaks(c) => c.to_string().bytes().map(|byte| format!("\\x{byte:02x}")).collect(),
                c => c.into(),
            };
            format!("$'{}'", word.chars().map(letter).collect::<String>())
        }
    };
    words.iter().map(|one| word(one.as_ref())).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_stays_one() {
        assert_eq!(quoted("kernels/soft-max"), "kernels/soft-max");
        assert_eq!(["my kernel", "it's", "", "$(x)"].map(quoted), ["'my kernel'", r"'it'\''s'", "''", "'$(x)'"]);
    }

    #[test]
    fn a_command_is_pasted_as_it_was_typed() {
        assert_eq!(pasted(&["sh", "-c", r#"echo "a  b""#]), r#"sh -c 'echo "a  b"'"#);
        assert_eq!(pasted(&["python3", "-c", "if 1:\n\tprint('a\\b')"]), r"python3 -c $'if 1:\n\tprint(\'a\\b\')'");
        assert_eq!(pasted(&["echo", "\u{1b}[31m\u{85}"]), r"echo $'\x1b[31m\xc2\x85'");
        assert_eq!(pasted(&["kiln", "fuzz", "k", "--case", "N=65", ""]), "kiln fuzz k --case N=65 ''");
    }
}
