//! A Latin hypercube over valid configurations. In: how many, and a seed. Out: distinct configurations whose values, for
//! each tunable taken alone, follow the valid space's own distribution as evenly as the rules allow: the space is cut
//! into as many equally likely slices along every tunable as there are points, and each slice is aimed at once.

use std::collections::HashSet;

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;

use crate::building::diagram::Diagram;
use crate::choosing::draw::{below, shuffle};
use crate::space::{Point, Space};

/// Designs tried; the most even one is kept.
const DESIGNS: usize = 16;

impl Space {
    /// `count` distinct configurations spread evenly along every tunable.
    pub fn latin(&self, count: usize, seed: u64) -> Vec<Point> {
        let count = usize::try_from(self.len()).map_or(count, |all| count.min(all));
        if count == 0 {
            return vec![];
        }
        if !self.parts().is_empty() {
            return self.latin_of_parts(count, seed);
        }
        // With most of the space taken there is nothing left to spread.
        if count as u128 > self.len() / 2 {
            return self.sample(count, seed);
        }
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let marginals = self.marginals();
        (0..DESIGNS)
            .map(|_| self.design(count, &marginals, &mut rng))
            .map(|points| (unevenness(&points, &marginals), points))
            .min_by(|a, b| a.0.total_cmp(&b.0))
            .map(|(_, points)| points)
            .unwrap_or_default()
    }

    /// The same of several implementations: each has about as many, and they take turns, so that none is unseen when a search
    /// ends early.
    fn latin_of_parts(&self, count: usize, seed: u64) -> Vec<Point> {
        let shares = shares(count, &self.parts().iter().map(|part| part.space.len()).collect::<Vec<_>>());
        let mut designs = Vec::with_capacity(shares.len());
        for (part, share) in self.parts().iter().zip(shares) {
            let own = part.space.latin(share, seed);
            designs.push(own.into_iter().map(|point| part.lifted(&point, self.dimensions().len())));
        }
        let mut points = Vec::with_capacity(count);
        while points.len() < count {
            let before = points.len();
            points.extend(designs.iter_mut().filter_map(Iterator::next));
            if points.len() == before {
                break;
            }
        }
        points
    }

    /// For each tunable, the share of valid configurations with each of its values.
    pub(crate) fn marginals(&self) -> Vec<Vec<f64>> {
        let mut shares: Vec<Vec<f64>> = self.dimensions().iter().map(|d| vec![0.0; d.values.len()]).collect();
        for factor in self.factors() {
            let total = factor.count() as f64;
            let mut reaching = vec![1.0 / total];
            for (depth, level) in factor.levels().iter().enumerate() {
                let next_states = factor.levels().get(depth + 1).map_or(1, |l| l.states());
                let mut next = vec![0.0; next_states];
                for (state, paths) in reaching.iter().enumerate() {
                    for edge in level.edges_of(state as u32) {
                        next[edge.child as usize] += paths;
                        let leaving = factor.count_at(depth + 1, edge.child) as f64;
                        shares[level.tunable][edge.value as usize] += paths * leaving;
                    }
                }
                reaching = next;
            }
        }
        shares
    }

    fn design(&self, count: usize, marginals: &[Vec<f64>], rng: &mut ChaCha8Rng) -> Vec<Point> {
        // Tunables by row, points by column.
        let aims: Vec<Vec<u32>> = marginals.iter().map(|shares| slices(shares, count, rng)).collect();
        let mut points: Vec<Point> = Vec::with_capacity(count);
        let mut taken: HashSet<Point> = HashSet::with_capacity(count);
        while points.len() < count {
            let next = points.len();
            let mut point = vec![0; self.dimensions().len()].into_boxed_slice();
            for factor in self.factors() {
                nearest(factor, |tunable| aims[tunable][next], &mut point);
            }
            while !taken.insert(point.clone()) {
                // Two aims met in one configuration: any other valid one will do.
                match self.point(below(rng, self.len())) {
                    Some(other) => point = other,
                    None => break,
                }
            }
            points.push(point);
        }
        points
    }
}

/// Parts of a number, as equal as these sizes allow: what a small one cannot take, others do.
fn shares(count: usize, sizes: &[u128]) -> Vec<usize> {
    let mut shares = vec![0; sizes.len()];
    let mut left = count;
    while left > 0 {
        let open: Vec<usize> = (0..sizes.len()).filter(|at| (shares[*at] as u128) < sizes[*at]).collect();
        if open.is_empty() {
            break;
        }
        let each = (left / open.len()).max(1);
        for at in open {
            let room = usize::try_from(sizes[at] - shares[at] as u128).unwrap_or(usize::MAX);
            let more = each.min(room).min(left);
            shares[at] += more;
            left -= more;
        }
    }
    shares
}

/// The value in the middle of each of `count` equally likely slices, shuffled.
fn slices(shares: &[f64], count: usize, rng: &mut ChaCha8Rng) -> Vec<u32> {
    let mut aims = Vec::with_capacity(count);
    let (mut value, mut passed) = (0, shares.first().copied().unwrap_or(1.0));
    for slice in 0..count {
        let middle = (slice as f64 + 0.5) / count as f64;
        while passed < middle && value + 1 < shares.len() {
            value += 1;
            passed += shares[value];
        }
        aims.push(value as u32);
    }
    shuffle(rng, &mut aims);
    aims
}

/// The valid assignment met by taking, tunable by tunable, the possible value closest to the aim.
fn nearest(factor: &Diagram, aim: impl Fn(usize) -> u32, point: &mut [u32]) {
    let mut state = 0;
    for level in factor.levels() {
        let aimed = aim(level.tunable);
        if let Some(edge) = level.edges_of(state).iter().min_by_key(|e| e.value.abs_diff(aimed)) {
            point[level.tunable] = edge.value;
            state = edge.child;
        }
    }
}

/// How far the points' values are from the valid space's own distribution, summed over tunables.
fn unevenness(points: &[Point], marginals: &[Vec<f64>]) -> f64 {
    let mut total = 0.0;
    for (tunable, shares) in marginals.iter().enumerate() {
        let mut seen = vec![0.0; shares.len()];
        for point in points {
            seen[point[tunable] as usize] += 1.0 / points.len() as f64;
        }
        total += seen.iter().zip(shares).map(|(a, b)| (a - b).abs()).sum::<f64>();
    }
    total
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_parts_leave_their_share_to_others() {
        assert_eq!(shares(20, &[1000, 1000]), [10, 10]);
        assert_eq!(shares(20, &[3, 1000, 1000]), [3, 9, 8]);
        assert_eq!(shares(2, &[9, 9, 9]), [1, 1, 0]);
        assert_eq!(shares(9, &[1, 2]), [1, 2]);
        assert_eq!(shares(0, &[1]), [0]);
    }
}
