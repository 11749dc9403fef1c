//! Text as HTML takes it, in elements and in attributes. In: any text, of whoever. Out: the same text, which cannot be anything but text.

use crate::words::visible::visible;

/// Text for an element or a quoted attribute. Control characters and those that turn text around are written out.
pub fn escaped(text: &str) -> String {
    let text = visible(text);
    let mut safe = String::with_capacity(text.len() + 8);
    for c in text.chars() {
        match c {
            '&' => safe.push_str("&amp;"),
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '"' => safe.push_str("&quot;"),
            '\'' => safe.push_str("&#39;"),
            c => safe.push(c),
        }
    }
    safe
}

/// A name as an id: letters, digits and dashes. Names that differ may give the same one.
pub(crate) fn as_id(text: &str) -> String {
    text.chars().map(|c| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '-' }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_in_a_text_is_markup() {
        assert_eq!(
            escaped("<script>alert('a' & \"b\")</script>"),
            "&lt;script&gt;alert(&#39;a&#39; &amp; &quot;b&quot;)&lt;/script&gt;"
        );
        assert_eq!(escaped("a\u{0}\u{202e}b"), "a\\u{0}\\u{202e}b");
        assert_eq!(as_id("small/search 3"), "small-search-3");
    }
}
