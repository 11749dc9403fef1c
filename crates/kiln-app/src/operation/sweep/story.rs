//! What a sweep says. In: its record. Out: cross-overs, and for each baseline how many shapes were won and lost, the best and the
//! worst of them, and what was not measured. Nothing is measured here.

use kiln_core::Config;
use kiln_stats::{Interval, Verdict};
use kiln_store::{SweepCell, SweepRecord};
use serde::Serialize;

use super::crossing::{Crossover, crossovers};
use super::grid::cells;

/// Everything a sweep says.
#[derive(Debug, Clone)]
pub struct SweepStory {
    /// The grid and the cells.
    pub record: SweepRecord,
    /// Where the verdict turns.
    pub crossovers: Vec<Crossover>,
    /// One for each baseline, in order.
    pub summary: Vec<SweepCount>,
    /// Shapes of the grid that were not tried.
    pub left: Vec<Config>,
}

/// How it went against one baseline.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SweepCount {
    /// The baseline.
    pub baseline: String,
    /// Shapes on which the configuration is faster.
    pub faster: usize,
    /// Shapes on which it is slower.
    pub slower: usize,
    /// Shapes without a difference that matters.
    pub same: usize,
    /// Shapes on which the samples do not decide.
    pub too_noisy: usize,
    /// Shapes on which the baseline could not be measured.
    pub unmeasured: usize,
    /// Shapes on which the configuration was refused, or nothing could be measured.
    pub refused: usize,
    /// Shapes of the grid that were not tried.
    pub untried: usize,
    /// The geometric mean of the speedups; none without any.
    pub geomean: Option<f64>,
    /// The shape with the largest speedup.
    pub best: Option<SweepExtreme>,
    /// The shape with the smallest.
    pub worst: Option<SweepExtreme>,
}

/// The best or the worst shape.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SweepExtreme {
    /// The shape.
    pub dims: Config,
    /// Its speedup.
    pub speedup: f64,
    /// The interval of that.
    pub speedup_ci95: Interval,
    /// The verdict.
    pub verdict: String,
}

impl SweepStory {
    /// What a record says.
    pub fn of(record: SweepRecord) -> SweepStory {
        let tried = |dims: &Config| record.cells.iter().any(|cell| cell.dims == *dims);
        let left: Vec<Config> = cells(&record.sweep.axes).into_iter().filter(|dims| !tried(dims)).collect();
        let summary = record.sweep.baselines.iter().map(|baseline| count(&record, baseline, left.len())).collect();
        SweepStory { crossovers: crossovers(&record), summary, left, record }
    }

    /// Shapes that were measured.
    pub fn measured(&self) -> usize {
        self.record.cells.iter().filter(|cell| cell.median.is_some()).count()
    }
}

/// Over the cells of the grid: those that were put between them lie where the verdict turns, and would count twice.
fn count(record: &SweepRecord, baseline: &str, untried: usize) -> SweepCount {
    let grid = || record.cells.iter().filter(|cell| !cell.refined);
    let known: Vec<(&SweepCell, SweepExtreme)> = grid()
        .filter_map(|cell| {
            let against = cell.against(baseline)?;
            let (dims, verdict) = (cell.dims.clone(), against.verdict.clone());
            let (speedup, speedup_ci95) = (against.speedup, against.speedup_ci95);
            Some((cell, SweepExtreme { dims, speedup, speedup_ci95, verdict }))
        })
        .collect();
    let of = |verdict: Verdict| known.iter().filter(|(_, one)| one.verdict == verdict.name()).count();
    let logs: f64 = known.iter().map(|(_, one)| one.speedup.ln()).sum();
    let by_speedup = |a: &&SweepExtreme, b: &&SweepExtreme| a.speedup.total_cmp(&b.speedup);
    let refused = grid().filter(|cell| cell.median.is_none()).count();
    SweepCount {
        baseline: baseline.into(),
        faster: of(Verdict::Faster),
        slower: of(Verdict::Slower),
        same: of(Verdict::Same),
        too_noisy: of(Verdict::TooNoisy),
        unmeasured: grid().count() - refused - known.len(),
        refused,
        untried,
        geomean: (!known.is_empty()).then(|| (logs / known.len() as f64).exp()),
        best: known.iter().map(|(_, one)| one).max_by(by_speedup).cloned(),
        worst: known.iter().map(|(_, one)| one).min_by(by_speedup).cloned(),
    }
}

#[cfg(test)]
mod tests {
    use super::super::crossing::samples::{cell, dims, record};
    use super::*;

    #[test]
    fn every_cell_counts_once() {
        let mut record = record(&[("S", &[1, 2, 4, 8, 16])]);
        record.cells = vec![cell(&[("S", 1)], 0.5), cell(&[("S", 2)], 1.0), cell(&[("S", 4)], 2.0)];
        let refused =
            SweepCell { median: None, baselines: Vec::new(), why: Some("no room".into()), ..cell(&[("S", 8)], 1.0) };
        record.cells.push(refused);
        record.cells.push(SweepCell { refined: true, ..cell(&[("S", 3)], 9.0) });
        let story = SweepStory::of(record);
        let [one] = &story.summary[..] else { panic!() };
        assert_eq!((one.faster, one.slower, one.same, one.too_noisy), (1, 1, 0, 1));
        assert_eq!((one.refused, one.unmeasured, story.measured()), (1, 0, 4));
        assert_eq!(one.best.as_ref().map(|best| best.speedup), Some(2.0));
        assert_eq!(one.worst.as_ref().map(|worst| &worst.dims), Some(&dims(&[("S", 1)])));
        assert!(one.geomean.is_some_and(|mean| (mean - 1.0).abs() < 1e-9));
        assert_eq!((story.left.as_slice(), one.untried), (&[dims(&[("S", 16)])][..], 1));
        // The finer shape counts where the verdict turns.
        assert_eq!(story.crossovers[0].between, (1.0, 3.0));
    }
}
