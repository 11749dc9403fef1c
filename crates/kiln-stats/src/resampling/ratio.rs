//! Block bootstrap of medians and of their ratio. In: interleaved [`Block`]s, two series measured apart, or one series.
//! Out: speedup (baseline / candidate) and medians, with intervals. Refuses times that are not positive and fewer than two
//! blocks.
//!
//! Whole blocks are drawn, both sides of a block together, so that what slows both (a falling clock, a hot chip) cancels in
//! the ratio of every resample as it did in the measurement. Blocks that follow each other may still be alike in what does
//! *not* cancel; then stretches of neighbouring blocks are drawn.

use serde::Serialize;

use crate::distributions::draw::Draws;
use crate::error::{StatsError, open_unit, some};
use crate::interval::Estimate;
use crate::resampling::block::{Block, Blocks, Side};
use crate::resampling::bootstrap::Bootstrap;
use crate::resampling::resampled::{Precision, Resampled};
use crate::resampling::stretches::{Stretches, pull};
use crate::series::order;

/// Speedup of interleaved samples.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Speedup {
    /// Median of the baseline over median of the candidate, within blocks where these hold three samples of each or more.
    pub ratio: Estimate,
    /// Median of the baseline.
    pub baseline: Estimate,
    /// Median of the candidate.
    pub candidate: Estimate,
    /// How many neighbouring blocks were drawn together.
    pub block_length: usize,
}

/// Speedup with interval from interleaved blocks.
pub fn speedup(blocks: &[Block], bootstrap: &Bootstrap) -> Result<Speedup, StatsError> {
    open_unit("confidence", bootstrap.confidence)?;
    let drawn = Ratio::interleaved(&Blocks::new(blocks)?, bootstrap.resamples, bootstrap.seed)?;
    Ok(Speedup {
        ratio: drawn.ratio.estimate(bootstrap.confidence),
        baseline: drawn.baseline.estimate(bootstrap.confidence),
        candidate: drawn.candidate.estimate(bootstrap.confidence),
        block_length: drawn.block_length,
    })
}

/// Median of one series in time order, its interval wide enough for drift and autocorrelation within the series.
pub fn series_median(series: &[f64], bootstrap: &Bootstrap) -> Result<Estimate, StatsError> {
    open_unit("confidence", bootstrap.confidence)?;
    let side = Side::new(series.chunks(1))?;
    let stretches = Stretches::new(&pull(&side))?;
    some("resamples", bootstrap.resamples)?;
    let logs = stretches.log_medians(&side, bootstrap.resamples, &mut Draws::new(bootstrap.seed));
    Ok(Resampled::new(order::median(series).ln(), logs, stretches.precision()).estimate(bootstrap.confidence))
}

/// All three figures from one set of resamples.
pub(crate) struct Ratio {
    pub(crate) ratio: Resampled,
    pub(crate) baseline: Resampled,
    pub(crate) candidate: Resampled,
    pub(crate) block_length: usize,
    /// What the ratio may be off by, on the log scale, for reasons that no resample shows.
    pub(crate) slack: f64,
}

impl Ratio {
    /// The ratio within blocks where they have a level of their own, and over all samples where they do not; medians as
    /// they are.
    pub(crate) fn interleaved(blocks: &Blocks, resamples: usize, seed: u64) -> Result<Ratio, StatsError> {
        let raw = Ratio::pooled(blocks, resamples, seed)?;
        let Some(levelled) = blocks.levelled() else { return Ok(raw) };
        let within = Ratio::pooled(&levelled, resamples, seed)?;
        Ok(Ratio { ratio: within.ratio, block_length: within.block_length, ..raw })
    }

    fn pooled(blocks: &Blocks, resamples: usize, seed: u64) -> Result<Ratio, StatsError> {
        some("resamples", resamples)?;
        let sides = [&blocks.baseline, &blocks.candidate];
        let [baseline, candidate] = sides.map(pull);
        let difference: Vec<f64> = baseline.iter().zip(&candidate).map(|(b, c)| b - c).collect();
        let stretches = Stretches::new(&difference)?;
        // The same seed draws the same stretches for both sides: that is what keeps a block together.
        let logs = sides.map(|side| stretches.log_medians(side, resamples, &mut Draws::new(seed)));
        Ok(Ratio::from_logs(sides, logs, [stretches.precision(); 2], stretches.length()))
    }

    /// Two series that share nothing: each is resampled by itself.
    pub(crate) fn apart(baseline: &Side, candidate: &Side, resamples: usize, seed: u64) -> Result<Ratio, StatsError> {
        some("resamples", resamples)?;
        let [b, c] = [Stretches::new(&pull(baseline))?, Stretches::new(&pull(candidate))?];
        let mut draws = Draws::new(seed);
        let baseline_logs = b.log_medians(baseline, resamples, &mut draws);
        let logs = [baseline_logs, c.log_medians(candidate, resamples, &mut draws)];
        Ok(Ratio::from_logs([baseline, candidate], logs, [b.precision(), c.precision()], b.length().max(c.length())))
    }

    fn from_logs(sides: [&Side; 2], logs: [Vec<f64>; 2], precision: [Precision; 2], block_length: usize) -> Ratio {
        let [b, c] = sides.map(|side| order::median(&side.samples).ln());
        let [logs_b, logs_c] = logs;
        let ratios = logs_b.iter().zip(&logs_c).map(|(b, c)| b - c).collect();
        Ratio {
            ratio: Resampled::new(b - c, ratios, precision[0].or_worse(precision[1])),
            baseline: Resampled::new(b, logs_b, precision[0]),
            candidate: Resampled::new(c, logs_c, precision[1]),
            block_length,
            slack: 0.0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn noise(n: usize) -> Vec<f64> {
        let mut draws = Draws::new(9);
        (0..n).map(|_| 1.0 + draws.below(1000) as f64 / 1000.0).collect()
    }

    #[test]
    fn what_slows_both_sides_cancels() {
        // A drift of 50 % over the run; the candidate is 2 % faster in every block.
        let drift = |i: usize| 1.0 + 0.005 * i as f64;
        let block = |(i, jitter): (usize, f64)| Block {
            baseline: vec![jitter * drift(i)],
            candidate: vec![jitter * drift(i) / 1.02],
        };
        let blocks: Vec<Block> = noise(100).into_iter().map(|v| 1.0 + 1e-3 * v).enumerate().map(block).collect();
        let found = speedup(&blocks, &Bootstrap::default()).unwrap();
        assert!((found.ratio.value - 1.02).abs() < 1e-9);
        assert!(found.ratio.interval.relative_half_width() < 1e-9, "{found:?}");
        assert!(found.baseline.interval.relative_half_width() > 0.01);
    }

    #[test]
    fn drift_widens_the_interval_of_a_lone_series() {
        let quiet = noise(200);
        let drifting: Vec<f64> = quiet.iter().enumerate().map(|(i, v)| v + i as f64 / 200.0).collect();
        let width = |s: &[f64]| series_median(s, &Bootstrap::default()).unwrap().interval.relative_half_width();
        assert!(width(&drifting) > 2.0 * width(&quiet));
    }

    #[test]
    fn one_block_says_nothing_about_scatter() {
        let one = [Block { baseline: vec![1.0; 50], candidate: vec![1.0; 50] }];
        assert_eq!(speedup(&one, &Bootstrap::default()), Err(StatsError::TooFew { given: 1, needed: 2 }));
        assert!(series_median(&[1.0], &Bootstrap::default()).is_err());
    }
}
