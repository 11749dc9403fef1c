//! What a set of times looks like. In: samples in any order. Out: a [`Summary`]. Refuses an empty set, NaN and infinity.
//! One sample has a median but no scatter: its standard deviation and CV are absent, not zero, because zero would claim a
//! perfectly quiet machine.

use serde::Serialize;

use crate::error::{StatsError, finite};
use crate::series::order;

/// The usual figures of one set of samples, in the unit of the samples.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Summary {
    /// How many.
    pub n: usize,
    /// Smallest.
    pub min: f64,
    /// Largest.
    pub max: f64,
    /// Arithmetic mean.
    pub mean: f64,
    /// Middle value, P50.
    pub median: f64,
    /// 95 % lie at or below.
    pub p95: f64,
    /// 99 % lie at or below.
    pub p99: f64,
    /// Standard deviation (n - 1 in the denominator); none for one sample.
    pub sd: Option<f64>,
    /// Coefficient of variation, sd / mean; none for one sample or a mean that is not positive.
    pub cv: Option<f64>,
    /// Median distance from the median, not scaled. Multiply by 1.4826 to compare with `sd` for normal noise.
    pub mad: f64,
}

impl Summary {
    /// Summarise `samples`.
    pub fn of(samples: &[f64]) -> Result<Summary, StatsError> {
        finite(samples)?;
        let sorted = order::sorted(samples);
        let n = sorted.len();
        let median = order::quantile(&sorted, 0.5);
        let mean = mean(samples);
        let sd = sd(samples, mean);
        Ok(Summary {
            n,
            min: sorted[0],
            max: sorted[n - 1],
            mean,
            median,
            p95: order::quantile(&sorted, 0.95),
            p99: order::quantile(&sorted, 0.99),
            sd,
            cv: sd.filter(|_| mean > 0.0).map(|sd| sd / mean),
            mad: mad(samples, median),
        })
    }
}

/// The percentile `p` in 0..=100, interpolating linearly between neighbours as NumPy does by default.
pub fn percentile(samples: &[f64], p: f64) -> Result<f64, StatsError> {
    finite(samples)?;
    if !(0.0..=100.0).contains(&p) {
        return Err(StatsError::Setting { name: "percentile", value: p, expected: "a number from 0 to 100" });
    }
    Ok(order::quantile(&order::sorted(samples), p / 100.0))
}

/// The median.
pub fn median(samples: &[f64]) -> Result<f64, StatsError> {
    percentile(samples, 50.0)
}

pub(crate) fn mean(samples: &[f64]) -> f64 {
    samples.iter().sum::<f64>() / samples.len() as f64
}

fn sd(samples: &[f64], mean: f64) -> Option<f64> {
    let squares: f64 = samples.iter().map(|v| (v - mean) * (v - mean)).sum();
    (samples.len() > 1).then(|| (squares / (samples.len() - 1) as f64).sqrt())
}

pub(crate) fn mad(samples: &[f64], median: f64) -> f64 {
    order::median(&samples.iter().map(|v| (v - median).abs()).collect::<Vec<_>>())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_sample_has_a_median_and_no_scatter() {
        let one = Summary::of(&[3.0]).unwrap();
        assert_eq!((one.n, one.min, one.max, one.median, one.p99, one.mad), (1, 3.0, 3.0, 3.0, 3.0, 0.0));
        assert_eq!((one.sd, one.cv), (None, None));
    }

    #[test]
    fn what_has_no_answer_is_refused() {
        assert_eq!(Summary::of(&[]), Err(StatsError::Empty));
        assert!(Summary::of(&[1.0, f64::NAN]).is_err());
        assert!(percentile(&[1.0], 100.1).is_err() && percentile(&[1.0], f64::NAN).is_err());
        assert_eq!(Summary::of(&[-1.0, 1.0]).unwrap().cv, None);
    }
}
