//! One speedup for many workloads. In: for each its weight, speedup and interval, from independent runs. Out: the weighted
//! geometric mean with an interval. Refuses an empty list, weights or speedups that are not positive.
//!
//! The ends are found on the log scale from each workload's own distance between estimate and end, added in quadrature
//! (Zou and Donner's MOVER): skewed intervals stay skewed, and no resamples need be kept.

use crate::error::{StatsError, positive};
use crate::interval::{Estimate, Interval};

/// Weighted geometric mean of independent speedups.
pub fn overall(workloads: &[(f64, Estimate)]) -> Result<Estimate, StatsError> {
    let column = |f: fn(&(f64, Estimate)) -> f64| workloads.iter().map(f).collect::<Vec<_>>();
    for figures in [column(|w| w.0), column(|w| w.1.value), column(|w| w.1.interval.low), column(|w| w.1.interval.high)]
    {
        positive(&figures)?;
    }
    let whole: f64 = workloads.iter().map(|w| w.0).sum();
    let (mut log, mut down, mut up) = (0.0, 0.0, 0.0);
    for (weight, estimate) in workloads {
        let share = weight / whole;
        log += share * estimate.value.ln();
        down += (share * (estimate.value / estimate.interval.low).ln()).powi(2);
        up += (share * (estimate.interval.high / estimate.value).ln()).powi(2);
    }
    let interval = Interval { low: (log - down.sqrt()).exp(), high: (log + up.sqrt()).exp() };
    Ok(Estimate { value: log.exp(), interval })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn estimate(low: f64, value: f64, high: f64) -> Estimate {
        Estimate { value, interval: Interval { low, high } }
    }

    #[test]
    fn one_workload_is_itself_and_four_equal_ones_are_twice_as_certain() {
        let one = estimate(1.0 / 1.21, 1.0, 1.21);
        let alone = overall(&[(3.0, one)]).unwrap();
        assert!((alone.interval.low - one.interval.low).abs() < 1e-12 && (alone.value - 1.0).abs() < 1e-12);
        let four = overall(&[(1.0, one); 4]).unwrap();
        assert!((four.interval.high - 1.1).abs() < 1e-12);
    }

    #[test]
    fn weights_count() {
        let mean = overall(&[(2.0, estimate(8.0, 8.0, 8.0)), (1.0, estimate(1.0, 1.0, 1.0))]).unwrap();
        assert!((mean.value - 4.0).abs() < 1e-12);
        assert!(overall(&[]).is_err() && overall(&[(0.0, estimate(1.0, 1.0, 1.0))]).is_err());
    }
}
