//! Interleaved samples. In: what was measured close together in time, block by block, or two series sample by sample.
//! Out: checked [`Blocks`]. Refuses an empty side, times that are not positive, series of different lengths.
//!
//! A block is the unit that may be resampled: within it both sides saw the same clocks, temperature and neighbours. A block
//! is one pair of short runs, or, better, one pair of fresh workers with several runs each: where memory happened to be
//! placed then differs between blocks and is part of the noise, instead of a constant that looks like a speedup.

use crate::error::{StatsError, positive};
use crate::series::order;

/// Samples of both sides taken close together in time; both in the order measured, not necessarily equally many.
#[derive(Debug, Clone, PartialEq)]
pub struct Block {
    /// Times of the baseline.
    pub baseline: Vec<f64>,
    /// Times of the candidate.
    pub candidate: Vec<f64>,
}

/// Samples of a side that a block needs to have a level.
const LEVELLED: usize = 3;

/// Both sides as flat series in time order, with the block each sample belongs to.
pub(crate) struct Blocks {
    pub(crate) baseline: Side,
    pub(crate) candidate: Side,
    pub(crate) count: usize,
}

/// One side's samples, block after block.
#[derive(Debug, Clone)]
pub(crate) struct Side {
    pub(crate) samples: Vec<f64>,
    /// Where each block starts, and at last where the last one ends.
    pub(crate) starts: Vec<usize>,
}

impl Side {
    pub(crate) fn new<'a>(blocks: impl Iterator<Item = &'a [f64]>) -> Result<Side, StatsError> {
        let mut side = Side { samples: Vec::new(), starts: vec![0] };
        for block in blocks {
            if block.is_empty() {
                return Err(StatsError::Empty);
            }
            side.samples.extend_from_slice(block);
            side.starts.push(side.samples.len());
        }
        positive(&side.samples)?;
        Ok(side)
    }

    pub(crate) fn block(&self, index: usize) -> std::ops::Range<usize> {
        self.starts[index]..self.starts[index + 1]
    }
}

impl Blocks {
    pub(crate) fn new(blocks: &[Block]) -> Result<Blocks, StatsError> {
        Ok(Blocks {
            baseline: Side::new(blocks.iter().map(|b| b.baseline.as_slice()))?,
            candidate: Side::new(blocks.iter().map(|b| b.candidate.as_slice()))?,
            count: blocks.len(),
        })
    }

    /// Both sides relative to the level of their block, the geometric mean of its two medians: what slowed a whole block, on
    /// both sides alike, is gone. None when a block holds too few samples to have a level apart from them.
    pub(crate) fn levelled(&self) -> Option<Blocks> {
        let mut sides = [self.baseline.clone(), self.candidate.clone()];
        for block in 0..self.count {
            let ranges = [self.baseline.block(block), self.candidate.block(block)];
            if ranges.iter().any(|range| range.len() < LEVELLED) {
                return None;
            }
            let median = |side: &Side, range: &std::ops::Range<usize>| order::median(&side.samples[range.clone()]);
            let level = (median(&self.baseline, &ranges[0]) * median(&self.candidate, &ranges[1])).sqrt();
            for (side, range) in sides.iter_mut().zip(ranges) {
                side.samples[range].iter_mut().for_each(|sample| *sample /= level);
            }
        }
        let [baseline, candidate] = sides;
        Some(Blocks { baseline, candidate, count: self.count })
    }

    /// Sample i of one side was measured next to sample i of the other.
    pub(crate) fn paired(baseline: &[f64], candidate: &[f64]) -> Result<Blocks, StatsError> {
        if baseline.len() != candidate.len() {
            return Err(StatsError::Unpaired { baseline: baseline.len(), candidate: candidate.len() });
        }
        Ok(Blocks {
            baseline: Side::new(baseline.chunks(1))?,
            candidate: Side::new(candidate.chunks(1))?,
            count: baseline.len(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_are_laid_end_to_end() {
        let blocks = [
            Block { baseline: vec![1.0, 2.0], candidate: vec![3.0] },
            Block { baseline: vec![4.0], candidate: vec![5.0, 6.0] },
        ];
        let laid = Blocks::new(&blocks).unwrap();
        assert_eq!((laid.baseline.samples.as_slice(), laid.baseline.block(1)), (&[1.0, 2.0, 4.0][..], 2..3));
        assert_eq!((laid.candidate.block(0), laid.candidate.block(1)), (0..1, 1..3));
    }

    #[test]
    fn what_a_block_shares_is_taken_out_and_what_differs_stays() {
        let slow = |times: f64| Block {
            baseline: [1.0, 1.1, 1.2].map(|v| v * times).to_vec(),
            candidate: [2.0, 2.2, 2.4].map(|v| v * times).to_vec(),
        };
        let levelled = Blocks::new(&[slow(1.0), slow(7.0)]).unwrap().levelled().unwrap();
        for side in [&levelled.baseline, &levelled.candidate] {
            let (first, second) = side.samples.split_at(3);
            assert!(first.iter().zip(second).all(|(a, b)| (a - b).abs() < 1e-12));
        }
        assert!((levelled.candidate.samples[1] / levelled.baseline.samples[1] - 2.0).abs() < 1e-12);
        assert!(Blocks::paired(&[1.0, 2.0], &[1.0, 2.0]).unwrap().levelled().is_none());
    }

    #[test]
    fn what_cannot_be_paired_is_refused() {
        let one_sided = [Block { baseline: vec![1.0], candidate: vec![] }];
        assert_eq!(Blocks::new(&one_sided).err(), Some(StatsError::Empty));
        assert_eq!(Blocks::paired(&[1.0], &[1.0, 2.0]).err(), Some(StatsError::Unpaired { baseline: 1, candidate: 2 }));
        assert!(Blocks::paired(&[1.0, 0.0], &[1.0, 2.0]).is_err());
        assert_eq!(Blocks::paired(&[], &[]).err(), Some(StatsError::Empty));
    }
}
