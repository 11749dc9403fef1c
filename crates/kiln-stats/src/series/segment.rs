//! The best division of a series into levels. In: values, a price for each level, how short a level may be. Out: where levels
//! begin, the first apart. Callers have checked that all values are finite.
//!
//! PELT (Killick, Fearnhead and Eckley 2012): exact, by dynamic programming, and without starts that can no longer win. What
//! a level costs is the sum of distances to its median, so that one bad run costs what it is off by and not its square.

use std::collections::BinaryHeap;

/// A value in a heap.
#[derive(Clone, Copy, PartialEq)]
struct Ordered(f64);

impl Eq for Ordered {}

impl PartialOrd for Ordered {
    fn partial_cmp(&self, other: &Ordered) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Ordered {
    fn cmp(&self, other: &Ordered) -> std::cmp::Ordering {
        self.0.total_cmp(&other.0)
    }
}

/// A level that grows: values up to its median and those above (negated), each with its sum.
#[derive(Default)]
struct Level {
    low: BinaryHeap<Ordered>,
    high: BinaryHeap<Ordered>,
    low_sum: f64,
    high_sum: f64,
}

impl Level {
    fn push(&mut self, value: f64) {
        if self.low.peek().is_some_and(|middle| value <= middle.0) {
            self.low.push(Ordered(value));
            self.low_sum += value;
        } else {
            self.high.push(Ordered(-value));
            self.high_sum += value;
        }
        // The lower half holds as many as the upper, or one more.
        if self.low.len() > self.high.len() + 1
            && let Some(Ordered(moved)) = self.low.pop()
        {
            self.low_sum -= moved;
            self.high.push(Ordered(-moved));
            self.high_sum += moved;
        }
        if self.high.len() > self.low.len()
            && let Some(Ordered(moved)) = self.high.pop()
        {
            self.high_sum += moved;
            self.low.push(Ordered(-moved));
            self.low_sum -= moved;
        }
    }

    /// Sum of distances to the median.
    fn cost(&self) -> f64 {
        let middle = self.low.peek().map_or(0.0, |middle| middle.0);
        (middle * self.low.len() as f64 - self.low_sum) + (self.high_sum - middle * self.high.len() as f64)
    }
}

/// A place where the last level may begin.
struct Start {
    at: usize,
    level: Level,
    /// From this end on it cannot win.
    until: usize,
}

/// Where levels begin, other than at 0.
pub(crate) fn starts(values: &[f64], price: f64, shortest: usize) -> Vec<usize> {
    let n = values.len();
    // Cost of the best division of the first so many values, and where its last level begins.
    let mut best = vec![f64::INFINITY; n + 1];
    let mut last = vec![0; n + 1];
    best[0] = -price;
    let mut open: Vec<Start> = Vec::new();
    for end in 1..=n {
        if best[end - 1].is_finite() {
            open.push(Start { at: end - 1, level: Level::default(), until: usize::MAX });
        }
        open.retain(|start| start.until > end);
        for start in &mut open {
            start.level.push(values[end - 1]);
            let cost = best[start.at] + start.level.cost() + price;
            if end - start.at >= shortest && cost < best[end] {
                (best[end], last[end]) = (cost, start.at);
            }
        }
        for start in &mut open {
            // Ending a level here and beginning another is never dearer from now on; the other must be long enough first.
            if best[start.at] + start.level.cost() > best[end] {
                start.until = start.until.min(end + shortest);
            }
        }
    }
    let mut found = Vec::new();
    let mut end = n;
    while best[n].is_finite() && last[end] > 0 {
        end = last[end];
        found.push(end);
    }
    found.reverse();
    found
}

/// Where two levels fit best, each at least so long; none where there is no room.
pub(crate) fn cut(values: &[f64], shortest: usize) -> Option<usize> {
    let grown = |values: &mut dyn Iterator<Item = &f64>| {
        let mut level = Level::default();
        let costs = values.map(|value| {
            level.push(*value);
            level.cost()
        });
        costs.collect::<Vec<f64>>()
    };
    let (ahead, behind) = (grown(&mut values.iter()), grown(&mut values.iter().rev()));
    let n = values.len();
    let cost = |at: usize| ahead[at - 1] + behind[n - at - 1];
    (shortest..=n.checked_sub(shortest)?).min_by(|one, other| cost(*one).total_cmp(&cost(*other)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::series::order;

    fn cost(values: &[f64]) -> f64 {
        let middle = order::median(values);
        values.iter().map(|v| (v - middle).abs()).sum()
    }

    /// Every division there is.
    fn exhaustive(values: &[f64], price: f64, shortest: usize) -> f64 {
        let n = values.len();
        let mut least = f64::INFINITY;
        for mask in 0..1u32 << (n - 1) {
            let cuts: Vec<usize> = (1..n).filter(|i| mask >> (i - 1) & 1 == 1).collect();
            let edges: Vec<usize> = [0].into_iter().chain(cuts.iter().copied()).chain([n]).collect();
            if edges.windows(2).all(|pair| pair[1] - pair[0] >= shortest) {
                let total: f64 = edges.windows(2).map(|pair| cost(&values[pair[0]..pair[1]])).sum();
                least = least.min(total + price * cuts.len() as f64);
            }
        }
        least
    }

    #[test]
    fn no_division_is_cheaper() {
        let mut draws = crate::distributions::draw::Draws::new(3);
        for _ in 0..60 {
            let n = 4 + draws.below(9);
            let values: Vec<f64> = (0..n).map(|i| (draws.below(10) + 8 * (i * 3 / n)) as f64).collect();
            for (price, shortest) in [(2.0, 1), (6.0, 2), (3.0, 3), (20.0, 4)] {
                let found = starts(&values, price, shortest);
                let edges: Vec<usize> = [0].into_iter().chain(found.iter().copied()).chain([n]).collect();
                assert!(edges.windows(2).all(|pair| pair[1] - pair[0] >= shortest), "{values:?} {found:?}");
                let total: f64 = edges.windows(2).map(|pair| cost(&values[pair[0]..pair[1]])).sum();
                let least = exhaustive(&values, price, shortest);
                assert!((total + price * found.len() as f64 - least).abs() < 1e-9, "{values:?} {found:?}");
            }
        }
    }

    #[test]
    fn two_levels_are_cut_where_they_meet() {
        let step = [1.0, 1.1, 0.9, 1.0, 1.1, 2.0, 2.1, 1.9, 2.0];
        assert_eq!((cut(&step, 1), cut(&step, 4), cut(&step, 5)), (Some(5), Some(5), None));
        assert_eq!(cut(&step[..7], 3), Some(4), "no level is shorter than asked");
    }

    #[test]
    fn too_few_values_are_one_level() {
        assert!(starts(&[], 1.0, 3).is_empty());
        assert!(starts(&[1.0, 9.0], 1.0, 3).is_empty());
        assert_eq!(starts(&[1.0, 1.0, 9.0, 9.0], 1.0, 2), [2]);
    }
}
