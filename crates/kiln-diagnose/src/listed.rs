//! How many findings are listed. In: everything that was found, in order. Out: the first ones and the most frequent of the others, in
//! the same order, and how many are left out. Nobody reads thousands, and the first ones most often explain the others.

use kiln_core::grouped;

use crate::Finding;

/// Findings that a diagnosis lists.
const LISTED: usize = 200;

/// Leaves out what is too much, and says so.
pub(crate) fn listed(findings: Vec<Finding>, mut left_out: usize) -> (Vec<Finding>, Option<String>) {
    let all = findings.len() + left_out;
    left_out = all - findings.len().min(LISTED);
    let findings = first_and_most(findings, LISTED, |finding| finding.count);
    let note = (left_out > 0).then(|| {
        let (shown, all, rest) = (findings.len() as u128, all as u128, left_out as u128);
        format!(
            "{} of {} findings are listed, the first and the most frequent; {} are not",
            grouped(shown),
            grouped(all),
            grouped(rest)
        )
    });
    (findings, note)
}

/// As many of the items as fit: half of the places for the first, half for the most frequent of the others.
pub(crate) fn first_and_most<T>(items: Vec<T>, most: usize, count: impl Fn(&T) -> u64) -> Vec<T> {
    if items.len() <= most {
        return items;
    }
    let first = most / 2;
    let mut others: Vec<usize> = (first..items.len()).collect();
    others.sort_by_key(|index| std::cmp::Reverse(count(&items[*index])));
    let mut kept = vec![false; items.len()];
    (0..first).chain(others.into_iter().take(most - first)).for_each(|index| kept[index] = true);
    items.into_iter().zip(kept).filter(|(_, kept)| *kept).map(|(item, _)| item).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_and_the_most_frequent_stay_in_order() {
        assert_eq!(first_and_most(vec![1, 1, 9, 1, 1, 8, 2], 4, |count| *count), [1, 1, 9, 8]);
        assert_eq!(first_and_most(vec![1, 2, 3], 4, |count| *count), [1, 2, 3]);
    }
}
