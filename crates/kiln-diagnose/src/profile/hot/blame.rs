//! Which lines a cause comes from. In: a kernel's lines and its cause. Out: the lines with the largest part of what shows the cause: wasted
//! sectors, conflicts, spills, waiting; else of the samples.

use serde::{Deserialize, Serialize};

use super::{HotKernel, HotLine};
use crate::profile::Bottleneck;
use crate::profile::rule::rounded;

/// A line with its part in a cause.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Blamed {
    /// The file; none for an instruction.
    pub file: Option<String>,
    /// The line; none for an instruction.
    pub line: Option<u64>,
    /// Its text.
    pub source: String,
    /// What is counted, as the page has it.
    pub by: String,
    /// The line's share of it in the kernel.
    pub share: f64,
    /// The line's share of the kernel's samples: of its time.
    pub samples_share: f64,
    /// What warps wait for there most of all; none without samples.
    pub stall: Option<String>,
}

/// Lines with less are not named, and no more than this many.
const LEAST: f64 = 0.05;
const MOST: usize = 4;
/// The page's name for samples.
const SAMPLES: &str = "# Samples";

/// The lines that a cause comes from, the most guilty first; by samples where there is no cause.
pub fn blame(kernel: &HotKernel, cause: Option<Bottleneck>) -> Vec<Blamed> {
    let (by, weight) = counted(cause);
    let total = |weight: &dyn Fn(&HotLine) -> f64| kernel.lines.iter().map(weight).sum::<f64>();
    let all_samples = total(&|line: &HotLine| line.samples);
    let (by, weight, all) = match total(&*weight) {
        all if all > 0.0 => (by, weight, all),
        _ => (SAMPLES, counted(None).1, all_samples),
    };
    let share = |part: f64, of: f64| if of > 0.0 { rounded(part / of) } else { 0.0 };
    let mut lines: Vec<&HotLine> = kernel.lines.iter().filter(|line| weight(line) > 0.0).collect();
    lines.sort_by(|one, other| weight(other).total_cmp(&weight(one)));
    let blamed = |line: &HotLine| Blamed {
        file: line.file.clone(),
        line: line.line,
        source: line.source.clone(),
        by: by.to_owned(),
        share: share(weight(line), all),
        samples_share: share(line.samples, all_samples),
        stall: stall(line),
    };
    // The first is named however little it has: instructions have less than lines.
    let few = lines.iter().filter(|line| weight(line) >= LEAST * all).count().clamp(1, MOST);
    lines.into_iter().take(few).map(blamed).collect()
}

type Weight = Box<dyn Fn(&HotLine) -> f64>;

/// What shows a cause in a line.
fn counted(cause: Option<Bottleneck>) -> (&'static str, Weight) {
    let waiting = |reason: &'static str| -> Weight {
        Box::new(move |line| line.stalls.iter().find(|(own, _)| *own == reason).map_or(0.0, |(_, samples)| *samples))
    };
    match cause {
        Some(Bottleneck::UncoalescedGlobal | Bottleneck::StridedAos) => {
            ("L2 Theoretical Sectors Global Excessive", Box::new(|line| line.excessive_sectors))
        }
        Some(Bottleneck::SharedBankConflict) => {
            ("L1 Wavefronts Shared Excessive", Box::new(|line| line.excessive_wavefronts))
        }
        Some(Bottleneck::RegisterSpillLocal) => ("L2 Theoretical Sectors Local", Box::new(|line| line.local_sectors)),
        Some(Bottleneck::WarpDivergence) => ("idle lanes", Box::new(|line| line.idle_lanes)),
        Some(Bottleneck::BarrierStalls) => ("stall_barrier", waiting("barrier")),
        Some(Bottleneck::LatencyDependentLoads) => ("stall_long_sb", waiting("long_scoreboard")),
        _ => (SAMPLES, Box::new(|line| line.samples)),
    }
}

/// What warps wait for most at a line. Being issued is no waiting.
fn stall(line: &HotLine) -> Option<String> {
    let waits = line.stalls.iter().filter(|(reason, _)| *reason != "selected");
    waits.max_by(|one, other| one.1.total_cmp(&other.1)).map(|(reason, _)| (*reason).to_owned())
}
