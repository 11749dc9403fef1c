//! Lines of a log as they were printed, whatever carried them. In: a log's text. Out: its lines without colours and line ends; the
//! last one says whether it may be cut, because nothing ends it. Runners write before each line: what GitHub, mpirun and containers
//! write is taken away on request.

use std::borrow::Cow;

/// One line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Line<'a> {
    /// What it says.
    pub(crate) text: &'a str,
    /// The log ends in it: it may have gone on.
    pub(crate) cut: bool,
}

/// All lines of a log.
pub(crate) fn lines(log: &str) -> impl Iterator<Item = Line<'_>> {
    log.split_inclusive('\n').map(|line| {
        let text = line.strip_suffix('\n');
        let cut = text.is_none();
        let text = text.unwrap_or(line);
        Line { text: text.strip_suffix('\r').unwrap_or(text), cut }
    })
}

/// Without what terminals take for colours.
pub(crate) fn without_colours(log: &str) -> Cow<'_, str> {
    const ESCAPE: char = '\u{1b}';
    if !log.contains(ESCAPE) {
        return log.into();
    }
    let mut parts = log.split(ESCAPE);
    let mut plain = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        // `[1;31m` up to the letter that ends it.
        let end = part.strip_prefix('[').and_then(|code| code.find(|c: char| c.is_ascii_alphabetic()));
        plain.push_str(end.map_or(part, |end| &part[end + 2..]));
    }
    plain.into()
}

/// Without what a runner writes before a line: `2026-11-17T07:25:01.1234567Z `, `[1,0]<stderr>: `, `app-1  | `.
pub(crate) fn unprefixed(line: &str) -> &str {
    let first = line.split(' ').next().unwrap_or_default();
    if first.len() >= 20 && first.ends_with('Z') && first.as_bytes()[4] == b'-' && first.as_bytes()[10] == b'T' {
        return line.get(first.len() + 1..).unwrap_or_default();
    }
    for mark in ["<stdout>:", "<stderr>:"] {
        if let Some((rank, rest)) = line.split_once(mark)
            && rank.starts_with('[')
            && rank.ends_with(']')
        {
            return rest.strip_prefix(' ').unwrap_or(rest);
        }
    }
    match line.split_once(" | ") {
        Some((name, rest)) if !name.is_empty() && !name.trim_end().contains([' ', '/', '#', ':']) => rest,
        _ => line,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_last_line_may_be_cut() {
        let of = |log| lines(log).map(|line| (line.text, line.cut)).collect::<Vec<_>>();
        assert_eq!(of("a\r\n\nb"), [("a", false), ("", false), ("b", true)]);
        assert_eq!(of("a\n"), [("a", false)]);
        assert_eq!(of(""), []);
    }

    #[test]
    fn colours_go() {
        assert_eq!(without_colours("\u{1b}[1m\u{1b}[31mred\u{1b}[0m plain\u{1b}[1"), "red plain[1");
        assert!(matches!(without_colours("plain"), Cow::Borrowed("plain")));
    }

    #[test]
    fn runners_are_not_part_of_a_line() {
        for line in [
            "2026-11-17T07:25:01.1234567Z     #0 0x1 in f a.c:1",
            "[1,0]<stderr>:     #0 0x1 in f a.c:1",
            "app-1  |     #0 0x1 in f a.c:1",
        ] {
            assert_eq!(unprefixed(line).trim(), "#0 0x1 in f a.c:1", "{line}");
        }
        for line in ["    #0 0x1 in f a.c:1", "a.c:1:2: runtime error: x | y", "", "x"] {
            assert_eq!(unprefixed(line), line);
        }
    }
}
