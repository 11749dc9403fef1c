//! Why a verdict is what it is, and what a reader should know besides: closed lists with stable codes and the numbers that
//! decided. In JSON each is an object with its `code`; `Display` gives the sentence.

use std::fmt;

use serde::Serialize;

use crate::interval::Interval;

/// One ground of a verdict.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[serde(tag = "code", rename_all = "snake_case")]
#[allow(missing_docs, reason = "the fields are the numbers in the sentence that Display writes")]
pub enum Reason {
    /// The estimate lies beyond the threshold.
    BeyondThreshold { speedup: f64, limit: f64 },
    /// The intervals of the two medians do not overlap.
    IntervalsApart { baseline: Interval, candidate: Interval },
    /// They overlap, both having moved with the machine, but the speedup's interval at the same strictness excludes 1.
    ApartInRatio { interval: Interval },
    /// The estimate lies short of both thresholds.
    ShortOfThreshold { speedup: f64, zone: Interval },
    /// The speedup's whole interval lies between the thresholds.
    InsideZone { interval: Interval, zone: Interval },
    /// The interval reaches over a threshold or holds 1 but is narrow.
    Narrow { interval: Interval, half_width: f64, resolution: f64 },
    /// The interval reaches over a threshold and is wide.
    Wide { interval: Interval, half_width: f64, resolution: f64, more_blocks: Option<usize> },
    /// The speedup's interval holds 1.
    HoldsOne { interval: Interval },
    /// The interval excludes 1 but does not lie wholly beyond the threshold, as was asked.
    NotWhollyBeyond { interval: Interval, limit: f64 },
    /// The intervals of the two medians overlap.
    IntervalsOverlap { baseline: Interval, candidate: Interval },
    /// The rank test does not reject "no difference".
    NotSignificant { p_value: f64, alpha: f64 },
    /// Cliff's delta in the claimed direction is too small.
    SmallEffect { cliffs_delta: f64, needed: f64 },
    /// Too few blocks for any verdict.
    TooFewBlocks { blocks: usize, needed: usize },
    /// The gain is no larger than what calls this short could hide from the system's accounts.
    CouldBeHidden { interval: Interval, share: f64 },
}

/// Something that does not decide but should be seen.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[serde(tag = "code", rename_all = "snake_case")]
#[allow(missing_docs, reason = "the fields are the numbers in the sentence that Display writes")]
pub enum Warning {
    /// A side scatters more than the limit.
    HighCv { side: &'static str, cv: f64, limit: f64 },
    /// A side crept up or down during the run.
    Drift { side: &'static str, over_run: f64, per_100: f64 },
    /// Neighbouring blocks are alike, so that fewer count.
    Correlated { block_length: usize, blocks: usize },
    /// Samples far above the rest; they are kept.
    Outliers { side: &'static str, count: usize, of: usize },
    /// The sides were not measured together.
    NotInterleaved,
    /// The yardstick took this much longer (a ratio) in the candidate's run, or scatters: what a difference must exceed, as a share.
    Moved { yardstick: f64, slack: f64 },
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Reason::BeyondThreshold { speedup, limit } => {
                write!(f, "speedup {speedup:.4} is beyond the threshold {limit:.4}")
            }
            Reason::IntervalsApart { baseline, candidate } => {
                write!(f, "the intervals of the medians do not overlap: baseline {baseline}, candidate {candidate}")
            }
            Reason::ApartInRatio { interval } => {
                write!(f, "the medians moved together; their ratio, at the same strictness {interval}, excludes 1")
            }
            Reason::ShortOfThreshold { speedup, zone } => {
                write!(f, "speedup {speedup:.4} is within {zone}, which does not count as a difference")
            }
            Reason::InsideZone { interval, zone } => write!(f, "the whole interval {interval} is within {zone}"),
            Reason::Narrow { interval, half_width, resolution } => {
                let (half_width, resolution) = (100.0 * half_width, 100.0 * resolution);
                write!(f, "the interval {interval} is narrow: +/- {half_width:.2} % of {resolution:.2} % allowed")
            }
            Reason::Wide { interval, half_width, resolution, more_blocks } => {
                let (half_width, resolution) = (100.0 * half_width, 100.0 * resolution);
                write!(f, "the interval {interval} is wide: +/- {half_width:.2} %, {resolution:.2} % wanted")?;
                more_blocks.map_or(Ok(()), |more| write!(f, "; about {more} more blocks would do"))
            }
            Reason::HoldsOne { interval } => write!(f, "the interval {interval} holds 1, no difference"),
            Reason::NotWhollyBeyond { interval, limit } => {
                write!(f, "the interval {interval} is not wholly beyond the threshold {limit:.4}")
            }
            Reason::IntervalsOverlap { baseline, candidate } => {
                write!(f, "the intervals of the medians overlap: baseline {baseline}, candidate {candidate}")
            }
            Reason::NotSignificant { p_value, alpha } => {
                write!(f, "the rank test does not show a difference: p = {p_value:.4}, at most {alpha:.4} needed")
            }
            Reason::SmallEffect { cliffs_delta, needed } => {
                write!(f, "Cliff's delta {cliffs_delta:.3} is too small; {needed:.3} needed")
            }
            Reason::TooFewBlocks { blocks, needed } => write!(f, "{blocks} blocks; at least {needed} needed"),
            Reason::CouldBeHidden { interval, share } => write!(
                f,
                "calls this short could hide {:.0} % from the system's accounts, and the interval {interval} is not beyond that: \
                 longer calls decide it, more samples do not",
                100.0 * share
            ),
        }
    }
}

impl fmt::Display for Warning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Warning::HighCv { side, cv, limit } => {
                let (cv, limit) = apart(100.0 * cv, 100.0 * limit);
                write!(f, "the {side}'s CV is {cv} %, above {limit} %")
            }
            // What it would be over more samples than were taken is for machines.
            Warning::Drift { side, over_run, .. } => {
                write!(f, "the {side} drifted by {:+.1} % over the run", 100.0 * over_run)
            }
            Warning::Correlated { block_length, blocks } => {
                write!(f, "neighbouring blocks are alike: {blocks} blocks were drawn {block_length} at a time")
            }
            Warning::Outliers { side, count, of } => {
                let rest = if *count == 1 { "lies far out; it is kept" } else { "lie far out; they are kept" };
                write!(f, "{count} of the {side}'s {of} samples {rest}")
            }
            Warning::Moved { yardstick, slack } => {
                let (moved, slack) = (100.0 * (yardstick - 1.0), 100.0 * slack);
                write!(
                    f,
                    "the baseline itself moved by {moved:+.1} % between the runs: intervals are {slack:.1} % wider"
                )
            }
            Warning::NotInterleaved => write!(f, "the sides were measured apart: drift between them is not seen"),
        }
    }
}

/// Two numbers with as many decimals as it takes to see that they differ.
fn apart(a: f64, b: f64) -> (String, String) {
    let shown = |decimals: usize| (format!("{a:.decimals$}"), format!("{b:.decimals$}"));
    (1..6).map(shown).find(|(a, b)| a != b).unwrap_or_else(|| shown(1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_above_its_limit_looks_so() {
        let warning = |cv: f64| Warning::HighCv { side: "candidate", cv, limit: 0.12 }.to_string();
        assert_eq!(warning(0.134), "the candidate's CV is 13.4 %, above 12.0 %");
        assert_eq!(warning(0.120_03), "the candidate's CV is 12.003 %, above 12.000 %");
    }
}
