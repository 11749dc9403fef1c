//! Colour on a terminal. In: finished text, which is readable without. Out: the same text with verdicts in colour and headings
//! in bold. Views know nothing of it, so that columns stay aligned and text elsewhere has no escape codes.

/// When text is coloured.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Colour {
    /// On a terminal, unless the environment says otherwise.
    #[default]
    Auto,
    /// Always.
    Always,
    /// Never.
    Never,
}

impl Colour {
    /// Whether to colour. What was asked for goes before the environment: `NO_COLOR` (anything but empty) turns colour off,
    /// `CLICOLOR_FORCE` (anything but empty and 0) turns it on elsewhere too; https://no-color.org, https://bixense.com/clicolors.
    pub fn wanted(self, terminal: bool, variable: impl Fn(&str) -> Option<String>) -> bool {
        let set = |name: &str| variable(name).filter(|value| !value.is_empty());
        match self {
            Colour::Always => true,
            Colour::Never => false,
            Colour::Auto if set("NO_COLOR").is_some() => false,
            Colour::Auto if set("CLICOLOR_FORCE").is_some_and(|value| value != "0") => true,
            Colour::Auto => terminal && set("TERM").is_none_or(|value| value != "dumb"),
        }
    }
}

const BOLD: &str = "\x1b[1m";
const RED: &str = "\x1b[31m";
const GREEN: &str = "\x1b[32m";
const YELLOW: &str = "\x1b[33m";
const PLAIN: &str = "\x1b[0m";

/// Words that judge, by colour.
const WORDS: [(&str, &[&str]); 3] = [
    (GREEN, &["faster", "reached", "passes", "correct", "ok"]),
    (RED, &["slower", "refused", "refuses", "fails", "fail", "no_valid_candidate", "error"]),
    (YELLOW, &["too_noisy", "not_reached", "stopped", "warn", "warning"]),
];

/// What may follow such a word at the start of a line.
const LEADING: [&str; 6] = [":", " on ", " by ", " the ", " all ", " every "];

/// The text with colour.
pub fn painted(text: &str) -> String {
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    let mut painted = String::with_capacity(text.len() + 64);
    for (at, line) in lines.iter().enumerate() {
        let (words, end) = line.strip_suffix('\n').map_or((*line, ""), |words| (words, "\n"));
        let next = lines.get(at + 1).copied();
        painted.push_str(&one(words, at == 0, next));
        painted.push_str(end);
    }
    painted
}

/// One line; `next` is the line after it.
fn one(line: &str, first: bool, next: Option<&str>) -> String {
    if let Some(heat) = heat(line) {
        return heat;
    }
    let found = judging(line);
    let heads = !line.starts_with(' ') && !line.is_empty() && next.is_some_and(|next| first || next.starts_with("  "));
    match &found[..] {
        [(from, to, colour)] => {
            format!("{}{colour}{}{PLAIN}{}", &line[..*from], &line[*from..*to], &line[*to..])
        }
        [] if !heads => line.into(),
        // Several verdicts in one line are the titles of a table.
        _ => format!("{BOLD}{line}{PLAIN}"),
    }
}

/// A line of a map of speedups, `1.52x +`, with each cell on a ground as strong as its speedup: green above 1, red below, grey where
/// nothing is decided. None for any other line.
fn heat(line: &str) -> Option<String> {
    let mut painted = String::new();
    let mut rest = line;
    let mut found = false;
    while let Some(at) = rest.find("x ") {
        let (before, after) = (&rest[..at], &rest[at + 2..]);
        let digits = before.len() - before.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.').len();
        let start = at - digits;
        let (Ok(speedup), Some(sign)) = (rest[start..at].parse::<f64>(), after.chars().next()) else {
            painted.push_str(&rest[..at + 2]);
            rest = after;
            continue;
        };
        let alone = rest[..start].ends_with("  ") && after[sign.len_utf8()..].chars().take(2).all(|c| c == ' ');
        if !alone || !"+-=?".contains(sign) {
            painted.push_str(&rest[..at + 2]);
            rest = after;
            continue;
        }
        found = true;
        let end = at + 2 + sign.len_utf8();
        painted.push_str(&format!("{}{}{}{PLAIN}", &rest[..start], ground(speedup, sign), &rest[start..end]));
        rest = &rest[end..];
    }
    found.then(|| painted + rest)
}

/// Black on one of four shades.
fn ground(speedup: f64, sign: char) -> String {
    let shade = match speedup.max(1.0 / speedup.max(1e-9)) {
        far if far < 1.1 => 0,
        far if far < 1.5 => 1,
        far if far < 3.0 => 2,
        _ => 3,
    };
    let colour = match sign {
        '+' => [194, 157, 120, 78][shade],
        '-' => [224, 217, 210, 203][shade],
        _ => 252,
    };
    format!("\x1b[30;48;5;{colour}m")
}

/// Where cells of a line are a word that judges: alone between two blanks, or at the
/// line's start before one of [`LEADING`].
fn judging(line: &str) -> Vec<(usize, usize, &'static str)> {
    let mut found = Vec::new();
    let mut from = line.len() - line.trim_start().len();
    while from < line.len() {
        let to = line[from..].find("  ").map_or(line.len(), |at| from + at);
        let cell = &line[from..to];
        let lead = || LEADING.iter().filter_map(|after| cell.find(after)).min();
        let word = &cell[..if from == 0 { lead().unwrap_or(cell.len()) } else { cell.len() }];
        if let Some((colour, _)) = WORDS.iter().find(|(_, words)| words.contains(&word)) {
            found.push((from, from + word.len(), *colour));
        }
        from = to + (line[to..].len() - line[to..].trim_start().len());
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flags_go_before_the_environment_and_that_before_the_terminal() {
        let none = |_: &str| None;
        let only = |name: &'static str, value: &'static str| move |asked: &str| (asked == name).then(|| value.into());
        assert!(Colour::Auto.wanted(true, none) && !Colour::Auto.wanted(false, none));
        assert!(Colour::Always.wanted(false, only("NO_COLOR", "1")) && !Colour::Never.wanted(true, none));
        assert!(!Colour::Auto.wanted(true, only("NO_COLOR", "1")) && Colour::Auto.wanted(true, only("NO_COLOR", "")));
        assert!(Colour::Auto.wanted(false, only("CLICOLOR_FORCE", "1")));
        assert!(!Colour::Auto.wanted(false, only("CLICOLOR_FORCE", "0")));
        assert!(!Colour::Never.wanted(false, only("CLICOLOR_FORCE", "1")));
        assert!(!Colour::Auto.wanted(true, only("TERM", "dumb")));
    }

    #[test]
    fn verdicts_have_colours_and_headings_are_bold() {
        let text = "softmax, target cpu\n\nagainst naive\n  workload  speedup  verdict\n  small     2.00x    faster\n  big       \
                    0.50x    slower\nreached: confirmed 2.00x\n";
        let expected = "\x1b[1msoftmax, target cpu\x1b[0m\n\n\x1b[1magainst naive\x1b[0m\n  workload  speedup  verdict\n  \
                        small     2.00x    \x1b[32mfaster\x1b[0m\n  big       0.50x    \x1b[31mslower\x1b[0m\n\
                        \x1b[32mreached\x1b[0m: confirmed 2.00x\n";
        assert_eq!(painted(text), expected);
        assert_eq!(painted("  x  too_noisy"), "  x  \x1b[33mtoo_noisy\x1b[0m");
        assert_eq!(painted("refused on small\n"), "\x1b[31mrefused\x1b[0m on small\n");
        assert_eq!(painted("passes every gate\n"), "\x1b[32mpasses\x1b[0m every gate\n");
        // Titles are no verdicts, and neither are words in a sentence.
        assert_eq!(painted("  phase  stopped  refused\n"), "\x1b[1m  phase  stopped  refused\x1b[0m\n");
        assert_eq!(painted("it was faster\n"), "it was faster\n");
        assert_eq!(painted(""), "");
    }

    #[test]
    fn cells_of_a_map_have_a_ground_by_their_speedup() {
        let line = "  64     1.52x +    0.25x -    1.01x =    0.900x ?";
        let expected = "  64     \x1b[30;48;5;120m1.52x +\x1b[0m    \x1b[30;48;5;203m0.25x -\x1b[0m    \
                        \x1b[30;48;5;252m1.01x =\x1b[0m    \x1b[30;48;5;252m0.900x ?\x1b[0m";
        assert_eq!(painted(line), expected);
        for other in ["  confirmed 1.52x + more", "  a 1.52x +b", "max - min", "  x +", "  1.5x  faster\n"] {
            assert!(!painted(other).contains("48;5"), "{other}");
        }
    }
}
