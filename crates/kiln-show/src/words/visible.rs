//! Text that files, kernels, compilers and tools wrote, safe to show. In: such text. Out: the same text with every control character
//! written out, so that nothing in it moves the cursor, changes colours or hides a line on a terminal or in Markdown. New lines and
//! tabs stay.

use std::borrow::Cow;

/// The text with control characters written out: `\u{1b}[31m` instead of red.
pub fn visible(text: &str) -> Cow<'_, str> {
    if !text.contains(is_hidden) {
        return text.into();
    }
    let mut shown = String::with_capacity(text.len() + 16);
    for c in text.replace("\r\n", "\n").chars() {
        match is_hidden(c) {
            true => shown.extend(c.escape_default()),
            false => shown.push(c),
        }
    }
    shown.into()
}

/// JSON in which what is hidden is escaped as JSON does: it stays valid, and reads back as it was written.
pub fn visible_json(json: &str) -> Cow<'_, str> {
    if !json.contains(is_hidden) {
        return json.into();
    }
    let mut shown = String::with_capacity(json.len() + 16);
    for c in json.chars() {
        match is_hidden(c) {
            true => shown.extend(c.encode_utf16(&mut [0; 2]).iter().map(|unit| format!("\\u{unit:04x}"))),
            false => shown.push(c),
        }
    }
    shown.into()
}

/// Control characters, and those that change the direction of text or have no width.
fn is_hidden(c: char) -> bool {
    let invisible =
        matches!(c, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{2069}' | '\u{feff}');
    c.is_control() && !matches!(c, '\n' | '\t') || invisible
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_hidden_is_left() {
        assert_eq!(visible("a\u{1b}[2J\u{1b}]0;x\u{7}b\rc\n\td\r\n"), "a\\u{1b}[2J\\u{1b}]0;x\\u{7}b\\rc\n\td\n");
        assert_eq!(visible("\u{9b}31m \u{202e}evil\u{200b}"), "\\u{9b}31m \\u{202e}evil\\u{200b}");
        assert!(matches!(visible("Zähler 3 µs\n"), Cow::Borrowed(_)));
    }

    #[test]
    fn json_reads_back_as_it_was_written() {
        let text = "Ada \u{1f469}\u{200d}\u{1f4bb} \u{202e}evil\u{feff} \u{7f}\u{9b}31m\n\t\r\u{1b}";
        let json = format!("{:#}\n", serde_json::json!({ "note": text }));
        let shown = visible_json(&json);
        assert!(!shown.contains(is_hidden) && shown.contains("\\u200d") && shown.contains("\\u009b31m"), "{shown}");
        let read: serde_json::Value = serde_json::from_str(&shown).unwrap();
        assert_eq!(read["note"], text);
        assert!(matches!(visible_json("{\"a\": \"µs\"}\n"), Cow::Borrowed(_)));
    }
}
