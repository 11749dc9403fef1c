//! Candidate against baseline. In: samples of both sides, [`Thresholds`], a seed. Out: a [`Comparison`] with speedup,
//! intervals, effect size, p-value, [`Verdict`], the reasons for it and what else a reader should know. When each verdict
//! arises is written in `decide.rs`, and in [`Thresholds`]. Refuses what has no ratio: empty sides, times that are not
//! positive, fewer than two blocks.
//!
//! What it keeps to, in 1,000 simulated runs of 100 skewed samples per side at CV 1 / 3 / 5 %, in percent of runs. The noise
//! is that of `tests/noise/mod.rs`; half of it slow and shared by the sides, 5 % drift, 1 % spikes, unless said.
//!
//! | noise | false, no dead zone | false, 3 % | 5 % slowdown found |
//! |---|---|---|---|
//! | skewed, independent | 0.5 / 0.5 / 0.5 | 0 / 0 / 0 | 100 / 100 / 99.6 |
//! | as said | 0 / 0.1 / 0 | 0 / 0 / 0 | 100 / 100 / 99.8 |
//! | all noise shared, memory 0.5 | 0 / 0 / 0 | 0 / 0 / 0 | 100 / 100 / 99.9 |
//! | each side its own memory, 0.3 | 0.5 / 0.5 / 0.5 | 0 / 0 / 0.2 | 100 / 100 / 98.4 |
//! | as said, and each side its own memory, 0.5 | 0 / 0.6 / 0.6 | 0 / 0 / 0.1 | 100 / 99.9 / 95.9 |
//! | 20 % drift | 0 / 0 / 0 | 0 / 0 / 0 | 100 / 99.6 / 97.1 |
//! | 10 % spikes | 0.2 / 0.3 / 0.3 | 0 / 0 / 0 | 100 / 100 / 98.5 |
//! | timer ticks of 1 % | 0 / 0 / 0 | 0 / 0 / 0 | 100 / 100 / 98.9 |
//! | 20 pairs of workers, placement 1 % | 0.2 / 0.3 / 0.3 | 0 / 0 / 0 | 100 / 100 / 98.5 |
//! | each side its own memory, 0.5 | 0.8 / 0.8 / 0.8 | 0 / 0 / 0.2 | 100 / 99.8 / 93.3 |
//! | each side its own memory, 0.8 | 1.7 / 1.7 / 1.7 | 0 / 0.2 / 0.9 | 100 / 87.4 / 51.9 |
//! | one pair of workers, placement 1 % | 62.5 / 38.1 / 18.9 | 3.7 / 5 / 7 | 90.7 / 89.9 / 89.3 |
//!
//! All rows but those of pairs of workers are of single samples taken in turn. The row of 20 pairs was taken before blocks were
//! levelled (see `Blocks::levelled`), which only matters to noise that both sides of a block share.
//!
//! The last three are beyond what statistics can mend. Noise that neither cancels nor averages out leaves 10 to 30 samples'
//! worth of knowledge in 100, and mostly ends in `too_noisy`, as it should. Where a worker's memory happens to lie stays the
//! same for its life, so that two workers of one kernel truly differ: take few samples from each pair of workers and start
//! many pairs ([`compare_blocks`]).
//!
//! A caller that measures until a verdict appears finds differences that are not there; measure until the *interval* is
//! narrow enough, or a fixed number of samples, and ask once. A caller that compares many shapes at once should raise the
//! confidence to 1 - 0.05 / shapes.

use serde::Serialize;

use crate::error::StatsError;
use crate::interval::Interval;
use crate::judgement::decide::{Evidence, decide};
use crate::judgement::reason::{Reason, Warning};
use crate::judgement::thresholds::Thresholds;
use crate::judgement::verdict::Verdict;
use crate::ranks::cliff::cliffs_delta;
use crate::ranks::mann_whitney::{Alternative, mann_whitney};
use crate::resampling::block::{Block, Blocks, Side};
use crate::resampling::ratio::Ratio;
use crate::series::drift::drift;
use crate::series::outlier::{Fence, outliers};
use crate::summary::Summary;

/// Everything known about a candidate against its baseline.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Comparison {
    /// The verdict.
    pub verdict: Verdict,
    /// Median of the baseline over median of the candidate, within blocks where these have a level of their own: above 1 the
    /// candidate is faster.
    pub speedup: f64,
    /// Its 95 % interval, from resampled blocks.
    pub speedup_ci95: Interval,
    /// The baseline's samples.
    pub baseline: Summary,
    /// 95 % interval of the baseline's median, from the same resamples.
    pub baseline_ci95: Interval,
    /// The candidate's samples.
    pub candidate: Summary,
    /// 95 % interval of the candidate's median, from the same resamples.
    pub candidate_ci95: Interval,
    /// Positive when the baseline tends to take more time.
    pub cliffs_delta: f64,
    /// Mann-Whitney U, two-sided.
    pub p_value: f64,
    /// How many blocks.
    pub blocks: usize,
    /// How many neighbouring blocks were drawn together.
    pub block_length: usize,
    /// Why this verdict.
    pub reasons: Vec<Reason>,
    /// What else to know.
    pub warnings: Vec<Warning>,
}

/// Compare interleaved series: sample i of one side was measured next to sample i of the other.
pub fn compare(
    baseline: &[f64],
    candidate: &[f64],
    thresholds: &Thresholds,
    seed: u64,
) -> Result<Comparison, StatsError> {
    interleaved(&Blocks::paired(baseline, candidate)?, thresholds, seed)
}

/// Compare interleaved blocks. Prefer this with one block for each pair of fresh workers: see [`Block`].
pub fn compare_blocks(blocks: &[Block], thresholds: &Thresholds, seed: u64) -> Result<Comparison, StatsError> {
    interleaved(&Blocks::new(blocks)?, thresholds, seed)
}

/// Compare series measured apart, such as today's against a stored one. What changed on the machine between the two looks
/// like a difference of the kernels; the comparison carries a warning that says so.
pub fn compare_apart(
    baseline: &[f64],
    candidate: &[f64],
    thresholds: &Thresholds,
    seed: u64,
) -> Result<Comparison, StatsError> {
    thresholds.check()?;
    let sides = [Side::new(baseline.chunks(1))?, Side::new(candidate.chunks(1))?];
    let drawn = Ratio::apart(&sides[0], &sides[1], thresholds.resamples, seed)?;
    let mut comparison =
        judge([baseline, candidate], [baseline, candidate], &drawn, baseline.len().min(candidate.len()), thresholds)?;
    comparison.warnings.push(Warning::NotInterleaved);
    Ok(comparison)
}

fn interleaved(blocks: &Blocks, thresholds: &Thresholds, seed: u64) -> Result<Comparison, StatsError> {
    thresholds.check()?;
    let drawn = Ratio::interleaved(blocks, thresholds.resamples, seed)?;
    let levelled = blocks.levelled();
    let ranked = levelled.as_ref().unwrap_or(blocks);
    let sides = |blocks: &'_ Blocks| [blocks.baseline.samples.clone(), blocks.candidate.samples.clone()];
    let ([baseline, candidate], [level_b, level_c]) = (sides(blocks), sides(ranked));
    judge([&baseline, &candidate], [&level_b, &level_c], &drawn, blocks.count, thresholds)
}

/// `ranked` are the samples that sides are told apart by: relative to their block where it has a level.
pub(crate) fn judge(
    sides: [&[f64]; 2],
    ranked: [&[f64]; 2],
    drawn: &Ratio,
    blocks: usize,
    limits: &Thresholds,
) -> Result<Comparison, StatsError> {
    let [baseline, candidate] = sides;
    // Half of the slack for each side: the two together are the ratio's.
    let each = drawn.slack / 2.0;
    let seen = Evidence {
        speedup: drawn.ratio.value(),
        interval: drawn.ratio.interval(limits.confidence).spread(drawn.slack),
        strict: drawn.ratio.widened(limits.confidence, std::f64::consts::SQRT_2).spread(drawn.slack),
        baseline: drawn.baseline.interval(limits.confidence).spread(each),
        candidate: drawn.candidate.interval(limits.confidence).spread(each),
        slack: drawn.slack,
        cliffs_delta: cliffs_delta(ranked[0], ranked[1])?,
        p_value: mann_whitney(ranked[0], ranked[1], Alternative::TwoSided)?.p_value,
        blocks,
    };
    let (verdict, reasons) = decide(&seen, limits);
    let mut warnings = Vec::new();
    let summaries = [Summary::of(baseline)?, Summary::of(candidate)?];
    for (index, side) in ["baseline", "candidate"].into_iter().enumerate() {
        warn(side, sides[index], &summaries[index], limits, &mut warnings)?;
    }
    if drawn.block_length > 1 {
        warnings.push(Warning::Correlated { block_length: drawn.block_length, blocks });
    }
    let [baseline, candidate] = summaries;
    Ok(Comparison {
        verdict,
        speedup: seen.speedup,
        speedup_ci95: drawn.ratio.interval(0.95).spread(drawn.slack),
        baseline,
        baseline_ci95: drawn.baseline.interval(0.95).spread(each),
        candidate,
        candidate_ci95: drawn.candidate.interval(0.95).spread(each),
        cliffs_delta: seen.cliffs_delta,
        p_value: seen.p_value,
        blocks,
        block_length: drawn.block_length,
        reasons,
        warnings,
    })
}

/// A drift worth a word: clear, and over the run larger than the difference that matters (or 1 %).
fn warn(
    side: &'static str,
    samples: &[f64],
    summary: &Summary,
    limits: &Thresholds,
    warnings: &mut Vec<Warning>,
) -> Result<(), StatsError> {
    if let Some(cv) = summary.cv.filter(|cv| *cv > limits.max_cv) {
        warnings.push(Warning::HighCv { side, cv, limit: limits.max_cv });
    }
    if samples.len() >= 10 {
        let trend = drift(samples)?;
        let per_100 = trend.per_100.unwrap_or(0.0);
        let over_run = per_100 * (samples.len() - 1) as f64 / 100.0;
        if trend.p_value < 0.01 && over_run.abs() > limits.dead_zone.max(0.01) {
            warnings.push(Warning::Drift { side, over_run, per_100 });
        }
    }
    let far = outliers(samples, Fence::Quartiles(3.0))?.count();
    // One in a hundred is what any machine does.
    if far * 100 > samples.len() {
        warnings.push(Warning::Outliers { side, count: far, of: samples.len() });
    }
    Ok(())
}
