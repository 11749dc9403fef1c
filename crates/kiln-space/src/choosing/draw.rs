//! Draws that every crate above shares. In: a bare ChaCha stream. Out: whole numbers below a bound and lists in random order,
//! without a bias. Written out here, so that a seed means the same for ever, whatever the crates above the stream do.

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::Rng;

/// A uniform number below `bound`, and 0 where that is 0 or 1.
pub fn below(rng: &mut ChaCha8Rng, bound: u128) -> u128 {
    let bits = 128 - bound.saturating_sub(1).leading_zeros();
    loop {
        let low = u128::from(rng.next_u64());
        let drawn = if bits > 64 { low | u128::from(rng.next_u64()) << 64 } else { low };
        let kept = if bits == 128 { drawn } else { drawn & ((1 << bits) - 1) };
        if kept < bound.max(1) {
            return kept;
        }
    }
}

/// Items in random order, every order equally likely.
pub fn shuffle<T>(rng: &mut ChaCha8Rng, items: &mut [T]) {
    for last in (1..items.len()).rev() {
        items.swap(last, below(rng, last as u128 + 1) as usize);
    }
}

#[cfg(test)]
mod tests {
    use rand_chacha::rand_core::SeedableRng;

    use super::*;

    #[test]
    fn a_seed_means_the_same_for_ever() {
        let mut rng = ChaCha8Rng::seed_from_u64(7);
        let drawn: Vec<u128> = [1, 2, 3, 100, 1 << 70, 0].map(|bound| below(&mut rng, bound)).into();
        assert_eq!(drawn, [0, 0, 1, 99, 712_067_545_977_922_771_848, 0]);
    }

    #[test]
    fn every_order_is_equally_likely() {
        let mut rng = ChaCha8Rng::seed_from_u64(1);
        let mut counts = std::collections::BTreeMap::new();
        for _ in 0..60_000 {
            let mut items = [0, 1, 2];
            shuffle(&mut rng, &mut items);
            *counts.entry(items).or_insert(0u32) += 1;
        }
        assert!(counts.len() == 6 && counts.values().all(|c| (9_600..10_400).contains(c)), "{counts:?}");
    }

    /// Most of all bounds above a half of the stream's range: with a remainder, small numbers would come twice as often.
    #[test]
    fn large_bounds_have_no_favourites() {
        let mut rng = ChaCha8Rng::seed_from_u64(2);
        let bound = 3u128 << 62;
        let low = (0..30_000).filter(|_| below(&mut rng, bound) < 1 << 62).count();
        assert!((9_600..10_400).contains(&low), "{low}");
    }
}
