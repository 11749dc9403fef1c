//! Text that a terminal shows as it is. In: text that may hold what a file, a kernel or a user wrote. Out: the same with
//! control characters written out, so that none of them moves the cursor, changes colours or hides what follows.

use std::borrow::Cow;

/// The text with every control character but line breaks and tabs written out: `\u{1b}`.
pub fn visible(text: &str) -> Cow<'_, str> {
    let is_odd = |c: char| c.is_control() && c != '\n' && c != '\t';
    if !text.contains(is_odd) {
        return text.into();
    }
    text.chars().map(|c| if is_odd(c) { c.escape_unicode().to_string() } else { c.to_string() }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_characters_are_written_out() {
        assert_eq!(visible("a\tb\n"), "a\tb\n");
        assert_eq!(visible("a\u{1b}[31mred\r\u{7}"), "a\\u{1b}[31mred\\u{d}\\u{7}");
    }
}
