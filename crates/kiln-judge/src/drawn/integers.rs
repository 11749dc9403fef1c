//! Integers for questions. In: the lowest and the highest, and a stream of random numbers. Out: numbers among them. Where no
//! range is stated they come from all of the type: half of them evenly, half with a random number of bits, so that small
//! and large ones occur; 0, 1 and both ends too. The first ones go through the ends in every combination with those of
//! the other arguments, so that what overflows overflows there.

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::Rng;

use crate::drawn::interval::Interval;

/// Elements that go through the ends: four values of each of three arguments.
const CORNERS: usize = 64;

/// `count` integers. `number` is the argument's among those that hold integers.
pub(crate) fn integers(interval: &Interval, count: usize, number: usize, rng: &mut ChaCha8Rng) -> Vec<i128> {
    let (low, high) = interval.whole();
    let near = |value: i128| value.clamp(low, high);
    let corners = [low, high, near(0), near(1)];
    let one = |at: usize| {
        if at < CORNERS && count > CORNERS && !interval.stated() {
            return corners[at >> (2 * (number % 3)) & 3];
        }
        let choice = rng.next_u32();
        match choice % 64 {
            0 => low,
            1 => high,
            2 if !interval.stated() => near(0),
            3 if !interval.stated() => near(1),
            // Of a stated range with negative numbers, which are no indices, small ones are asked about now and then.
            4..12 if interval.stated() && low < 0 => near(some_bits(low, high, rng)),
            _ if choice & 64 == 0 || interval.stated() => evenly(low, high, rng),
            _ => near(some_bits(low, high, rng)),
        }
    };
    (0..count).map(one).collect()
}

/// Any of them, each as likely.
pub(crate) fn evenly(low: i128, high: i128, rng: &mut ChaCha8Rng) -> i128 {
    let width = (high - low) as u128 + 1;
    low + ((u128::from(rng.next_u64()) * width) >> 64) as i128
}

/// Any number of significant bits, each as likely.
fn some_bits(low: i128, high: i128, rng: &mut ChaCha8Rng) -> i128 {
    let most = 128 - high.max(-low).leading_zeros();
    let bits = rng.next_u32() % (most + 1);
    let value = match bits {
        0 => 0,
        _ => i128::from(rng.next_u64() >> (64 - bits.min(64)) | 1 << (bits.min(64) - 1)),
    };
    if low < 0 && rng.next_u32() & 1 == 0 { -value } else { value }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::drawn::whole::extremes;
    use kiln_spec::Dtype;
    use proptest::prelude::*;
    use rand_chacha::rand_core::SeedableRng;

    #[test]
    fn small_and_large_ones_occur_and_the_ends() {
        for dtype in [Dtype::I8, Dtype::U8, Dtype::I32, Dtype::U32, Dtype::I64, Dtype::U64] {
            let (low, high) = extremes(dtype).unwrap();
            let drawn = integers(&Interval::Assumed(low, high), 5000, 0, &mut ChaCha8Rng::seed_from_u64(1));
            assert!(drawn.iter().all(|v| (low..=high).contains(v)));
            assert!([low, high, 0, 1].iter().all(|v| drawn.contains(v)), "{}", dtype.name());
            let small = drawn.iter().filter(|v| v.abs() <= high >> (2 * dtype.bytes())).count();
            assert!(small > 500 && small < 4000, "{}: {small}", dtype.name());
            assert_eq!(drawn.iter().any(|v| *v < -1), low < 0);
        }
    }

    proptest! {
        #[test]
        fn a_stated_range_is_kept(low in -1000i128..1000, width in 0i128..1000, seed: u64) {
            let interval = Interval::Whole(low, low + width);
            let drawn = integers(&interval, 300, 1, &mut ChaCha8Rng::seed_from_u64(seed));
            prop_assert!(drawn.iter().all(|v| (low..=low + width).contains(v)));
            prop_assert!(width < 3 || drawn.iter().any(|v| *v != drawn[0]));
        }
    }
}
