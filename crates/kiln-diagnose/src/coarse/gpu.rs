//! A kernel on a GPU without counters. In: what the compiler and the launch say, and its position under the roofs. Out: a diagnosis with the
//! identifiers of a profile. What more warps or fewer spills are worth is not known without counters: promises are what the roof and the
//! launch leave at most.

use super::cause::CoarseCause;
use super::{AT_ROOF, Claim, CoarseDiagnosis, Position, capitalised, diagnosed, evidence};
use crate::profile::Bottleneck;

/// Below this many seconds launching takes longer than computing.
const SHORT: f64 = 5e-6;
/// With half of its warps a multiprocessor usually hides latency.
const LOW: f64 = 0.5;
/// Bytes of spilled registers per thread from which on they matter: sixteen registers.
const MANY_SPILLED: f64 = 64.0;
/// A last wave that leaves more of the device idle than this is worth a look.
const FULL_WAVES: f64 = 0.85;

/// What is known of a kernel.
#[derive(Debug, Clone, Default)]
pub struct GpuFacts {
    /// The kernel's name.
    pub kernel: String,
    /// Its time beside what the board can do.
    pub position: Position,
    /// Blocks of a launch; none for what launches by itself.
    pub blocks: Option<f64>,
    /// Multiprocessors of the device.
    pub sms: Option<f64>,
    /// Blocks that a multiprocessor holds.
    pub blocks_per_sm: Option<f64>,
    /// The share of its warps that a multiprocessor holds.
    pub occupancy: Option<f64>,
    /// What stops one more block: `registers`, `shared memory`, `threads` or `blocks`.
    pub limited_by: String,
    /// Bytes of registers that a thread puts aside and fetches back.
    pub spilled_bytes: Option<f64>,
    /// Whether it multiplies on tensor cores.
    pub tensor: bool,
}

/// What limits a kernel on a GPU, as far as that shows without counters.
pub fn of_gpu(facts: &GpuFacts) -> CoarseDiagnosis {
    let found = [at_roof(facts), launch(facts), spills(facts), grid(facts), tail(facts), occupancy(facts)];
    diagnosed(&facts.kernel, &facts.position, found.into_iter().flatten().collect(), None)
}

fn claim(cause: Bottleneck, gain: f64, evidence: Vec<crate::profile::Evidence>, explanation: String) -> Claim {
    Claim { cause: CoarseCause::Gpu(cause), gain, evidence, explanation, fixes: Vec::new() }
}

/// Without a position nothing bounds a promise, and none is made.
fn open(facts: &GpuFacts) -> f64 {
    if facts.position.share().is_some() { f64::INFINITY } else { 1.0 }
}

fn at_roof(facts: &GpuFacts) -> Option<Claim> {
    let compute = if facts.tensor { Bottleneck::AtRooflineTensor } else { Bottleneck::AtRooflineFp32 };
    let roofs = [
        (Bottleneck::AtRooflineDram, "memory", facts.position.memory),
        (compute, "arithmetic", facts.position.compute),
    ];
    let (cause, roof, share) = roofs
        .into_iter()
        .filter_map(|(cause, roof, share)| Some((cause, roof, share?)))
        .max_by(|a, b| a.2.total_cmp(&b.2))?;
    let explanation = format!(
        "A call reaches {:.0} % of the board's peak of {roof}. Stop here, or do less work: another algorithm, a smaller type, fused kernels.",
        100.0 * share
    );
    let shares = vec![evidence(&format!("roofline.{roof}_share"), share, AT_ROOF)];
    (share >= AT_ROOF).then(|| claim(cause, (1.0 / share).max(1.0), shares, explanation))
}

fn launch(facts: &GpuFacts) -> Option<Claim> {
    let seconds = facts.position.seconds.filter(|seconds| *seconds < SHORT)?;
    let explanation = format!(
        "A call takes {:.1} us on the device, and starting it costs the host about 5 us. A sequence of such calls spends its time on launching.",
        1e6 * seconds
    );
    let mut own = claim(
        Bottleneck::LaunchBound,
        SHORT / seconds.max(1e-7),
        vec![evidence("call.microseconds", 1e6 * seconds, 1e6 * SHORT)],
        explanation,
    );
    own.fixes = vec![(
        "do the work of many launches in one",
        "loop over the steps in the kernel, or give every row, token or matrix a block of one launch; a CUDA graph replays a sequence",
    )];
    Some(own)
}

fn spills(facts: &GpuFacts) -> Option<Claim> {
    let bytes = facts.spilled_bytes.filter(|bytes| *bytes >= MANY_SPILLED)?;
    let explanation = format!(
        "The compiler puts aside and fetches back {bytes:.0} bytes of registers per thread. They go through local memory, in every loop that needs them."
    );
    let figures = vec![evidence("compiler.spilled_bytes", bytes, MANY_SPILLED)];
    let mut own = claim(Bottleneck::RegisterSpillLocal, open(facts), figures, explanation);
    own.fixes = vec![(
        "need fewer registers",
        "smaller tiles per thread, less unrolling, or launch bounds that allow more registers: __launch_bounds__(threads, fewer blocks)",
    )];
    Some(own)
}

fn grid(facts: &GpuFacts) -> Option<Claim> {
    let (blocks, sms) = (facts.blocks?, facts.sms?);
    (blocks > 0.0 && blocks < sms).then(|| {
        let explanation = format!(
            "The grid has {blocks:.0} blocks for {sms:.0} multiprocessors, so {:.0} of them never have work.",
            sms - blocks
        );
        let mut own =
            claim(Bottleneck::SmallGrid, sms / blocks, vec![evidence("launch.blocks", blocks, sms)], explanation);
        own.fixes =
            vec![("use more blocks", "smaller tiles, or split the longest loop over blocks and combine their sums")];
        own
    })
}

fn tail(facts: &GpuFacts) -> Option<Claim> {
    let full = facts.sms? * facts.blocks_per_sm?;
    let waves = facts.blocks? / full.max(1.0);
    let used = waves / waves.ceil().max(1.0);
    (waves > 1.0 && used < FULL_WAVES).then(|| {
        let explanation = format!(
            "{waves:.2} waves of blocks take as long as {:.0}: in the last one {:.0} % of the device has nothing to do.",
            waves.ceil(),
            100.0 * (waves.ceil() - waves)
        );
        let figures = vec![evidence("launch.full_waves_share", used, FULL_WAVES)];
        let mut own = claim(Bottleneck::TailEffect, 1.0 / used, figures, explanation);
        own.fixes = vec![("fill the last wave", "a tile size whose number of blocks is just below a multiple of what the device holds, or a grid of that size whose blocks loop over tiles")];
        own
    })
}

fn occupancy(facts: &GpuFacts) -> Option<Claim> {
    let share = facts.occupancy.filter(|share| *share > 0.0 && *share < LOW)?;
    let (cause, fix) = match facts.limited_by.as_str() {
        "registers" => (
            Bottleneck::OccupancyRegisters,
            ("need fewer registers", "smaller tiles per thread, or __launch_bounds__(threads, blocks)"),
        ),
        "shared memory" => (
            Bottleneck::OccupancySharedMem,
            ("need less shared memory", "smaller tiles, fewer stages, or a smaller type"),
        ),
        _ => return None,
    };
    let explanation = format!(
        "{} let a multiprocessor hold {:.0} % of its warps. Where nothing is at its peak, more warps may hide latency.",
        capitalised(&facts.limited_by),
        100.0 * share
    );
    let gain = (LOW / share).min(open(facts));
    let mut own = claim(cause, gain, vec![evidence("occupancy", share, LOW)], explanation);
    own.fixes = vec![fix];
    Some(own)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn facts() -> GpuFacts {
        GpuFacts {
            kernel: "k".into(),
            position: Position { seconds: Some(1e-3), memory: Some(0.1), compute: Some(0.25), flops: None },
            blocks: Some(1320.0),
            sms: Some(132.0),
            blocks_per_sm: Some(2.0),
            occupancy: Some(0.75),
            limited_by: "registers".into(),
            spilled_bytes: Some(0.0),
            tensor: false,
        }
    }

    fn first(facts: &GpuFacts) -> (Option<&'static str>, f64) {
        let found = of_gpu(facts);
        (found.cause.map(CoarseCause::id), found.expected_speedup)
    }

    #[test]
    fn each_cause_shows_in_its_own_figure() {
        assert_eq!(first(&facts()), (None, 1.0));
        assert_eq!(first(&GpuFacts { blocks: Some(66.0), ..facts() }), (Some("small_grid"), 2.0));
        assert_eq!(first(&GpuFacts { blocks: Some(300.0), ..facts() }), (Some("tail_effect"), 1.76));
        assert_eq!(first(&GpuFacts { occupancy: Some(0.25), ..facts() }), (Some("occupancy_registers"), 2.0));
        let shared = GpuFacts { occupancy: Some(0.25), limited_by: "shared memory".into(), ..facts() };
        assert_eq!(first(&shared).0, Some("occupancy_shared_mem"));
        // No more than what the roof leaves.
        assert_eq!(first(&GpuFacts { spilled_bytes: Some(512.0), ..facts() }), (Some("register_spill_local"), 4.0));
        let short = Position { seconds: Some(2.5e-6), ..facts().position };
        assert_eq!(first(&GpuFacts { position: short, ..facts() }), (Some("launch_bound"), 2.0));
    }

    #[test]
    fn at_a_roof_nothing_else_counts_and_without_a_position_nothing_is_promised() {
        let near = Position { memory: Some(0.85), ..facts().position };
        let found = of_gpu(&GpuFacts { position: near, spilled_bytes: Some(512.0), ..facts() });
        assert_eq!((found.cause.map(CoarseCause::id), found.ranked.len()), (Some("at_roofline_dram"), 1));
        let unknown = GpuFacts { position: Position::default(), spilled_bytes: Some(512.0), ..facts() };
        assert_eq!(first(&unknown).0, None);
    }
}
