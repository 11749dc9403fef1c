//! The nearest known name to a mistyped one, for hints.

/// The candidate most like `typed`, if one is close enough to be what was meant: at most a third of its letters
/// differ (case counts half), only the case differs, or it starts with what was typed.
pub fn nearest<'a>(typed: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    // A name nobody would type is not worth a quadratic comparison.
    if typed.is_empty() || typed.len() > 64 {
        return None;
    }
    candidates
        .into_iter()
        .filter(|c| c.len() <= 64)
        .map(|c| (distance(typed, c), c))
        .filter(|(d, c)| {
            let longest = typed.chars().count().max(c.chars().count());
            let prefix = typed.len() >= 3 && c.starts_with(typed);
            *d * 3 <= longest * 2 || prefix || typed.eq_ignore_ascii_case(c)
        })
        .min_by_key(|(d, _)| *d)
        .map(|(_, c)| c)
}

/// Edit distance with swaps of neighbours, in half steps: a changed case costs 1, anything else 2.
fn distance(a: &str, b: &str) -> usize {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    let width = b.len() + 1;
    let mut table = vec![0usize; (a.len() + 1) * width];
    for i in 0..=a.len() {
        for j in 0..=b.len() {
            table[i * width + j] = if i == 0 || j == 0 {
                2 * (i + j)
            } else {
                let change = match (a[i - 1], b[j - 1]) {
                    (x, y) if x == y => 0,
                    (x, y) if x.eq_ignore_ascii_case(&y) => 1,
                    _ => 2,
                };
                let mut best = (table[(i - 1) * width + j - 1] + change)
                    .min(table[(i - 1) * width + j] + 2)
                    .min(table[i * width + j - 1] + 2);
                if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                    best = best.min(table[(i - 2) * width + j - 2] + 2);
                }
                best
            };
        }
    }
    table[a.len() * width + b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn near_names_are_offered_and_far_ones_are_not() {
        let names = ["BLOCK_M", "BLOCK_N", "WARPS", "STAGES"];
        assert_eq!(nearest("BLOK_M", names), Some("BLOCK_M"));
        assert_eq!(nearest("block_n", names), Some("BLOCK_N"));
        assert_eq!(nearest("WRAPS", names), Some("WARPS"));
        assert_eq!(nearest("STAGE", names), Some("STAGES"));
        assert_eq!(nearest("unroll", names), None);
        assert_eq!(nearest("", names), None);
    }
}
