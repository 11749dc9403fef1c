//! Where a kernel stands under the roofs: how much of memory's and of the arithmetic units' peak it uses, and which is closer.

use serde::{Deserialize, Serialize};

use super::load::Load;
use super::rule::rounded;
use super::subject::Subject;

/// Where a kernel stands.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Roofline {
    /// The share of DRAM's peak bandwidth.
    pub memory_fraction: f64,
    /// The share of the peak of the busiest arithmetic pipe: FP32, FP64, tensor cores.
    pub compute_fraction: f64,
    /// Which of them bounds the kernel; `latency` where it is far from both.
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
        }
    }
}

/// From this share of a peak on a unit bounds the kernel. ncu uses the same.
const BOUNDS: f64 = 0.6;

impl Roofline {
    pub(crate) fn of(subject: &Subject) -> Self {
        let load = Load::of(subject);
        let compute = load.fma.max(load.fp64).max(load.tensor);
        let all = [
            (Bound::Memory, load.dram),
            (Bound::Compute, compute),
            (Bound::Cache, load.l2.max(load.l1).max(load.lsu)),
            (Bound::Issue, load.issue.max(load.xu).max(load.alu)),
        ];
        // L2 is as busy as DRAM where everything misses: DRAM is then the one to name.
        let near = |share: f64| share >= BOUNDS && share >= 0.85 * load.busiest();
        let bound = all.iter().find(|(_, share)| near(*share)).map_or(Bound::Latency, |(bound, _)| *bound);
        Self { memory_fraction: rounded(load.dram), compute_fraction: rounded(compute), bound }
    }
}
