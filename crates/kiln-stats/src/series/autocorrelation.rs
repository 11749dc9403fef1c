//! How much a sample tells about the next. In: a series in time order. Out: autocorrelation by lag, and how many
//! independent samples the series is worth. Refuses an empty series, NaN and infinity.

use serde::Serialize;

use crate::error::{StatsError, finite};
use crate::summary::mean;

/// Autocorrelation of a series.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Autocorrelation {
    /// Correlation with the sample 1, 2, ... places later.
    pub lags: Vec<f64>,
    /// How many independent samples would know the mean as well; at most the number of samples.
    pub effective: f64,
}

/// Autocorrelation up to lag `most` (fewer for short series).
pub fn autocorrelation(series: &[f64], most: usize) -> Result<Autocorrelation, StatsError> {
    finite(series)?;
    let n = series.len();
    Ok(Autocorrelation { lags: lags(series, most.min(n - 1)), effective: effective(&lags(series, n - 1), n) })
}

/// Lag 1 to `most`. The sum is divided by n for every lag, not by n minus the lag: far lags, estimated from few products,
/// then fade instead of growing wild. A constant series has none.
pub(crate) fn lags(series: &[f64], most: usize) -> Vec<f64> {
    let centre = mean(series);
    let d: Vec<f64> = series.iter().map(|v| v - centre).collect();
    let whole: f64 = d.iter().map(|v| v * v).sum();
    let product = |lag: usize| d.iter().zip(&d[lag..]).map(|(a, b)| a * b).sum::<f64>();
    (1..=most).map(|lag| if whole > 0.0 { product(lag) / whole } else { 0.0 }).collect()
}

/// Geyer's initial positive sequence: pairs of neighbouring lags are added while their sum is positive; what comes after is
/// noise. Negative correlation would promise more than n samples, which no one should rely on.
fn effective(lags: &[f64], n: usize) -> f64 {
    let at = |lag: usize| if lag == 0 { 1.0 } else { lags.get(lag - 1).copied().unwrap_or(0.0) };
    let pairs = (0..=lags.len() / 2).map(|m| at(2 * m) + at(2 * m + 1));
    let time = 2.0 * pairs.take_while(|pair| *pair > 0.0).sum::<f64>() - 1.0;
    (n as f64 / time.max(1.0)).max(1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn constant_alternating_and_slow_series() {
        assert_eq!(autocorrelation(&[2.0; 10], 3).unwrap(), Autocorrelation { lags: vec![0.0; 3], effective: 10.0 });
        let alternating: Vec<f64> = (0..100).map(|i| f64::from(i % 2)).collect();
        let seen = autocorrelation(&alternating, 2).unwrap();
        assert!(seen.lags[0] < -0.98 && seen.lags[1] > 0.97 && seen.effective == 100.0);
        let slow: Vec<f64> = (0..100).map(|i| f64::from(i / 10)).collect();
        assert!(autocorrelation(&slow, 1).unwrap().effective < 10.0);
        assert_eq!(autocorrelation(&[1.0], 5).unwrap(), Autocorrelation { lags: vec![], effective: 1.0 });
    }
}
