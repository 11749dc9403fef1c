//! Seeded draws. In: a seed. Out: whole numbers below a bound. Written out here, on the bare ChaCha stream, so that a seed
//! recorded with a result means the same for ever, whatever the crates above the stream do.

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};

pub(crate) struct Draws(ChaCha8Rng);

impl Draws {
    pub(crate) fn new(seed: u64) -> Draws {
        Draws(ChaCha8Rng::seed_from_u64(seed))
    }

    /// A uniform number below `bound`, which is neither 0 nor above 2^32. Lemire's method: a multiplication, and a second
    /// draw only for the few values that would make some results likelier than others.
    pub(crate) fn below(&mut self, bound: usize) -> usize {
        let bound = bound as u64;
        let mut product = u64::from(self.0.next_u32()) * bound;
        if (product & 0xffff_ffff) < bound {
            let surplus = (1u64 << 32) % bound;
            while (product & 0xffff_ffff) < surplus {
                product = u64::from(self.0.next_u32()) * bound;
            }
        }
        (product >> 32) as usize
    }

    pub(crate) fn shuffle<T>(&mut self, items: &mut [T]) {
        for last in (1..items.len()).rev() {
            items.swap(last, self.below(last + 1));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_means_the_same_for_ever() {
        let mut draws = Draws::new(7);
        let first: Vec<usize> = (0..8).map(|_| draws.below(100)).collect();
        assert_eq!(first, [14, 15, 18, 16, 27, 70, 3, 72]);
    }

    #[test]
    fn every_number_is_equally_likely() {
        let mut draws = Draws::new(1);
        let mut counts = [0u32; 7];
        for _ in 0..70_000 {
            counts[draws.below(7)] += 1;
        }
        assert!(counts.iter().all(|c| (9_600..10_400).contains(c)), "{counts:?}");
        assert_eq!(draws.below(1), 0);
    }
}
