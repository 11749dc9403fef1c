//! Whether a command printed what the document shows. The convention, also told at the top of docs/guide.md:
//!
//! - `[..]` stands for anything within a line, a line of `...` for any number of lines;
//! - what is measured equals whatever else is measured: numbers with a decimal point, with an `x` behind them or a unit after
//!   them, dates and times of day, and the values in a configuration (`LANES=8,KEEP=true`), since what wins is measured too;
//! - verdicts, what is to be done next after one, and how many configurations only the ablation tried follow from times and count as equal too;
//! - how wide columns are, blank lines at the end, how well short calls are known, and lines of progress do not count: how many trials a phase takes, and
//!   whether there is a run-off at all, follows from times.

/// Nothing when it did; else the first line that differs.
pub(crate) fn output(expected: &[String], printed: &str) -> Result<(), String> {
    let shown = expected.iter().filter(|line| !is_progress(line));
    let expected: Vec<String> = trimmed(shown.map(|line| plain(line)).collect());
    let lines = printed.lines().filter(|line| !is_progress(line));
    let found: Vec<String> = trimmed(lines.map(plain).collect());
    match furthest(&expected, &found) {
        None => Ok(()),
        Some((at, there)) => {
            let nothing = || "the end of the output".to_string();
            let expected = expected.get(at).cloned().unwrap_or_else(nothing);
            let found = found.get(there).cloned().unwrap_or_else(nothing);
            Err(format!("expected  {expected}\nfound     {found}"))
        }
    }
}

fn trimmed(mut lines: Vec<String>) -> Vec<String> {
    while lines.last().is_some_and(String::is_empty) {
        lines.pop();
    }
    lines
}

/// None when all of it fits; else how far the document and the output could be followed together.
fn furthest(expected: &[String], found: &[String]) -> Option<(usize, usize)> {
    let (mut best, mut stack) = ((0, 0), vec![(0, 0)]);
    let mut seen = std::collections::HashSet::new();
    while let Some((at, there)) = stack.pop() {
        if !seen.insert((at, there)) {
            continue;
        }
        best = best.max((at, there));
        match expected.get(at) {
            None if there == found.len() => return None,
            None => {}
            Some(line) if line == "..." => {
                stack.extend((there < found.len()).then_some((at, there + 1)));
                stack.push((at + 1, there));
            }
            Some(line) => {
                let fits = found.get(there).is_some_and(|other| fits(line, other));
                stack.extend(fits.then_some((at + 1, there + 1)));
            }
        }
    }
    Some(best)
}

/// Whether a line is what the document shows, `[..]` standing for anything.
fn fits(pattern: &str, line: &str) -> bool {
    let mut parts = pattern.split("[..]");
    let first = parts.next().unwrap_or_default();
    let Some(mut rest) = line.strip_prefix(first) else { return false };
    let parts: Vec<&str> = parts.collect();
    let Some((last, middle)) = parts.split_last() else { return rest.is_empty() };
    for part in middle {
        let Some(found) = rest.find(part) else { return false };
        rest = &rest[found + part.len()..];
    }
    rest.ends_with(last)
}

/// A line with single blanks, and with `#` for what is measured.
fn plain(line: &str) -> String {
    // A verdict follows from times, and what to do next from the verdict.
    let line = line.split_inclusive(FIRST_LOOK).next().unwrap_or_default();
    if line.starts_with("reached:") || line.starts_with("not_reached:") {
        return "ended".into();
    }
    let benches = line.starts_with("  kiln bench ") && line.contains(" --study ");
    if benches || (line.starts_with("  kiln tune ") && line.contains(" --trials ")) {
        return "what to do next".into();
    }
    let searched = searched(line);
    let words: Vec<&str> = searched.split_whitespace().collect();
    let mut out: Vec<String> = Vec::new();
    for (i, word) in words.iter().enumerate() {
        let core = core(word);
        let next = words.get(i + 1).map_or("", |next| self::core(next));
        if VERDICTS.contains(&core) {
            out.push(word.replacen(core, "verdict", 1));
        } else if is_measured(core) || (is_number(core) && UNITS.contains(&next)) {
            out.push(word.replacen(core, "#", 1));
        } else if TIMES.contains(&core) && i > 0 && is_number(self::core(words[i - 1])) {
            // As many nanoseconds here as seconds there, or minutes and seconds.
            if core == "s" && i > 2 && words[i - 2] == "min" {
                out.truncate(out.len() - 2);
            }
            out.push(word.replacen(core, "time", 1));
        } else if !word.contains('/') && core.split(',').all(|part| part.contains('=')) {
            let names = core.split(',').map(|part| part.split('=').next().unwrap_or_default());
            out.push(names.map(|name| format!("{name}=#")).collect::<Vec<_>>().join(","));
        } else {
            out.push(word.to_string());
        }
    }
    out.join(" ")
}

/// How many configurations were tried before the ablation, which depends on what won.
fn searched(line: &str) -> String {
    let parts = || {
        let (all, rest) = line.split_once(" configurations tried (")?;
        let (more, rest) = rest.split_once(" in the ablation)")?;
        let count = all.parse::<usize>().ok()?.checked_sub(more.parse().ok()?)?;
        Some(format!("{count} configurations tried{rest}"))
    };
    parts().unwrap_or_else(|| line.to_string())
}

/// What follows is advice.
const FIRST_LOOK: &str = "(a first look, not a verdict)";
/// Words that stand for what was measured.
const VERDICTS: [&str; 6] = ["faster", "slower", "same", "too_noisy", "reached", "not_reached"];
/// Units of time.
const TIMES: [&str; 5] = ["ns", "us", "ms", "s", "min"];
/// Units that whole numbers are measured in.
const UNITS: [&str; 10] = ["ns", "us", "ms", "s", "min", "%", "MiB", "MHz", "GB", "bytes"];

/// A word without what is around it.
fn core(word: &str) -> &str {
    word.trim_matches(|c: char| "()[]{},;:<>+".contains(c))
}

fn is_number(word: &str) -> bool {
    word.starts_with(|c: char| c.is_ascii_digit() || c == '-') && word.replace(',', "").parse::<f64>().is_ok()
}

fn is_measured(word: &str) -> bool {
    let ratio = word.strip_suffix('x').is_some_and(is_number);
    let real = is_number(word) && word.contains(['.', 'e']);
    let digits = |separator: char| {
        let parts: Vec<&str> = word.split(separator).collect();
        parts.len() > 1 && parts.iter().all(|p| p.len() >= 2 && p.chars().all(|c| c.is_ascii_digit()))
    };
    ratio || real || digits('-') || digits(':')
}

/// A phase and how far it is.
fn is_progress(line: &str) -> bool {
    let mut words = line.split_whitespace();
    let (_, count) = (words.next(), words.next().unwrap_or_default());
    let counts = count.split_once('/').is_some_and(|(done, planned)| is_number(done) && is_number(planned));
    let follows = ["only to within", "the default is limited by"].iter().any(|words| line.contains(words));
    counts || follows || line.starts_with("still compiling")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn same(expected: &str, printed: &str) -> bool {
        let expected: Vec<String> = expected.lines().map(String::from).collect();
        output(&expected, printed).is_ok()
    }

    #[test]
    fn measured_numbers_are_alike_and_words_are_not() {
        assert!(same("small  28.3 us  14.56x  [13.33, 15.03]  faster", "small 1.2 ms 3.00x [2.90, 3.10] faster\n"));
        assert!(same("small  28.3 us  14.56x  faster", "small 1.2 ms 3.00x too_noisy\n"));
        assert!(!same("small  28.3 us  14.56x  faster", "large 1.2 ms 3.00x faster\n"));
        let tried = "11 configurations tried, 3.35 s";
        assert!(same(tried, "13 configurations tried (2 in the ablation), 1.2 s\n") && same(tried, tried));
        assert!(!same(tried, "13 configurations tried (1 in the ablation), 1.2 s\n"));
        assert!(same("2026-03-01 14:05  took 8 s", "2027-11-15 09:10  took 9.1 s\n"));
        assert!(same("took 8 s, or 7 s", "took 4 min 24 s, or 1 min 2 s\n") && !same("took 8 s", "took 9 s 24 s\n"));
        assert!(!same("valid 16 (80.0 %)", "valid 15 (75.0 %)\n"));
    }

    #[test]
    fn dots_stand_for_anything_and_progress_for_nothing() {
        assert!(same("study [..], seed [..]", "study 01a1, seed 7\n"));
        assert!(!same("study [..], seed [..]", "study 01a1\n"));
        assert!(same("a\n...\nd", "a\nb\nc\nd\n") && same("a\n...\nd", "a\nd\n"));
        assert!(!same("a\n...\nd", "a\nb\nc\n") && !same("a", "a\nb\n") && !same("a\nb", "a\n"));
        assert!(same(
            "seed  10/10  2.6 s\nend",
            "seed  4/10  best 1.0 ms  3 s left in this phase\nfinal  2/2  2.9 s\nend\n"
        ));
    }
}
