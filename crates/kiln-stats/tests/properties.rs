//! What must hold for all samples: units do not matter, swapping the sides swaps the verdict, intervals hold their estimate,
//! a seed fixes the answer, nothing panics.

// A test that cannot go on says so by panicking.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use kiln_stats::*;
use proptest::prelude::*;

/// Times of a kernel: a level, noise of some size, sometimes in ticks so that many are equal.
fn times(count: std::ops::Range<usize>) -> impl Strategy<Value = Vec<f64>> {
    let noise = proptest::collection::vec(0.0..1.0f64, count);
    (noise, 0.5..2.0f64, 0.0..0.5f64, prop_oneof![Just(0.0), Just(0.01), Just(0.1)]).prop_map(
        |(noise, level, scale, tick)| {
            let time = |v: f64| level * (1.0 + scale * v * v);
            let ticked = |v: f64| if tick > 0.0 { (v / tick).ceil() * tick } else { v };
            noise.into_iter().map(|v| ticked(time(v))).collect()
        },
    )
}

fn pair() -> impl Strategy<Value = (Vec<f64>, Vec<f64>)> {
    (times(2..60), times(60..61)).prop_map(|(b, c)| {
        let n = b.len();
        (b, c[..n].to_vec())
    })
}

fn quick(dead_zone: f64) -> Thresholds {
    Thresholds { resamples: 200, ..Thresholds::with_dead_zone(dead_zone) }
}

fn near(a: f64, b: f64) -> bool {
    (a - b).abs() <= 1e-9 * a.abs().max(b.abs())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn swapping_the_sides_swaps_the_verdict((b, c) in pair(), zone in 0.0..0.1f64, seed: u64) {
        let there = compare(&b, &c, &quick(zone), seed).unwrap();
        let back = compare(&c, &b, &quick(zone), seed).unwrap();
        prop_assert_eq!(there.verdict, back.verdict.swapped());
        prop_assert!(near(there.speedup, 1.0 / back.speedup));
        prop_assert!(near(there.speedup_ci95.low, 1.0 / back.speedup_ci95.high));
        prop_assert!(near(there.speedup_ci95.high, 1.0 / back.speedup_ci95.low));
        prop_assert!((there.cliffs_delta + back.cliffs_delta).abs() < 1e-12);
        prop_assert!(near(there.p_value, back.p_value));
    }

    #[test]
    fn units_do_not_matter((b, c) in pair(), seed: u64, power in -30i32..30) {
        // Powers of two scale without rounding, so that ties stay ties.
        let unit = 2f64.powi(power);
        let scaled = |side: &[f64]| side.iter().map(|v| v * unit).collect::<Vec<_>>();
        let plain = compare(&b, &c, &quick(0.03), seed).unwrap();
        let other = compare(&scaled(&b), &scaled(&c), &quick(0.03), seed).unwrap();
        prop_assert_eq!(plain.verdict, other.verdict);
        prop_assert!(near(plain.speedup, other.speedup));
        prop_assert!(near(plain.speedup_ci95.low, other.speedup_ci95.low));
        prop_assert!(near(plain.baseline_ci95.high * unit, other.baseline_ci95.high));
    }

    #[test]
    fn figures_stay_within_their_bounds((b, c) in pair(), seed: u64) {
        for found in [compare(&b, &c, &quick(0.03), seed).unwrap(), compare_apart(&b, &c, &quick(0.03), seed).unwrap()] {
            prop_assert!((-1.0..=1.0).contains(&found.cliffs_delta));
            prop_assert!((0.0..=1.0).contains(&found.p_value));
            prop_assert!(found.speedup_ci95.contains(found.speedup));
            prop_assert!(found.baseline_ci95.low <= found.baseline.median * (1.0 + 1e-12));
            prop_assert!(found.candidate_ci95.high >= found.candidate.median * (1.0 - 1e-12));
            prop_assert!(!found.reasons.is_empty());
            prop_assert!(found.block_length >= 1 && found.block_length <= found.blocks);
        }
    }

    #[test]
    fn a_seed_fixes_the_answer((b, c) in pair(), seed: u64) {
        let again = || compare(&b, &c, &quick(0.03), seed).unwrap();
        prop_assert_eq!(again(), again());
        let bootstrap = Bootstrap { resamples: 100, seed, ..Bootstrap::default() };
        prop_assert_eq!(bootstrap.bca(&b, Statistic::Mean), bootstrap.bca(&b, Statistic::Mean));
    }

    #[test]
    fn intervals_hold_their_estimate(x in times(2..50), seed: u64, confidence in 0.5..0.999f64) {
        let bootstrap = Bootstrap { resamples: 100, confidence, seed };
        for statistic in [Statistic::Mean, Statistic::Median, Statistic::Percentile(95.0)] {
            for found in [bootstrap.percentile(&x, statistic).unwrap(), bootstrap.bca(&x, statistic).unwrap()] {
                prop_assert!(found.interval.contains(found.value));
            }
        }
        let series = series_median(&x, &bootstrap).unwrap();
        prop_assert!(series.interval.contains(series.value));
    }

    #[test]
    fn the_shift_follows_the_samples(x in times(1..40), y in times(1..40), confidence in 0.5..0.999f64) {
        let found = hodges_lehmann(&x, &y, confidence).unwrap();
        prop_assert!(found.interval.contains(found.value));
        let back = hodges_lehmann(&y, &x, confidence).unwrap();
        prop_assert!((found.value + back.value).abs() < 1e-12 && (found.interval.low + back.interval.high).abs() < 1e-12);
        let moved: Vec<f64> = x.iter().map(|v| v + 1.0).collect();
        prop_assert!((hodges_lehmann(&moved, &y, confidence).unwrap().value - found.value - 1.0).abs() < 1e-9);
    }

    #[test]
    fn one_sided_tests_share_out_the_whole(x in times(1..30), y in times(1..30)) {
        let p = |alternative| mann_whitney(&x, &y, alternative).unwrap().p_value;
        let (less, greater, both) = (p(Alternative::Less), p(Alternative::Greater), p(Alternative::TwoSided));
        prop_assert!(less + greater >= 1.0 - 1e-12);
        prop_assert!((both - (2.0 * less.min(greater)).min(1.0)).abs() < 1e-9);
    }

    #[test]
    fn anything_is_answered_or_refused(x in proptest::collection::vec(any::<f64>(), 0..12),
                                       y in proptest::collection::vec(any::<f64>(), 0..12)) {
        let bootstrap = Bootstrap { resamples: 100, ..Bootstrap::default() };
        let _ = (Summary::of(&x), outliers(&x, Fence::default()), drift(&x), autocorrelation(&x, 3));
        let _ = (mann_whitney(&x, &y, Alternative::Less), cliffs_delta(&x, &y), hodges_lehmann(&x, &y, 0.95));
        let _ = (hodges_lehmann_ratio(&x, &y, 0.95), bootstrap.percentile(&x, Statistic::Median));
        let _ = (bootstrap.bca(&x, Statistic::Mean), series_median(&x, &bootstrap));
        let _ = (compare(&x, &y, &quick(0.03), 0), compare_apart(&x, &y, &quick(0.03), 0));
        let points: Vec<Point> = x.iter().map(|v| Point::from(*v)).collect();
        let _ = changes(&points, &ChangeRule { shuffles: 20, ..ChangeRule::default() }, 0);
    }
}
