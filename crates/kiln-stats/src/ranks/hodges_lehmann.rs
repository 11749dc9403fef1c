//! Hodges and Lehmann's shift: the median of all differences between two samples, with an interval that assumes no shape of
//! the noise. In: two samples, a confidence. Out: a [`Shift`] and the confidence it really has. On the log scale the same
//! gives a ratio. Refuses empty samples, NaN, infinity, and for ratios times that are not positive.

use serde::Serialize;

use crate::distributions::normal;
use crate::distributions::u_distribution::probabilities;
use crate::error::{StatsError, finite, open_unit, positive};
use crate::interval::Interval;
use crate::ranks::mann_whitney::Ranks;
use crate::series::order;

/// A shift (`x - y`) or ratio (`x / y`) between two samples.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Shift {
    /// Median of all pairwise differences or ratios.
    pub value: f64,
    /// Values the rank test does not reject.
    pub interval: Interval,
    /// Share of such intervals that hold the truth: at least what was asked, except for samples too small to give it.
    pub confidence: f64,
}

/// By how much `x` exceeds `y`.
pub fn shift(x: &[f64], y: &[f64], confidence: f64) -> Result<Shift, StatsError> {
    open_unit("confidence", confidence)?;
    finite(x)?;
    finite(y)?;
    let (n, m) = (x.len(), y.len());
    let ties = Ranks::new(x, y)?.ties > 0.0;
    let (x, y) = (order::sorted(x), order::sorted(y));
    let all = n * m;
    let (rank, confidence) = rank_of_low_end(n, m, ties, confidence);
    let nth = |k: usize| nth_difference(&x, &y, k);
    let value = if all % 2 == 1 { nth(all / 2) } else { nth(all / 2 - 1) / 2.0 + nth(all / 2) / 2.0 };
    Ok(Shift { value, interval: Interval { low: nth(rank), high: nth(all - 1 - rank) }, confidence })
}

/// By what factor `x` exceeds `y`.
pub fn ratio(x: &[f64], y: &[f64], confidence: f64) -> Result<Shift, StatsError> {
    positive(x)?;
    positive(y)?;
    let logs = |side: &[f64]| side.iter().map(|v| v.ln()).collect::<Vec<_>>();
    let found = shift(&logs(x), &logs(y), confidence)?;
    let interval = Interval { low: found.interval.low.exp(), high: found.interval.high.exp() };
    Ok(Shift { value: found.value.exp(), interval, ..found })
}

/// Rank, from 0, of the difference that is the interval's low end, and the confidence this gives. The interval from the
/// k-th smallest to the k-th largest misses the truth when U is below k or above n * m - k.
fn rank_of_low_end(n: usize, m: usize, ties: bool, confidence: f64) -> (usize, f64) {
    let tail = (1.0 - confidence) / 2.0;
    let all = n * m;
    if !ties && n.max(m) <= 25 {
        let mut missed = 0.0;
        let mut kept = (0, 0.0);
        for (rank, p) in probabilities(n, m).iter().enumerate().take(all.div_ceil(2)) {
            missed += p;
            if rank > 0 && missed > tail {
                break;
            }
            kept = (rank, missed);
        }
        return (kept.0, 1.0 - 2.0 * kept.1);
    }
    // Ties only make U vary less, so leaving them out errs on the wide side.
    let sd = ((all * (n + m + 1)) as f64 / 12.0).sqrt();
    let rank = (all as f64 / 2.0 - 0.5 + normal::quantile(tail) * sd).floor().max(0.0);
    let missed = 2.0 * normal::sf((all as f64 / 2.0 - rank - 0.5) / sd);
    (rank as usize, (1.0 - missed).max(0.0))
}

/// The `rank`-th smallest (from 0) of all differences between sorted `x` and sorted `y`, without forming them: bisection
/// over the ordered bit patterns of f64, counting by walking both lists once. Rounding keeps order, so the counts are
/// exactly those of the rounded differences.
fn nth_difference(x: &[f64], y: &[f64], rank: usize) -> f64 {
    let up_to = |limit: f64| {
        let mut below = 0;
        let count = |v: &f64| {
            while below < x.len() && x[below] - v <= limit {
                below += 1;
            }
            below
        };
        y.iter().map(count).sum::<usize>()
    };
    let (mut low, mut high) = (key(x[0] - y[y.len() - 1]), key(x[x.len() - 1] - y[0]));
    while low < high {
        let middle = low.midpoint(high);
        let middle = if middle == high { low } else { middle };
        if up_to(unkey(middle)) > rank { high = middle } else { low = middle + 1 }
    }
    // -0 becomes 0.
    unkey(low) + 0.0
}

/// Whole numbers in the order of the floats they stand for.
fn key(value: f64) -> i64 {
    let bits = value.to_bits() as i64;
    bits ^ ((bits >> 63) as u64 >> 1) as i64
}

fn unkey(key: i64) -> f64 {
    f64::from_bits((key ^ ((key >> 63) as u64 >> 1) as i64) as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nth_difference_is_the_nth_difference() {
        let x: Vec<f64> = order::sorted(&[3.0, -1.5, 2.0, 2.0, 8.25, 0.1]);
        let y: Vec<f64> = order::sorted(&[0.3, 2.0, 7.0, -4.0]);
        let all = order::sorted(&x.iter().flat_map(|a| y.iter().map(move |b| a - b)).collect::<Vec<_>>());
        for (rank, value) in all.iter().enumerate() {
            assert_eq!(nth_difference(&x, &y, rank), *value);
        }
        for value in [0.0, -1.0, 1e300, -1e-300, 3.5] {
            assert_eq!(unkey(key(value)), value);
        }
    }

    #[test]
    fn tiny_samples_say_how_little_they_know() {
        let one = shift(&[3.0], &[1.0], 0.95).unwrap();
        assert_eq!((one.value, one.interval, one.confidence), (2.0, Interval { low: 2.0, high: 2.0 }, 0.0));
        let four = shift(&[1.0, 2.0, 3.0, 4.0], &[5.0, 6.0, 7.0, 8.0], 0.95).unwrap();
        assert!((four.confidence - (1.0 - 2.0 / 70.0)).abs() < 1e-12);
        assert_eq!(four.interval, Interval { low: -7.0, high: -1.0 });
        assert!(ratio(&[1.0], &[0.0], 0.95).is_err());
        assert!(shift(&[1.0], &[1.0], 1.5).is_err());
    }
}
