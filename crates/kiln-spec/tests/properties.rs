//! What holds for every file, right or wrong: reading it ends without a panic, and every finding points into it.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use kiln_core::Report;
use kiln_spec::parse;
use proptest::prelude::*;

const GOOD: &str = include_str!("good/attention.toml");
const EVERY_KEY: &str = include_str!("good/every_key.toml");

/// What a damaged file is most likely to hold besides its own parts.
const SPLINTERS: [&str; 24] = [
    "\"",
    "'''",
    "\"\"\"",
    "[",
    "]",
    "[[",
    "{",
    "}",
    "=",
    ",",
    "\n",
    "\r\n",
    "#",
    "0",
    "-9223372036854775808",
    "true",
    "é",
    "\\u0041",
    "\t",
    "(",
    "device.",
    "T.bytes",
    "[target.cpu]\n",
    "[[arguments]]\n",
];

/// Values of every TOML kind, and strings that almost mean something.
const VALUES: [&str; 26] = [
    "1",
    "0",
    "-1",
    "1e400",
    "nan",
    "true",
    "1979-05-27",
    "[]",
    "{}",
    "\"\"",
    "\"x\"",
    "\"BLOCK_M\"",
    "\"N\"",
    "\"T[\"",
    "\"f32[N]\"",
    "\"a.py:f\"",
    "\"é é\"",
    "[1, \"a\"]",
    "[[1], {}]",
    "[\"q\", \"x\"]",
    "{ from = 1, to = 3 }",
    "{ expr = \"N > 1\" }",
    "{ N = 1, T = 2 }",
    "[\"sm_80\"]",
    "\"\\u0042LOCK\\t\"",
    "\"\"\"\n N\n + \"\"\"",
];

fn reports(bytes: &[u8]) -> Vec<Report> {
    match parse("kernel.toml", bytes) {
        Ok((_, warnings)) => warnings,
        Err(errors) => {
            assert!(!errors.is_empty(), "a refused file without an error");
            assert!(errors.len() <= 21);
            errors
        }
    }
}

/// Every place is a line of the file, marks a part of it, and the reports come in order.
fn assert_places(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let lines: Vec<&str> = text.split('\n').collect();
    let mut last = 0;
    for report in reports(bytes) {
        let Some(place) = &report.place else { continue };
        let line = lines.get(place.line - 1).unwrap_or_else(|| panic!("line {} of {}", place.line, lines.len()));
        assert!(place.column <= line.chars().count() + 1, "{report}");
        assert!(place.caret - 1 + place.width <= place.text.chars().count().max(place.caret), "{report}");
        assert!(place.line >= last, "{report}");
        last = place.line;
        assert!(!report.message.is_empty() && !report.message.contains('\n'), "{report}");
    }
}

fn damage(text: &str, (from, len, to): (prop::sample::Index, usize, prop::sample::Index), how: usize) -> String {
    let chars: Vec<char> = text.chars().collect();
    let from = from.index(chars.len().max(1)).min(chars.len());
    let end = (from + len).min(chars.len());
    let to = to.index(chars.len().max(1)).min(chars.len());
    let slice = &chars[from..end];
    let mut damaged: Vec<char> = Vec::new();
    match how {
        0 => damaged.extend(chars[..from].iter().chain(&chars[end..])),
        1 => damaged.extend(chars[..to].iter().chain(slice).chain(&chars[to..])),
        how => {
            damaged.extend(&chars[..from]);
            damaged.extend(SPLINTERS[how % SPLINTERS.len()].chars());
            damaged.extend(&chars[end..]);
        }
    }
    damaged.into_iter().collect()
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_bytes(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
        assert_places(&bytes);
    }

    #[test]
    fn any_text(text in "([a-z\\[\\]{}=\"'.,#\n0-9é\\\\ ]|\\[\\[|\"\"\"){0,200}") {
        assert_places(text.as_bytes());
    }

    #[test]
    fn a_damaged_file(
        every in any::<bool>(),
        damages in prop::collection::vec((any::<(prop::sample::Index, u8, prop::sample::Index)>(), 0usize..40), 1..5),
    ) {
        let mut text = if every { EVERY_KEY } else { GOOD }.to_owned();
        for ((from, len, to), how) in damages {
            text = damage(&text, (from, usize::from(len) % 60, to), how);
        }
        assert_places(text.as_bytes());
    }

    #[test]
    fn a_file_with_other_lines(
        every in any::<bool>(),
        edits in prop::collection::vec((any::<prop::sample::Index>(), any::<prop::sample::Index>(), 0usize..60), 1..6),
    ) {
        let text = if every { EVERY_KEY } else { GOOD };
        let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
        for (at, other, how) in edits {
            let (at, other) = (at.index(lines.len()), other.index(lines.len()));
            match how {
                0..5 => drop(lines.remove(at)),
                5..10 => lines.insert(other, lines[at].clone()),
                10..20 => lines.swap(at, other),
                how => {
                    let key = lines[at].split(" = ").next().unwrap_or_default().to_owned();
                    lines[at] = format!("{key} = {}", VALUES[how % VALUES.len()]);
                }
            }
        }
        assert_places(lines.join("\n").as_bytes());
    }

    #[test]
    fn any_expression(expression in "[A-Z+*/%()<>=!., 0-9a-z'\\[\\]é]{0,60}") {
        let text = GOOD.replace("BLOCK_M % (16 * WARPS) == 0", &expression);
        assert_places(text.as_bytes());
    }
}
