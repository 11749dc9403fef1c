//! An ensemble of random trees. In: rows of features with targets and failures. Out: for any row the mean of the trees, how
//! far they are apart, and the chance of a failure.

use crate::model::tree::{Lesson, Stream, Tree};

/// What is expected of a configuration.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(crate) struct Forecast {
    pub(crate) mean: f32,
    /// The standard deviation between the trees.
    pub(crate) spread: f32,
    /// The chance that it fails.
    pub(crate) failure: f32,
}

/// Of more rows than this every tree sees others, so that many cost no more than some.
const MOST_ROWS: usize = 128;

#[derive(Debug, Clone, Default)]
pub(crate) struct Forest {
    trees: Vec<Tree>,
}

impl Forest {
    pub(crate) fn grow(lesson: &Lesson<'_>, trees: usize, seed: u64) -> Forest {
        let mut stream = Stream(seed);
        let mut rows: Vec<u32> = (0..lesson.targets.len() as u32).collect();
        let mut grow = || {
            let most = rows.len().min(MOST_ROWS);
            // The first of a shuffle that stops when it has enough.
            for at in 0..if most < rows.len() { most } else { 0 } {
                let other = at + stream.below(rows.len() - at);
                rows.swap(at, other);
            }
            Tree::grow(lesson, &mut rows[..most], &mut stream)
        };
        Forest { trees: (0..trees).map(|_| grow()).collect() }
    }

    /// Forecasts for rows of `width` features that stand one behind the other; none where there are no features, since then
    /// nothing tells configurations apart.
    pub(crate) fn forecast(&self, rows: &[u8], width: usize) -> Vec<Forecast> {
        if width == 0 {
            return Vec::new();
        }
        let count = self.trees.len().max(1) as f32;
        let mut sums = vec![Forecast::default(); rows.len() / width];
        for tree in &self.trees {
            tree.leaves(rows, width, |at, leaf| {
                let sum = &mut sums[at];
                sum.mean += leaf.mean;
                sum.spread += leaf.mean * leaf.mean;
                sum.failure += leaf.failed;
            });
        }
        for sum in &mut sums {
            let mean = sum.mean / count;
            let spread = (sum.spread / count - mean * mean).max(0.0).sqrt();
            *sum = Forecast { mean, spread, failure: sum.failure / count };
        }
        sums
    }
}
