//! The race keeps its promise: with noise of several shapes a candidate exactly at the limit is given up no more often than
//! stated, however long it is watched, and clearly slow ones are given up soon. Seeds are fixed, so the outcome is too.

// A test that cannot go on says so by panicking.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use kiln_search::{Bound, Decision, Race};
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};

/// Multiplicative noise with median 1, from a uniform number in (0, 1).
type Noise = fn(f64) -> f64;

const NOISES: [(&str, Noise); 3] = [
    // One sided, as timings are: a floor and a long tail.
    ("tail", |u| 0.95 - 0.05 * (1.0 - u).ln() / 2f64.ln()),
    ("even", |u| 0.5 + u),
    // Two clocks: half of the samples 10 % faster than the rest, the median between them.
    ("two clocks", |u| if u < 0.5 { 0.95 } else { 1.0 + 0.05 * u }),
];

fn samples(noise: Noise, median: f64, count: usize, rng: &mut ChaCha8Rng) -> Vec<f64> {
    (0..count).map(|_| median * noise(((rng.next_u64() >> 11) as f64 + 0.5) / (1u64 << 53) as f64)).collect()
}

/// The share of candidates given up within `count` samples, and how many the median one of them took.
fn given_up(noise: Noise, median: f64, count: usize) -> (f64, usize) {
    let (race, bound) = (Race::default(), Bound::upper(1.0));
    let mut rng = ChaCha8Rng::seed_from_u64(11);
    let runs = 10_000;
    let mut ends = Vec::new();
    for _ in 0..runs {
        let samples = samples(noise, median, count, &mut rng);
        if race.decide(bound, &samples) == Decision::Hopeless {
            ends.push((1..).find(|n| race.decide(bound, &samples[..*n]) == Decision::Hopeless).unwrap());
        }
    }
    ends.sort_unstable();
    (ends.len() as f64 / f64::from(runs), ends.get(ends.len() / 2).copied().unwrap_or(count))
}

#[test]
fn worthy_candidates_are_given_up_no_more_often_than_stated() {
    for (name, noise) in NOISES {
        let (share, _) = given_up(noise, 1.05, 100);
        // The stated 1 %, plus three standard deviations of 10,000 runs.
        assert!(share <= 0.013, "{name}: {share}");
        let (share, _) = given_up(noise, 0.9, 100);
        assert!(share <= 0.001, "{name}: {share} of the faster ones");
    }
}

#[test]
fn slow_candidates_are_given_up_soon() {
    for (name, noise) in NOISES {
        // Noise of half the median hides a candidate half as slow again: one sample in five is below the limit.
        let (enough, within) = if name == "even" { (80, 36) } else { (20, 8) };
        let (share, samples) = given_up(noise, 1.5, enough);
        assert!(share > 0.9 && samples <= within, "{name}: {share} after {samples}");
        let (share, samples) = given_up(noise, 10.0, 40);
        assert!(share == 1.0 && samples == 2, "{name}: {share} after {samples}");
    }
}

#[test]
fn a_bound_from_samples_is_rarely_below_the_median() {
    let mut rng = ChaCha8Rng::seed_from_u64(5);
    let race = Race { margin: 0.0, error: 0.999, ..Race::default() };
    for (name, noise) in NOISES {
        for count in [6, 20, 100] {
            let low = (0..4_000).filter(|_| {
                let bound = Bound::samples(&samples(noise, 1.0, count, &mut rng)).unwrap();
                // A sample at the median is above the bound only when the bound is too low.
                race.decide(bound, &[1.0; 60]) == Decision::Hopeless
            });
            let share = low.count() as f64 / 4_000.0;
            assert!(share <= 0.0325, "{name}, {count} samples: {share}");
        }
    }
}
