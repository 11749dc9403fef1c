//! What a bootstrap may be asked about. In: samples. Out: one number, for the samples, for a resample of them, or with one
//! sample left out. Quantiles and means take short cuts; anything else is a closure over plain samples.

use crate::distributions::draw::Draws;
use crate::error::StatsError;
use crate::series::order::{self, Ranked};
use crate::summary::mean;

/// A figure computed from a set of samples.
#[derive(Clone, Copy)]
pub enum Statistic<'a> {
    /// Arithmetic mean.
    Mean,
    /// Median.
    Median,
    /// Percentile, 0 to 100.
    Percentile(f64),
    /// Anything else. It is handed as many samples as there are, or one fewer.
    Other(&'a dyn Fn(&[f64]) -> f64),
}

impl Statistic<'_> {
    /// Its value for `samples`.
    pub(crate) fn of(&self, samples: &[f64]) -> Result<f64, StatsError> {
        let value = match (self.quantile()?, self) {
            (Some(q), _) => order::quantile(&order::sorted(samples), q),
            (None, Statistic::Other(f)) => f(samples),
            (None, _) => mean(samples),
        };
        known(value)
    }

    /// Its values for `times` resamples drawn with replacement.
    pub(crate) fn resampled(&self, samples: &[f64], times: usize, draws: &mut Draws) -> Result<Vec<f64>, StatsError> {
        let n = samples.len();
        if let Some(q) = self.quantile()? {
            let ranked = Ranked::new(samples);
            let mut counts = vec![0u32; n];
            let values = (0..times).map(|_| {
                counts.fill(0);
                (0..n).for_each(|_| counts[ranked.place[draws.below(n)] as usize] += 1);
                ranked.quantile(&counts, n, q)
            });
            return Ok(values.collect());
        }
        let mut resample = vec![0.0; n];
        let values = (0..times).map(|_| {
            resample.fill_with(|| samples[draws.below(n)]);
            self.of(&resample)
        });
        values.collect()
    }

    /// Its value with each sample left out in turn; needs two samples.
    pub(crate) fn jackknife(&self, samples: &[f64]) -> Result<Vec<f64>, StatsError> {
        let mut rest = samples[1..].to_vec();
        let mut values = Vec::with_capacity(samples.len());
        for (left_out, sample) in samples.iter().enumerate() {
            values.push(self.of(&rest)?);
            // The next one to be left out makes room for this one.
            if let Some(slot) = rest.get_mut(left_out) {
                *slot = *sample;
            }
        }
        Ok(values)
    }

    fn quantile(&self) -> Result<Option<f64>, StatsError> {
        match self {
            Statistic::Median => Ok(Some(0.5)),
            Statistic::Percentile(p) if (0.0..=100.0).contains(p) => Ok(Some(p / 100.0)),
            Statistic::Percentile(p) => {
                Err(StatsError::Setting { name: "percentile", value: *p, expected: "a number from 0 to 100" })
            }
            Statistic::Mean | Statistic::Other(_) => Ok(None),
        }
    }
}

fn known(value: f64) -> Result<f64, StatsError> {
    if value.is_finite() { Ok(value) } else { Err(StatsError::Statistic(value)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn leaving_out_in_place_is_leaving_out() {
        let samples = [3.0, 1.0, 4.0, 1.5, 9.0];
        let first = |s: &[f64]| s.iter().fold(0.0, |sum, v| sum * 10.0 + v);
        let mut seen = Statistic::Other(&|s| s.iter().sum()).jackknife(&samples).unwrap();
        assert_eq!(seen, [15.5, 17.5, 14.5, 17.0, 9.5]);
        seen = Statistic::Other(&first).jackknife(&samples[..2]).unwrap();
        assert_eq!(seen, [1.0, 3.0]);
    }

    #[test]
    fn the_short_cut_for_quantiles_draws_the_same_resamples() {
        let samples: Vec<f64> = (0..31).map(|i| f64::from(i * i % 37)).collect();
        let slow = |s: &[f64]| order::quantile(&order::sorted(s), 0.95);
        let fast = Statistic::Percentile(95.0).resampled(&samples, 200, &mut Draws::new(3)).unwrap();
        assert_eq!(fast, Statistic::Other(&slow).resampled(&samples, 200, &mut Draws::new(3)).unwrap());
    }

    #[test]
    fn a_statistic_without_a_value_is_refused() {
        assert_eq!(Statistic::Other(&|_| f64::INFINITY).of(&[1.0]), Err(StatsError::Statistic(f64::INFINITY)));
        assert!(Statistic::Percentile(101.0).of(&[1.0]).is_err());
    }
}
