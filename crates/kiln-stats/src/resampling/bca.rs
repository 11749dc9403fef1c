//! The BCa correction (Efron 1987): which quantiles of the resampled values to take instead of 2.5 % and 97.5 %. In: the
//! resampled values, the estimate, the estimate with each sample left out. Out: [`BcaLevels`]. Kept apart from drawing, so
//! that it can be held against SciPy on given lists.

use serde::Serialize;

use crate::distributions::normal;
use crate::error::{StatsError, finite, open_unit};
use crate::summary::mean;

/// The correction and the quantile levels it leads to.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct BcaLevels {
    /// z0: how far the estimate lies from the middle of the resampled values, in normal units.
    pub bias: f64,
    /// a: how fast the standard error changes with the estimate.
    pub acceleration: f64,
    /// Quantile level of the lower end.
    pub low: f64,
    /// Quantile level of the upper end.
    pub high: f64,
}

/// The levels for a two-sided interval.
pub fn levels(resampled: &[f64], estimate: f64, left_out: &[f64], confidence: f64) -> Result<BcaLevels, StatsError> {
    finite(resampled)?;
    finite(left_out)?;
    open_unit("confidence", confidence)?;
    let bias = bias(resampled, estimate);
    let acceleration = acceleration(left_out);
    let level = |p: f64| {
        let shifted = bias + normal::quantile(p);
        normal::cdf(bias + shifted / (1.0 - acceleration * shifted))
    };
    let tail = (1.0 - confidence) / 2.0;
    Ok(BcaLevels { bias, acceleration, low: level(tail), high: level(1.0 - tail) })
}

/// Ties count half. When every resampled value lies on one side the share is taken half a resample away from 0 or 1: an
/// infinite correction would turn the interval into one point.
fn bias(resampled: &[f64], estimate: f64) -> f64 {
    let n = resampled.len() as f64;
    let below = resampled.iter().filter(|v| **v < estimate).count() as f64;
    let up_to = resampled.iter().filter(|v| **v <= estimate).count() as f64;
    normal::quantile(((below + up_to) / (2.0 * n)).clamp(0.5 / n, 1.0 - 0.5 / n))
}

/// A sixth of the skewness of the jackknife values, zero when they are all equal.
fn acceleration(left_out: &[f64]) -> f64 {
    let centre = mean(left_out);
    let (squares, cubes) = left_out.iter().fold((0.0, 0.0), |(squares, cubes), value| {
        let d = centre - value;
        (squares + d * d, cubes + d * d * d)
    });
    if squares > 0.0 { cubes / (6.0 * squares * squares.sqrt()) } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_bias_and_skew_the_levels_are_the_plain_ones() {
        let levels = levels(&[1.0, 2.0, 3.0], 2.0, &[1.0, 2.0, 3.0], 0.9).unwrap();
        assert!(levels.bias.abs() < 1e-15 && levels.acceleration.abs() < 1e-15);
        assert!((levels.low - 0.05).abs() < 1e-12 && (levels.high - 0.95).abs() < 1e-12);
    }

    #[test]
    fn one_sided_resamples_and_constant_samples_stay_finite() {
        let one_sided = levels(&[1.0; 100], 2.0, &[5.0, 5.0], 0.95).unwrap();
        assert!(one_sided.bias.is_finite() && one_sided.acceleration == 0.0);
        assert_eq!(levels(&[2.0; 100], 2.0, &[2.0], 0.95).unwrap().bias, 0.0);
    }
}
