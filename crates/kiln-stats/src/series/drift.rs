//! Does a series creep up or down? In: a series in time order. Out: Theil and Sen's slope (the median slope over all pairs,
//! deaf to spikes) and Mann and Kendall's test for a trend. Refuses fewer than three samples, NaN and infinity.
//!
//! The test takes samples as independent. Slow waves look like drift to it; that is wanted here, since both make figures
//! from different times incomparable.

use serde::Serialize;

use crate::distributions::normal;
use crate::error::{StatsError, finite};
use crate::series::order;

/// A trend over time.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Drift {
    /// Change from one sample to the next, in the unit of the samples.
    pub slope: f64,
    /// The line's value at sample 0.
    pub start: f64,
    /// Change per 100 samples relative to the median: 0.02 is 2 % slower every 100 samples. None for a median of 0.
    pub per_100: Option<f64>,
    /// Kendall's tau-b between time and value.
    pub tau: f64,
    /// Probability of a trend as clear as this were there none.
    pub p_value: f64,
}

/// Series longer than this are first cut into this many pieces, each replaced by its median: the work grows with the square
/// of the length, and a trend over thousands of samples is as plain from a thousand medians.
const MOST: usize = 1000;

/// Measure the drift of `series`.
pub fn drift(series: &[f64]) -> Result<Drift, StatsError> {
    finite(series)?;
    if series.len() < 3 {
        return Err(StatsError::TooFew { given: series.len(), needed: 3 });
    }
    if series.len() <= MOST {
        return Ok(trend(series, 1));
    }
    let width = series.len().div_ceil(MOST);
    // A last piece that is shorter than the others would stand too close to its neighbour.
    let medians: Vec<f64> = series.chunks_exact(width).map(order::median).collect();
    Ok(trend(&medians, width))
}

fn trend(series: &[f64], width: usize) -> Drift {
    let n = series.len();
    let mut slopes = Vec::with_capacity(n * (n - 1) / 2);
    let mut balance = 0i64;
    for (i, earlier) in series.iter().enumerate() {
        for (gap, later) in series[i + 1..].iter().enumerate() {
            slopes.push((later - earlier) / (gap + 1) as f64);
            balance += i64::from(later > earlier) - i64::from(later < earlier);
        }
    }
    let slope = order::median(&slopes);
    let middle = order::median(series);
    let (tau, p_value) = kendall(series, balance as f64);
    let per_sample = slope / width as f64;
    Drift {
        slope: per_sample,
        // The first piece is centred on its own middle.
        start: middle - slope * (n - 1) as f64 / 2.0 - per_sample * (width - 1) as f64 / 2.0,
        per_100: (middle != 0.0).then(|| 100.0 * per_sample / middle.abs()),
        tau,
        p_value,
    }
}

/// Tau-b and its two-sided p-value by the normal approximation with the correction for ties, as SciPy computes them.
fn kendall(series: &[f64], balance: f64) -> (f64, f64) {
    let n = series.len() as f64;
    let pairs = n * (n - 1.0) / 2.0;
    let (mut tied, mut spread) = (0.0, 0.0);
    for group in order::sorted(series).chunk_by(|a, b| a == b) {
        let size = group.len() as f64;
        tied += size * (size - 1.0) / 2.0;
        spread += size * (size - 1.0) * (2.0 * size + 5.0);
    }
    let variance = (n * (n - 1.0) * (2.0 * n + 5.0) - spread) / 18.0;
    if tied >= pairs || variance <= 0.0 {
        return (0.0, 1.0);
    }
    let tau = balance / (pairs.sqrt() * (pairs - tied).sqrt());
    (tau.clamp(-1.0, 1.0), (2.0 * normal::sf(balance.abs() / variance.sqrt())).min(1.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_steady_creep_is_measured() {
        let creeping: Vec<f64> = (0..100).map(|i| 200.0 + 0.1 * f64::from(i)).collect();
        let found = drift(&creeping).unwrap();
        assert!((found.slope - 0.1).abs() < 1e-12 && (found.start - 200.0).abs() < 1e-9);
        assert!((found.per_100.unwrap() - 10.0 / 204.95).abs() < 1e-9);
        assert!((found.tau - 1.0).abs() < 1e-12 && found.p_value < 1e-9);
    }

    #[test]
    fn a_long_series_is_thinned_and_keeps_its_slope() {
        let long: Vec<f64> = (0..25_000).map(|i| 5.0 + 1e-4 * f64::from(i) + 0.1 * f64::from(i % 7)).collect();
        let found = drift(&long).unwrap();
        assert!((found.slope - 1e-4).abs() < 1e-6 && (found.start - 5.3).abs() < 0.02, "{found:?}");
    }

    #[test]
    fn nothing_moves_nothing_found() {
        let still = drift(&[4.0; 20]).unwrap();
        assert_eq!((still.slope, still.tau, still.p_value), (0.0, 0.0, 1.0));
        assert!(drift(&[1.0, 2.0]).is_err());
        assert_eq!(drift(&[-1.0, 0.0, 1.0]).unwrap().per_100, None);
    }
}
