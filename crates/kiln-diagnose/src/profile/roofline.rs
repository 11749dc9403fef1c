//! Where a kernel stands under the roofs: how much of memory's and of the arithmetic units' peak it uses, and which is closer.

use serde::{Deserialize, Serialize};

use super::load::Load;
use super::metric::{self as m, Metric};
use super::rule::rounded;
use super::subject::Subject;

/// Where a kernel stands.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Roofline {
    /// The share of DRAM's peak bandwidth; none if it was not collected.
    pub memory_fraction: Option<f64>,
    /// The share of the peak of the busiest arithmetic pipe: FP32, FP64, tensor cores; none if one of them was not collected.
    pub compute_fraction: Option<f64>,
    /// Which of them bounds the kernel; `latency` where it is far from both, `unknown` where a unit that was not collected may.
    pub bound: Bound,
}

/// What bounds a kernel.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Bound {
    /// DRAM's bandwidth.
    Memory,
    /// An arithmetic pipe.
    Compute,
    /// The caches and shared memory.
    Cache,
    /// The schedulers: instructions of other kinds.
    Issue,
    /// None: units wait.
    Latency,
    /// The page does not say.
    Unknown,
}

impl Bound {
    /// The name in messages and JSON.
    pub fn name(self) -> &'static str {
        match self {
            Bound::Memory => "memory",
            Bound::Compute => "compute",
            Bound::Cache => "cache",
            Bound::Issue => "issue",
            Bound::Latency => "latency",
            Bound::Unknown => "unknown",
        }
    }
}

/// From this share of a peak on a unit bounds the kernel. ncu uses the same.
pub(super) const BOUNDS: f64 = 0.6;

impl Roofline {
    pub(crate) fn of(subject: &Subject) -> Self {
        let load = Load::of(subject);
        let known = |units: &[Metric], share: f64| (!units.iter().any(|unit| subject.lacks(unit))).then_some(share);
        let memory = known(&[m::DRAM], load.dram);
        let compute = known(&[m::FMA, m::FP64, m::TENSOR], load.fma.max(load.fp64).max(load.tensor));
        let all = [
            (Bound::Memory, memory),
            (Bound::Compute, compute),
            (Bound::Cache, known(&[m::L2, m::L1, m::WAVEFRONTS, m::LSU], load.l2.max(load.l1).max(load.lsu))),
            (Bound::Issue, known(&[m::ISSUE, m::XU, m::ALU], load.issue.max(load.xu).max(load.alu))),
        ];
        // A unit that was not collected may be busy all the time.
        let busiest = if subject.has_units() { load.busiest() } else { 1.0 };
        // L2 is as busy as DRAM where everything misses: DRAM is then the one to name.
        let near = |share: f64| share >= BOUNDS && share >= 0.85 * busiest;
        let first = all.into_iter().find(|(_, share)| share.is_none_or(near));
        let bound = first.map_or(Bound::Latency, |(bound, share)| share.map_or(Bound::Unknown, |_| bound));
        Self { memory_fraction: memory.map(rounded), compute_fraction: compute.map(rounded), bound }
    }
}
