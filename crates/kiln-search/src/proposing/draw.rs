//! Random draws that depend on what is known, not on what was drawn before. In: the seed of the study, a purpose, and the
//! set of configurations seen so far. Out: uniform draws. A stream is opened for one proposal and dropped, so a resumed
//! study draws what the uninterrupted one would have. Written out on the bare ChaCha stream, so that a seed means the same
//! for ever, whatever the crates above the stream do.

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};

use crate::known::seen::Seen;

pub(crate) struct Draws(ChaCha8Rng);

impl Draws {
    /// The stream of one proposal. `purpose` keeps strategies apart that are asked with the same seed.
    pub(crate) fn new(seed: u64, purpose: u64, seen: &Seen) -> Draws {
        let words = [seed, purpose, seen.len() as u64, seen.digest()];
        let mut key = [0; 32];
        for (bytes, word) in key.chunks_exact_mut(8).zip(words) {
            bytes.copy_from_slice(&word.to_le_bytes());
        }
        Draws(ChaCha8Rng::from_seed(key))
    }

    /// A uniform number below `bound`; 0 where the bound is 0.
    pub(crate) fn below(&mut self, bound: u128) -> u128 {
        kiln_space::below(&mut self.0, bound)
    }

    /// A uniform position in a list of this length.
    pub(crate) fn position(&mut self, length: usize) -> usize {
        self.below(length as u128) as usize
    }

    /// A uniform number in [0, 1).
    pub(crate) fn unit(&mut self) -> f64 {
        (self.0.next_u64() >> 11) as f64 / (1u64 << 53) as f64
    }

    /// A position drawn with these weights, which are not negative; uniform where all are 0.
    pub(crate) fn weighted(&mut self, weights: impl Iterator<Item = f64> + Clone) -> usize {
        let total: f64 = weights.clone().sum();
        let mut left = self.unit() * total;
        let mut last = 0;
        for (position, weight) in weights.enumerate() {
            if left < weight {
                return position;
            }
            left -= weight;
            last = position;
        }
        // Rounding may leave a crumb behind the last weight.
        last
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn draws(seed: u64) -> Draws {
        Draws::new(seed, 1, &Seen::default())
    }

    #[test]
    fn every_number_below_the_bound_is_equally_likely() {
        let mut draws = draws(1);
        let mut counts = [0u32; 7];
        (0..70_000).for_each(|_| counts[draws.position(7)] += 1);
        assert!(counts.iter().all(|c| (9_600..10_400).contains(c)), "{counts:?}");
        assert_eq!((draws.below(1), draws.below(0)), (0, 0));
        assert!((0..100).all(|_| draws.below(u128::MAX) < u128::MAX));
        assert!((0..100).any(|_| draws.below(u128::MAX) > u128::from(u64::MAX)));
    }

    #[test]
    fn weights_are_kept() {
        let mut draws = draws(2);
        let mut counts = [0u32; 3];
        (0..40_000).for_each(|_| counts[draws.weighted([1.0, 0.0, 3.0].into_iter())] += 1);
        assert_eq!(counts[1], 0);
        assert!((9_600..10_400).contains(&counts[0]), "{counts:?}");
    }

    #[test]
    fn a_stream_depends_on_seed_purpose_and_what_was_seen() {
        let first = |seed, purpose, seen: &[u128]| {
            let mut set = Seen::default();
            seen.iter().for_each(|index| assert!(set.insert(*index)));
            Draws::new(seed, purpose, &set).below(u128::MAX)
        };
        let base = first(1, 1, &[3, 4]);
        assert_eq!(base, first(1, 1, &[4, 3]));
        for other in [first(2, 1, &[3, 4]), first(1, 2, &[3, 4]), first(1, 1, &[3, 5]), first(1, 1, &[3])] {
            assert_ne!(base, other);
        }
    }
}
