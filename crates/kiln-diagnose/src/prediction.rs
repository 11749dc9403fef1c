//! What a kernel's time will be at least, and what it will likely go to, before anything runs. In: the work that the kernel file states, the
//! launches, what the compiler says of them, and a board's peaks. Out: a [`Prediction`]: the floor, and causes ranked by how far they
//! keep the kernel above it. What only a run shows (conflicts, divergence, uncoalesced accesses) is never named.

use serde::Serialize;

use crate::profile::Bottleneck;

/// A call that is to be predicted.
#[derive(Debug, Clone, Default)]
pub struct Plan {
    /// Floating-point operations, where they are stated.
    pub flops: Option<f64>,
    /// Bytes that must be moved, where they are stated.
    pub bytes: Option<f64>,
    /// Its launches, in order.
    pub launches: Vec<PlannedLaunch>,
}

/// A launch before it runs.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct PlannedLaunch {
    /// The kernel.
    pub kernel: String,
    /// Blocks of the grid.
    pub blocks: u64,
    /// Threads of a block.
    pub threads: u32,
    /// Registers of a thread; none where nothing was compiled.
    pub registers: Option<u32>,
    /// Bytes that the compiler spills.
    pub spilled_bytes: u64,
    /// Bytes of shared memory of a block.
    pub shared_bytes: u64,
    /// Blocks that an SM holds.
    pub blocks_per_sm: u32,
    /// Warps that an SM holds over the most it can.
    pub occupancy: f64,
    /// Warps that an SM holds.
    pub warps_per_sm: u32,
    /// What stops one more block.
    pub limited_by: String,
}

/// The GPU that it is predicted for.
#[derive(Debug, Clone, PartialEq)]
pub struct Board {
    /// Multiprocessors.
    pub sms: u32,
    /// DRAM's peak.
    pub bytes_per_second: f64,
    /// The peak for the kernel's types.
    pub flops_per_second: f64,
    /// Whether that is the tensor cores'.
    pub tensor: bool,
}

/// What bounds a call from below.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Floor {
    /// Moving its bytes.
    Memory,
    /// Its operations.
    Compute,
    /// Launching its kernels.
    Launch,
}

impl Floor {
    /// The name in messages.
    pub fn name(self) -> &'static str {
        match self {
            Floor::Memory => "memory",
            Floor::Compute => "compute",
            Floor::Launch => "launch",
        }
    }
}

/// A cause that is likely before anything ran.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Likely {
    /// The cause.
    pub cause: Bottleneck,
    /// About how many times the floor it makes the call take; none where that is not known before a run.
    pub slowdown: Option<f64>,
    /// Why, with the numbers.
    pub why: String,
}

/// What is expected of one call.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Prediction {
    /// The least time, in microseconds; none where the file states no cost.
    pub floor_us: Option<f64>,
    /// What moving its bytes takes.
    pub memory_us: Option<f64>,
    /// What its operations take.
    pub compute_us: Option<f64>,
    /// What bounds it.
    pub bound: Option<Floor>,
    /// The likely bottleneck: the first of `ranked`.
    pub cause: Option<Bottleneck>,
    /// Likely causes, that which costs most first.
    pub ranked: Vec<Likely>,
}

/// A launch takes this long even if it does nothing, in microseconds: what ncu measured of empty launches on an H200.
const LAUNCH_US: f64 = 2.5;
/// Below this the launch is what takes the time; `launch_bound` has the same limit.
const SHORT_US: f64 = 5.0;
/// The latency of DRAM in seconds, and the bytes that a thread has under way: with them Little's law says how many warps it takes to keep
/// DRAM busy.
const LATENCY: f64 = 600e-9;
const BYTES_PER_THREAD: f64 = 32.0;
/// Two warps for each scheduler keep the pipes busy.
const ENOUGH_WARPS: f64 = 8.0;
/// Bytes a second that one SM reads at most: 64 bytes a cycle from L2, at 2 GHz.
const BYTES_PER_SM: f64 = 128e9;
/// What costs less is not worth a word.
const WORTH: f64 = 1.1;
/// A last wave that leaves less of the device empty is no tail; `tail_effect` has the same limit.
const FILLED: f64 = 0.85;

/// Predicts a call.
pub fn predict(plan: &Plan, board: &Board) -> Prediction {
    let memory = plan.bytes.map(|bytes| 1e6 * bytes / board.bytes_per_second);
    let compute = plan.flops.map(|flops| 1e6 * flops / board.flops_per_second);
    let launching = LAUNCH_US * plan.launches.len() as f64;
    let work = memory.into_iter().chain(compute).reduce(f64::max);
    let floor = work.map(|work| work.max(LAUNCH_US));
    let bound = work.map(|work| match (work < launching, memory >= compute) {
        (true, _) => Floor::Launch,
        (false, true) => Floor::Memory,
        (false, false) => Floor::Compute,
    });
    let mut ranked: Vec<Likely> = launch_bound(plan, work, launching).into_iter().collect();
    // The launch with the most threads stands for the call.
    let main = plan.launches.iter().max_by_key(|launch| launch.blocks * u64::from(launch.threads));
    if let Some(launch) = main {
        ranked.extend(small_grid(launch, board, (memory, compute)));
        ranked.extend(tail(launch, board, bound));
        ranked.extend(occupancy(launch, board, bound));
    }
    ranked.extend(plan.launches.iter().find_map(spills));
    // Where launching takes longest it is the bottleneck, however little the work adds to it.
    let launched = |own: &Likely| bound == Some(Floor::Launch) && own.cause == Bottleneck::LaunchBound;
    ranked.retain(|own| launched(own) || own.slowdown.is_none_or(|slowdown| slowdown >= WORTH));
    ranked.sort_by(|one, other| other.slowdown.unwrap_or(WORTH).total_cmp(&one.slowdown.unwrap_or(WORTH)));
    ranked.extend(bound.and_then(|bound| roof(bound, board)));
    let cause = ranked.first().map(|own| own.cause);
    Prediction {
        floor_us: floor.map(three),
        memory_us: memory.map(three),
        compute_us: compute.map(three),
        bound,
        cause,
        ranked,
    }
}

fn likely(cause: Bottleneck, slowdown: f64, why: String) -> Likely {
    Likely { cause, slowdown: Some(three(slowdown)), why }
}

fn launch_bound(plan: &Plan, work: Option<f64>, launching: f64) -> Option<Likely> {
    let (work, count) = (work?, plan.launches.len());
    let short = work < SHORT_US * count as f64;
    let launches = if count == 1 { "a launch".into() } else { format!("{count} launches") };
    short.then(|| {
        let why = format!("the work takes {} us, and {launches} about {launching} us", three(work));
        likely(Bottleneck::LaunchBound, (work + launching) / work.max(LAUNCH_US), why)
    })
}

/// Blocks for a part of the SMs: arithmetic takes longer by the rest, and memory gives no more than what the busy SMs can read. What a
/// launch takes stays.
fn small_grid(launch: &PlannedLaunch, board: &Board, work: (Option<f64>, Option<f64>)) -> Option<Likely> {
    let (blocks, sms) = (launch.blocks.max(1), u64::from(board.sms));
    if blocks >= sms {
        return None;
    }
    let read = (board.bytes_per_second / (blocks as f64 * BYTES_PER_SM)).max(1.0);
    let (memory, compute) = (work.0.map(|us| us * read), work.1.map(|us| us * sms as f64 / blocks as f64));
    let floor = work.0.into_iter().chain(work.1).chain([LAUNCH_US]).fold(0.0, f64::max);
    let slowdown = memory.into_iter().chain(compute).reduce(f64::max).map(|us| three(us.max(LAUNCH_US) / floor));
    let why = format!("{} blocks for {sms} SMs: {} never have work", launch.blocks, sms - blocks);
    Some(Likely { cause: Bottleneck::SmallGrid, slowdown, why })
}

/// A last wave that is nearly empty. Only for arithmetic is its cost known: the SMs that are left may have DRAM to themselves.
fn tail(launch: &PlannedLaunch, board: &Board, bound: Option<Floor>) -> Option<Likely> {
    let sms = f64::from(board.sms);
    let (per_sm, places) = (launch.blocks as f64 / sms, f64::from(launch.blocks_per_sm) * sms);
    if per_sm < 1.0 || places <= 0.0 || bound == Some(Floor::Launch) {
        return None;
    }
    // Where all blocks are resident at once, the SM with most of them is the last.
    let waves = launch.blocks as f64 / places;
    let filled = if waves <= 1.0 { per_sm / per_sm.ceil() } else { waves / waves.ceil() };
    let why = || {
        let blocks = launch.blocks;
        format!("{blocks} blocks on {places:.0} places make {:.2} waves: the last leaves SMs empty", three(waves))
    };
    let slowdown = (bound == Some(Floor::Compute)).then(|| three(1.0 / filled));
    (filled < FILLED).then(|| Likely { cause: Bottleneck::TailEffect, slowdown, why: why() })
}

/// Too few warps for what bounds the kernel. Tensor cores need few.
fn occupancy(launch: &PlannedLaunch, board: &Board, bound: Option<Floor>) -> Option<Likely> {
    let cause = match launch.limited_by.as_str() {
        "registers" => Bottleneck::OccupancyRegisters,
        "shared memory" => Bottleneck::OccupancySharedMem,
        _ => return None,
    };
    let warps = f64::from(launch.warps_per_sm).max(1.0);
    let needed = match bound? {
        Floor::Memory => board.bytes_per_second / f64::from(board.sms.max(1)) * LATENCY / (32.0 * BYTES_PER_THREAD),
        Floor::Compute if !board.tensor => ENOUGH_WARPS,
        _ => return None,
    };
    let why = format!(
        "{} leave {} warps on an SM ({:.0} % occupancy), and it takes about {:.0} to keep {} busy",
        launch.limited_by,
        launch.warps_per_sm,
        100.0 * launch.occupancy,
        needed.ceil(),
        if bound == Some(Floor::Memory) { "DRAM" } else { "the pipes" }
    );
    Some(likely(cause, needed / warps, why))
}

fn spills(launch: &PlannedLaunch) -> Option<Likely> {
    let why = format!("the compiler spills {} bytes in {}", launch.spilled_bytes, launch.kernel);
    (launch.spilled_bytes > 0).then_some(Likely { cause: Bottleneck::RegisterSpillLocal, slowdown: None, why })
}

/// What remains when nothing else is in the way.
fn roof(bound: Floor, board: &Board) -> Option<Likely> {
    let (cause, why) = match bound {
        Floor::Memory => (Bottleneck::AtRooflineDram, "moving the bytes takes longest"),
        Floor::Compute if board.tensor => (Bottleneck::AtRooflineTensor, "the products take longest"),
        Floor::Compute => (Bottleneck::AtRooflineFp32, "the operations take longest"),
        Floor::Launch => return None,
    };
    Some(likely(cause, 1.0, why.into()))
}

/// Three digits that count.
fn three(value: f64) -> f64 {
    let digits = 10f64.powi(2 - value.abs().max(1e-9).log10().floor() as i32);
    (value * digits).round() / digits
}

#[cfg(test)]
mod tests;
