//! Long lists of values, tried by halves. In: a state about to bind a tunable with many values. Out: the values worth
//! trying: a block of them is skipped whole when bounds say that no value in its range can succeed. Of
//! `A * B * C == 1000` with a thousand values each, a few are tried in every state instead of all.

use kiln_core::Value;
use kiln_expr::Range;

use crate::building::bounds::{Bounds, Outlook};

/// Shorter lists are tried value by value: evaluating a column is quicker than looking ahead.
const LONG_LIST: usize = 64;
/// Values in the smallest block.
const BLOCK: usize = 8;
/// After this many values a sieve that lets most through is given up.
const TRIAL: usize = 16 * 1024;

#[derive(Debug)]
pub(crate) struct Sieve {
    /// Ranges of blocks; each level halves the number of the one before.
    levels: Vec<Vec<Range>>,
    count: usize,
    bounds: Bounds,
    seen: usize,
    kept: usize,
}

impl Sieve {
    /// A sieve for a long list of numbers with something to look ahead to.
    pub(crate) fn new(values: &[&Value], bounds: impl FnOnce() -> Option<Bounds>) -> Option<Sieve> {
        if values.len() < LONG_LIST {
            return None;
        }
        let mut levels: Vec<Vec<Range>> =
            vec![values.chunks(BLOCK).map(|block| Range::of_all(block.iter().copied())).collect()];
        while let Some(last) = levels.last().filter(|l| l.len() > 1) {
            let joined = last.chunks(2).map(|pair| pair.iter().copied().reduce(Range::join).unwrap_or(pair[0]));
            let joined = joined.collect();
            levels.push(joined);
        }
        let known = levels[0].iter().all(|r| r.is_known());
        let bounds = if known { bounds()? } else { return None };
        Some(Sieve { levels, count: values.len(), bounds, seen: 0, kept: 0 })
    }

    /// The positions of the values worth trying in a state, in order.
    pub(crate) fn candidates(&mut self, carried: impl Iterator<Item = Range>, settled: u64) -> Vec<u32> {
        if self.seen > TRIAL && self.kept * 10 > self.seen * 9 {
            return (0..self.count as u32).collect();
        }
        self.bounds.carry(carried);
        let mut candidates = Vec::new();
        self.descend(self.levels.len() - 1, 0, settled, &mut candidates);
        self.seen += self.count;
        self.kept += candidates.len();
        candidates
    }

    fn descend(&mut self, level: usize, block: usize, settled: u64, candidates: &mut Vec<u32>) {
        if let Outlook::Hopeless = self.bounds.outlook_within(self.levels[level][block], settled) {
            return;
        }
        if level == 0 {
            candidates.extend((block * BLOCK) as u32..((block + 1) * BLOCK).min(self.count) as u32);
            return;
        }
        for half in [2 * block, 2 * block + 1] {
            if half < self.levels[level - 1].len() {
                self.descend(level - 1, half, settled, candidates);
            }
        }
    }
}
