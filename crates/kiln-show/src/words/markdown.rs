//! Text of users, kernels and tools inside Markdown. In: text. Out: text that no reader of Markdown takes for a tag, an entity, a link, an
//! image or the end of a table's cell, in one line.

use crate::words::visible::visible;

/// Text that stays text.
pub(crate) fn plain(text: &str) -> String {
    let text = visible(text);
    let mut safe = String::with_capacity(text.len() + 8);
    for letter in text.chars() {
        match letter {
            '&' => safe.push_str("&amp;"),
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '|' | '[' | ']' => safe.extend(['\\', letter]),
            '\n' | '\t' => safe.push(' '),
            letter => safe.push(letter),
        }
    }
    safe
}

/// Code in a line of its own kind.
pub(crate) fn code(text: &str) -> String {
    format!("`{}`", visible(text).replace('`', "'").replace('\n', " "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_in_a_text_is_a_tag_a_link_or_a_cell() {
        assert_eq!(plain("a|b <img src=x>\n![c](d) & e_f"), "a\\|b &lt;img src=x&gt; !\\[c\\](d) &amp; e_f");
        assert_eq!(code("a `b`\n<c>"), "`a 'b' <c>`");
    }
}
