//! Bootstrap intervals for one set of independent samples. In: samples, a [`Statistic`], how many resamples, a seed. Out:
//! the figure with a percentile or BCa interval; the same seed gives the same interval on every machine. Refuses what
//! [`StatsError`] names.
//!
//! Which one: BCa for smooth figures (mean, trimmed mean, ratios of means), where it corrects skew. For a median or a high
//! percentile the plain percentile interval: leaving one sample out moves a median by one gap or not at all, so the
//! acceleration BCa estimates from it is noise. Samples taken one after another are seldom independent; for a series in
//! time order see [`crate::series_median`].

use crate::distributions::draw::Draws;
use crate::error::{StatsError, finite, open_unit, some};
use crate::interval::{Estimate, Interval};
use crate::resampling::bca;
use crate::resampling::statistic::Statistic;
use crate::series::order;

/// How to resample.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Bootstrap {
    /// How many resamples.
    pub resamples: usize,
    /// Share of such intervals that hold the truth.
    pub confidence: f64,
    /// Where the stream of draws starts.
    pub seed: u64,
}

impl Default for Bootstrap {
    fn default() -> Bootstrap {
        Bootstrap { resamples: 10_000, confidence: 0.95, seed: 0 }
    }
}

impl Bootstrap {
    /// The figure's values for all resamples, in the order drawn.
    pub fn resample(&self, samples: &[f64], statistic: Statistic<'_>) -> Result<Vec<f64>, StatsError> {
        finite(samples)?;
        some("resamples", self.resamples)?;
        open_unit("confidence", self.confidence)?;
        statistic.resampled(samples, self.resamples, &mut Draws::new(self.seed))
    }

    /// The middle share of the resampled values.
    pub fn percentile(&self, samples: &[f64], statistic: Statistic<'_>) -> Result<Estimate, StatsError> {
        let resampled = order::sorted(&self.resample(samples, statistic)?);
        let value = statistic.of(samples)?;
        let tail = (1.0 - self.confidence) / 2.0;
        Ok(between(value, &resampled, tail, 1.0 - tail))
    }

    /// Bias-corrected and accelerated. Needs two samples.
    pub fn bca(&self, samples: &[f64], statistic: Statistic<'_>) -> Result<Estimate, StatsError> {
        if samples.len() == 1 {
            return Err(StatsError::TooFew { given: 1, needed: 2 });
        }
        let resampled = order::sorted(&self.resample(samples, statistic)?);
        let value = statistic.of(samples)?;
        let levels = bca::levels(&resampled, value, &statistic.jackknife(samples)?, self.confidence)?;
        Ok(between(value, &resampled, levels.low, levels.high))
    }
}

/// The estimate itself always belongs to its interval; with few, tied samples the quantiles alone may miss it.
fn between(value: f64, sorted: &[f64], low: f64, high: f64) -> Estimate {
    let interval = Interval { low: order::quantile(sorted, low), high: order::quantile(sorted, high) };
    Estimate { value, interval: interval.holding(value) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_interval_of_a_mean_is_near_the_textbook_one() {
        let samples: Vec<f64> = (0..200).map(|i| f64::from(i * 7919 % 211)).collect();
        let summary = crate::Summary::of(&samples).unwrap();
        let half = 1.96 * summary.sd.unwrap() / (200f64).sqrt();
        for estimate in [
            Bootstrap::default().percentile(&samples, Statistic::Mean).unwrap(),
            Bootstrap::default().bca(&samples, Statistic::Mean).unwrap(),
        ] {
            assert!((estimate.interval.low - (summary.mean - half)).abs() < 0.05 * half);
            assert!((estimate.interval.high - (summary.mean + half)).abs() < 0.05 * half);
        }
    }

    #[test]
    fn settings_without_sense_are_refused() {
        for bootstrap in [
            Bootstrap { resamples: 0, ..Bootstrap::default() },
            Bootstrap { confidence: 1.0, ..Bootstrap::default() },
            Bootstrap { confidence: f64::NAN, ..Bootstrap::default() },
        ] {
            assert!(bootstrap.percentile(&[1.0, 2.0], Statistic::Mean).is_err());
        }
        assert!(Bootstrap::default().bca(&[1.0], Statistic::Mean).is_err());
        let one = Bootstrap::default().percentile(&[1.0], Statistic::Median).unwrap();
        assert_eq!(one.interval, Interval { low: 1.0, high: 1.0 });
    }
}
