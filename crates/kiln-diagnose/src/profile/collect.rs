//! What to collect for a diagnosis. In: the GPU's compute capability. Out: the metrics that rules read and views show, under the names of
//! that architecture, so that a profile takes a few passes instead of all there are; none where the names are not known: sections are
//! then collected, which every architecture has.

use super::metric::{self as m, Metric};

/// Sections that have most of it, on every architecture.
pub const SECTIONS: &[&str] = &[
    "SpeedOfLight",
    "ComputeWorkloadAnalysis",
    "MemoryWorkloadAnalysis",
    "MemoryWorkloadAnalysis_Tables",
    "LaunchStats",
    "Occupancy",
    "SchedulerStats",
    "WarpStateStats",
    "InstructionStats",
    "SourceCounters",
];

/// Everything that is read beside the units, the products and the reasons to wait.
const READ: &[Metric] = &[
    m::DURATION,
    m::GRID,
    m::BLOCK,
    m::SMS,
    m::REGISTERS,
    m::SHARED_BYTES,
    m::SHARED_SET_ASIDE,
    m::SHARED_MOST,
    m::LIMIT_BLOCKS,
    m::LIMIT_REGISTERS,
    m::LIMIT_SHARED,
    m::LIMIT_WARPS,
    m::THEORETICAL,
    m::ACHIEVED,
    m::WAVES,
    m::CYCLES_ACTIVE,
    m::CYCLES_ACTIVE_LEAST,
    m::CYCLES_ELAPSED,
    m::INSTRUCTIONS,
    m::LANES,
    m::SECTORS,
    m::SECTORS_IDEAL,
    m::SECTORS_LOCAL,
    m::SHARED_WAVEFRONTS,
    m::SHARED_WAVEFRONTS_IDEAL,
    m::LOAD_REQUESTS,
    m::LOAD_SECTORS,
    m::LOADS,
    m::SHARED_LOADS,
    m::LOCAL_LOADS,
    m::LOCAL_STORES,
    m::READ_BYTES,
    m::WRITE_BYTES,
    m::LOAD_BYTES_PER_SECTOR,
    m::L2_HITS,
    m::ATOMIC_SECTORS,
    m::REDUCTION_SECTORS,
    m::ATOMIC_BUSIEST,
    m::SHARED_ATOMICS,
    m::SHARED_ATOMIC_WAVEFRONTS,
    m::FFMA,
    m::FADD,
    m::FMUL,
    m::HFMA,
    m::DADD,
    m::DMUL,
    m::DFMA,
];

/// The metrics of a quick profile on a GPU of this compute capability; none where their names are not known.
pub fn quick_metrics(capability: (u32, u32)) -> Option<Vec<&'static str>> {
    // The first name of each is that of cc 9.0.
    (capability == (9, 0)).then(|| {
        let stalls = m::STALLS.iter().map(|(_, metric)| *metric);
        let all = READ.iter().chain(m::UNITS).chain(m::TENSOR_PATHS).copied().chain(stalls);
        let mut names: Vec<&str> = Vec::new();
        for name in all.filter_map(|metric| metric.first().copied()) {
            if !names.contains(&name) {
                names.push(name);
            }
        }
        names
    })
}
