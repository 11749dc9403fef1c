//! What changed between two texts, line by line. In: both. Out: lines that are gone behind `-`, new ones behind `+`. Texts of more lines than
//! can be compared in a moment are said to differ, and no more.

/// Lines that are compared one with another at most, between the first and the last that differ.
const MOST: usize = 1500;

/// The lines that differ; nothing where none do.
pub fn changed_lines(before: &str, after: &str) -> Vec<String> {
    let (before, after): (Vec<&str>, Vec<&str>) = (before.lines().collect(), after.lines().collect());
    let same = before.iter().zip(&after).take_while(|(one, other)| one == other).count();
    let (before, after) = (&before[same..], &after[same..]);
    let tail = before.iter().rev().zip(after.iter().rev()).take_while(|(one, other)| one == other).count();
    let (before, after) = (&before[..before.len() - tail], &after[..after.len() - tail]);
    if before.len() > MOST || after.len() > MOST {
        return vec![format!("-{} lines", before.len()), format!("+{} lines", after.len())];
    }
    // The longest common subsequence of what lies behind each pair of places.
    let mut longest = vec![vec![0_usize; after.len() + 1]; before.len() + 1];
    for (i, one) in before.iter().enumerate().rev() {
        for (j, other) in after.iter().enumerate().rev() {
            longest[i][j] =
                if one == other { longest[i + 1][j + 1] + 1 } else { longest[i + 1][j].max(longest[i][j + 1]) };
        }
    }
    let (mut i, mut j, mut found) = (0, 0, Vec::new());
    while i < before.len() || j < after.len() {
        match (before.get(i), after.get(j)) {
            (Some(one), Some(other)) if one == other => (i, j) = (i + 1, j + 1),
            (Some(one), other) if other.is_none() || longest[i + 1][j] >= longest[i][j + 1] => {
                found.push(format!("-{one}"));
                i += 1;
            }
            (_, Some(other)) => {
                found.push(format!("+{other}"));
                j += 1;
            }
            (_, None) => break,
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_lines_that_differ_are_told() {
        assert_eq!(changed_lines("a\nb\nc\nd", "a\nB\nc\nd"), ["-b", "+B"]);
        assert_eq!(changed_lines("a\nb\nc", "a\nc"), ["-b"]);
        assert_eq!(changed_lines("a\nc", "a\nb\nc\n"), ["+b"]);
        assert_eq!(changed_lines("x\na\ny\nb", "p\na\nq\nb"), ["-x", "+p", "-y", "+q"]);
        assert!(changed_lines("same\n", "same").is_empty());
        let long = |first: usize| (first..first + 4000).map(|n| format!("{n}\n")).collect::<String>();
        assert_eq!(changed_lines(&long(0), &long(9000)), ["-4000 lines", "+4000 lines"]);
    }
}
