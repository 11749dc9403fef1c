//! Commands as they are typed. In: a word. Out: the word as a shell takes it whole.

/// A word as a shell takes it whole.
pub fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "/._-=,+:".contains(c);
    if !word.is_empty() && word.chars().all(plain) { word.into() } else { format!("'{}'", word.replace('\'', r"'\''")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_stays_one() {
        assert_eq!(quoted("kernels/soft-max"), "kernels/soft-max");
        assert_eq!(["my kernel", "it's", "", "$(x)"].map(quoted), ["'my kernel'", r"'it'\''s'", "''", "'$(x)'"]);
    }
}
