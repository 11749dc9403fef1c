//! The order in which derived values can be computed. In: for each, which others it needs. Out: an order in which each
//! comes after what it needs, otherwise as the file has them, and every circle that makes that impossible.

use std::cmp::Reverse;
use std::collections::{BTreeSet, BinaryHeap};

/// Indices in order, and the circles found; what is in a circle comes where it was broken open.
pub(crate) fn order(needs: &[Vec<usize>]) -> (Vec<usize>, Vec<Vec<usize>>) {
    let mut missing: Vec<usize> = needs.iter().map(|n| n.iter().collect::<BTreeSet<_>>().len()).collect();
    let mut needed_by = vec![Vec::new(); needs.len()];
    for (at, needs) in needs.iter().enumerate() {
        for need in needs.iter().collect::<BTreeSet<_>>() {
            needed_by[*need].push(at);
        }
    }
    let mut ready: BinaryHeap<_> = (0..needs.len()).filter(|i| missing[*i] == 0).map(Reverse).collect();
    let mut waiting: BTreeSet<usize> = (0..needs.len()).collect();
    let (mut order, mut circles) = (Vec::new(), Vec::new());
    loop {
        while let Some(Reverse(next)) = ready.pop() {
            if !waiting.remove(&next) {
                continue;
            }
            order.push(next);
            for user in &needed_by[next] {
                missing[*user] -= 1;
                if missing[*user] == 0 {
                    ready.push(Reverse(*user));
                }
            }
        }
        let Some(first) = waiting.first().copied() else { return (order, circles) };
        let circle = circle(first, needs, &waiting);
        // Breaking it open at its first member lets the others, and other circles, be found.
        ready.extend(circle.iter().min().copied().map(Reverse));
        circles.push(circle);
    }
}

/// Walks from need to need until one comes again; everything that waits has a need that waits.
fn circle(first: usize, needs: &[Vec<usize>], waiting: &BTreeSet<usize>) -> Vec<usize> {
    let mut path = vec![first];
    let mut on_path = BTreeSet::from([first]);
    let mut at = first;
    while let Some(next) = needs[at].iter().find(|n| waiting.contains(n)).copied() {
        if !on_path.insert(next) {
            let start = path.iter().position(|p| *p == next).unwrap_or(0);
            return path.split_off(start);
        }
        path.push(next);
        at = next;
    }
    path
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn needs_come_first_and_the_rest_stays() {
        assert_eq!(order(&[vec![], vec![], vec![]]).0, [0, 1, 2]);
        assert_eq!(order(&[vec![2], vec![], vec![]]).0, [1, 2, 0]);
        assert_eq!(order(&[vec![1, 1], vec![2], vec![]]).0, [2, 1, 0]);
    }

    #[test]
    fn every_circle_is_found_once() {
        assert_eq!(order(&[vec![0]]), (vec![0], vec![vec![0]]));
        let (all, circles) = order(&[vec![1], vec![0], vec![3], vec![2], vec![0]]);
        assert_eq!(circles, [vec![0, 1], vec![2, 3]]);
        assert_eq!(all.len(), 5);
        // What leads into a circle is not part of it.
        assert_eq!(order(&[vec![1], vec![2], vec![1]]).1, [vec![1, 2]]);
    }

    #[test]
    fn a_long_chain_does_not_touch_the_stack() {
        let needs: Vec<Vec<usize>> = (0..50_000).map(|i| if i == 49_999 { vec![] } else { vec![i + 1] }).collect();
        assert_eq!(order(&needs).0.first(), Some(&49_999));
    }
}
