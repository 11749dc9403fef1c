//! Text of users, kernels and tools inside Markdown. In: text. Out: text that no reader of Markdown takes for a tag, an entity, a link, an
//! image, a mention, code or the end of a table's cell, in one line.

use crate::words::visible::visible;

/// Text that stays text.
pub(crate) fn escaped(text: &str) -> String {
    let mut safe = String::with_capacity(text.len() + 8);
    for letter in visible(text).chars() {
        match letter {
            '|' | '`' | '*' | '[' | ']' | '\\' => safe.extend(['\\', letter]),
            '&' => safe.push_str("&amp;"),
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '@' => safe.push_str("&#64;"),
            '\n' | '\t' => safe.push(' '),
            letter => safe.push(letter),
        }
    }
    safe.replace("://", ":&#47;/")
}

/// Code in a line, whatever is in it.
pub(crate) fn as_code(text: &str) -> String {
    let text = visible(text).replace(['\n', '\t'], " ");
    if text.contains('`') { format!("`` {text} ``") } else { format!("`{text}`") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_in_a_text_is_a_tag_a_link_a_mention_or_a_cell() {
        assert_eq!(escaped("a|b <img src=x>\n![c](d) & e_f"), "a\\|b &lt;img src=x&gt; !\\[c\\](d) &amp; e_f");
        assert_eq!(escaped("@me \\| `x` https://a"), "&#64;me \\\\\\| \\`x\\` https:&#47;/a");
        assert_eq!(escaped("\u{1b}31mred\r"), "\\\\u{1b}31mred\\\\r");
        let link = escaped("[click](http://evil.example) @octocat `x` *b*");
        assert_eq!(link, "\\[click\\](http:&#47;/evil.example) &#64;octocat \\`x\\` \\*b\\*");
        assert_eq!((as_code("a `b`\n<c>"), as_code("a")), ("`` a `b` <c> ``".into(), "`a`".into()));
    }
}
