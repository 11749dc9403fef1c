//! Drawing blocks: one at a time, or stretches of neighbours where they are alike. In: one side's samples in blocks. Out: the
//! median of that side in every resample. Refuses fewer than two blocks: one says nothing about scatter.

use crate::distributions::draw::Draws;
use crate::error::StatsError;
use crate::resampling::block::Side;
use crate::resampling::resampled::Precision;
use crate::series::dependence::Dependence;
use crate::series::order::{self, Ranked};

/// How blocks are drawn; the last block is followed by the first, so that all are equally likely.
pub(crate) struct Stretches {
    count: usize,
    dependence: Dependence,
}

/// Where each block stands within its side, from 0 to 1: the mean rank of its samples. Of neighbours alike in this the median
/// knows less than of independent ones. (What moves a median is only the side of it a sample lies on; whole ranks show the
/// same memory with less noise, and err on the cautious side.)
pub(crate) fn pull(side: &Side) -> Vec<f64> {
    let ranks = order::mid_ranks(&side.samples);
    let of_block = |ranks: &[f64]| ranks.iter().sum::<f64>() / ranks.len() as f64;
    (0..side.starts.len() - 1).map(|block| of_block(&ranks[side.block(block)]) / ranks.len() as f64).collect()
}

impl Stretches {
    /// For blocks that pull at the figure of interest like this.
    pub(crate) fn new(pull: &[f64]) -> Result<Stretches, StatsError> {
        if pull.len() < 2 {
            return Err(StatsError::TooFew { given: pull.len(), needed: 2 });
        }
        Ok(Stretches { count: pull.len(), dependence: Dependence::of(pull) })
    }

    pub(crate) fn length(&self) -> usize {
        self.dependence.length
    }

    pub(crate) fn precision(&self) -> Precision {
        let Dependence { length, stretch } = self.dependence;
        // Stretches overlap, so there are half as many again as fit side by side (Priestley 1981, Bartlett's window).
        let freedom =
            if length == 1 { self.count - 1 } else { (3 * self.count / (2 * length) - 1).min(self.count - 1) };
        Precision { units: self.count / length, freedom, stretch }
    }

    /// Log of the side's median in each resample.
    pub(crate) fn log_medians(&self, side: &Side, resamples: usize, draws: &mut Draws) -> Vec<f64> {
        let ranked = Ranked::new(&side.samples);
        let mut counts = vec![0u32; side.samples.len()];
        let one = |_| {
            counts.fill(0);
            let (mut blocks, mut total) = (0, 0);
            while blocks < self.count {
                let start = draws.below(self.count);
                let end = start + self.length().min(self.count - blocks);
                for block in (start..end).map(|b| if b < self.count { b } else { b - self.count }) {
                    let places = &ranked.place[side.block(block)];
                    places.iter().for_each(|place| counts[*place as usize] += 1);
                    total += places.len();
                }
                blocks += end - start;
            }
            ranked.quantile(&counts, total, 0.5).ln()
        };
        (0..resamples).map(one).collect()
    }
}
