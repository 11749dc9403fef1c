//! Uniform sampling without listing. In: how many, and a seed. Out: distinct configurations, every subset of that size
//! equally likely; the same seed gives the same sample on every machine.

use std::collections::HashSet;

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;

use crate::choosing::draw::{below, shuffle};
use crate::space::{Point, Space};

impl Space {
    /// `count` distinct configurations drawn uniformly (all of them, shuffled, when there are no more).
    pub fn sample(&self, count: usize, seed: u64) -> Vec<Point> {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let count = usize::try_from(self.len()).map_or(count, |all| count.min(all));
        // Floyd's method: one draw for each member of the sample, never a second try.
        let mut chosen: HashSet<u128> = HashSet::with_capacity(count);
        let mut order = Vec::with_capacity(count);
        for top in self.len() - count as u128..self.len() {
            let drawn = below(&mut rng, top + 1);
            let index = if chosen.insert(drawn) { drawn } else { top };
            chosen.insert(index);
            order.push(index);
        }
        shuffle(&mut rng, &mut order);
        order.into_iter().filter_map(|index| self.point(index)).collect()
    }
}
