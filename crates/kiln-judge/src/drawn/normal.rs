//! Standard normal numbers by Box and Muller's method. In: a stream of random words. Out: numbers, each pair from four words
//! of the stream, so that any of them can be drawn from its place in it, by several processors at once. Logarithm, sine and
//! cosine are polynomials of our own: a large tensor is drawn with vector code, and is the same on every machine, whatever
//! its mathematical library. Their relative error is below 1e-14, far from what statistics or rounding could see.

use std::f64::consts::{FRAC_PI_2, LN_2, SQRT_2};

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::Rng;

use crate::marked::parallel::fill_in_parallel;

/// Pairs drawn by one processor at a time, and at once by it.
const SHARE: usize = 1 << 16;
const BATCH: usize = 256;

/// That many normal numbers times a factor. The stream goes on behind them.
pub(crate) fn normal(rng: &mut ChaCha8Rng, count: usize, factor: f64) -> Vec<f64> {
    let begin = rng.get_word_pos();
    let at = |pair: usize| begin.wrapping_add(4 * pair as u128);
    let mut values = vec![0.0; count];
    fill_in_parallel(&mut values, 2 * SHARE, |first, part| {
        let mut rng = rng.clone();
        rng.set_word_pos(at(first / 2));
        for batch in part.chunks_mut(2 * BATCH) {
            // By themselves, whole, so that the loop over them becomes vector code.
            let (mut lengths, mut directions) = ([0; BATCH], [0; BATCH]);
            for (length, direction) in lengths.iter_mut().zip(&mut directions).take(batch.len().div_ceil(2)) {
                (*length, *direction) = (rng.next_u64(), rng.next_u64());
            }
            let (mut left, mut right) = ([0.0; BATCH], [0.0; BATCH]);
            for pair in 0..BATCH {
                (left[pair], right[pair]) = two(lengths[pair], directions[pair], factor);
            }
            for (pair, values) in batch.chunks_mut(2).enumerate() {
                values[0] = left[pair];
                if let [_, second] = values {
                    *second = right[pair];
                }
            }
        }
    });
    rng.set_word_pos(at(count.div_ceil(2)));
    values
}

/// In [1, 2), from the upper 52 bits.
fn one_to_two(bits: u64) -> f64 {
    f64::from_bits(1023 << 52 | bits >> 12)
}

#[inline(always)]
fn two(length: u64, direction: u64, factor: f64) -> (f64, f64) {
    let radius = factor * (-2.0 * logarithm(2.0 - one_to_two(length))).sqrt();
    let (sin, cos) = sine_and_cosine(one_to_two(direction) - 1.0);
    (radius * cos, radius * sin)
}

/// Of a positive, normal number: by its exponent, and twice the area tangent of the rest, which is near one.
#[inline(always)]
fn logarithm(value: f64) -> f64 {
    const ODD: [f64; 9] =
        [1.0, 1.0 / 3.0, 1.0 / 5.0, 1.0 / 7.0, 1.0 / 9.0, 1.0 / 11.0, 1.0 / 13.0, 1.0 / 15.0, 1.0 / 17.0];
    let bits = value.to_bits();
    let mantissa = f64::from_bits(bits & ((1 << 52) - 1) | 1023 << 52);
    let large = mantissa > SQRT_2;
    let near = if large { mantissa / 2.0 } else { mantissa };
    // As a floating-point number, by the bits of 2^52 + exponent: a conversion would not become vector code.
    let exponent = f64::from_bits((1023 + 52) << 52 | bits >> 52) - (4_503_599_627_370_496.0 + 1023.0);
    let exponent = exponent + if large { 1.0 } else { 0.0 };
    let ratio = (near - 1.0) / (near + 1.0);
    exponent * LN_2 + 2.0 * ratio * in_powers(ratio * ratio, &ODD)
}

/// Of a share of a whole turn: from the nearest quarter.
#[inline(always)]
fn sine_and_cosine(turns: f64) -> (f64, f64) {
    const SINE: [f64; 8] = factorials(1);
    const COSINE: [f64; 9] = factorials(0);
    // Adding a number whose last bit is one, and taking it away again, rounds as the processor does; the sum's last bits
    // are the quarter's number.
    const WHOLE: f64 = 1.5 * (1u64 << 52) as f64;
    let sum = 4.0 * turns + WHOLE;
    let angle = FRAC_PI_2 * (4.0 * turns - (sum - WHOLE));
    let square = angle * angle;
    let (sin, cos) = (angle * in_powers(square, &SINE), in_powers(square, &COSINE));
    let quarter = sum.to_bits();
    let (first, second) = if quarter & 1 == 0 { (sin, cos) } else { (cos, sin) };
    let negated = |value: f64, negative: u64| f64::from_bits(value.to_bits() ^ negative << 63);
    (negated(first, quarter >> 1 & 1), negated(second, (quarter >> 1 ^ quarter) & 1))
}

/// Factors of every second power from `first` on, of sine or cosine.
const fn factorials<const N: usize>(first: u64) -> [f64; N] {
    let mut factors = [1.0; N];
    let mut i = 1;
    while i < N {
        let power = (first + 2 * i as u64) as f64;
        factors[i] = -factors[i - 1] / (power * (power - 1.0));
        i += 1;
    }
    factors
}

#[inline(always)]
fn in_powers<const N: usize>(value: f64, factors: &[f64; N]) -> f64 {
    factors.iter().rev().fold(0.0, |sum, factor| sum * value + factor)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use rand_chacha::rand_core::SeedableRng;

    #[test]
    fn parts_are_parts_of_one_stream_and_what_is_drawn_next_follows() {
        let stream = || ChaCha8Rng::seed_from_u64(7);
        let (mut one, mut other) = (stream(), stream());
        let drawn = normal(&mut one, 300_001, 2.0);
        let mut whole = Vec::new();
        while whole.len() < drawn.len() {
            let (length, direction) = (other.next_u64(), other.next_u64());
            let (left, right) = two(length, direction, 2.0);
            whole.extend([left, right]);
        }
        assert_eq!(drawn, whole[..drawn.len()]);
        assert_eq!(one.next_u64(), other.next_u64());
        assert_eq!(normal(&mut stream(), 3, 2.0), drawn[..3]);
        assert!(normal(&mut stream(), 0, 2.0).is_empty());
    }

    #[test]
    fn moments_are_those_of_the_normal_distribution() {
        let drawn = normal(&mut ChaCha8Rng::seed_from_u64(3), 1 << 20, 1.0);
        let moment = |power: i32| drawn.iter().map(|v| v.powi(power)).sum::<f64>() / drawn.len() as f64;
        // Five standard deviations of a mean of 2^20: of v 1, of v^2 2, of v^3 15, of v^4 96.
        for (power, expected, variance) in [(1, 0.0, 1.0), (2, 1.0, 2.0), (3, 0.0, 15.0), (4, 3.0, 96.0_f64)] {
            assert!((moment(power) - expected).abs() < 5.0 * variance.sqrt() / 1024.0, "{power}: {}", moment(power));
        }
        let beyond = |limit: f64| drawn.iter().filter(|v| v.abs() > limit).count() as f64 / drawn.len() as f64;
        assert!((beyond(1.959_964) - 0.05).abs() < 0.0015 && (beyond(3.0) - 0.0027).abs() < 0.0003);
    }

    proptest! {
        #[test]
        fn functions_are_those_of_the_library(bits: u64) {
            let turns = one_to_two(bits) - 1.0;
            let (sin, cos) = sine_and_cosine(turns);
            let (right_sin, right_cos) = (std::f64::consts::TAU * turns).sin_cos();
            prop_assert!((sin - right_sin).abs() < 2e-15 && (cos - right_cos).abs() < 2e-15);
            let value = 2.0 - one_to_two(bits);
            prop_assert!((logarithm(value) - value.ln()).abs() <= 1e-14 * value.ln().abs().max(1e-3), "{}", value);
        }
    }

    #[test]
    fn ends_of_the_ranges_are_numbers() {
        for bits in [0, u64::MAX, 1 << 12, 1 << 63, 3 << 62, 1 << 62] {
            for other in [0, u64::MAX, 1 << 61, 7 << 61] {
                let (left, right) = two(bits, other, 1.0);
                assert!(left.is_finite() && right.is_finite(), "{bits} {other}");
            }
        }
        assert!((logarithm(f64::EPSILON) + 52.0 * LN_2).abs() < 1e-12);
        assert_eq!((logarithm(1.0), sine_and_cosine(0.0)), (0.0, (0.0, 1.0)));
    }
}
