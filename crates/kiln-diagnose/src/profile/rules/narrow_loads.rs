//! Accesses of a few bytes per thread.

use super::super::cause::Bottleneck;
use super::super::load::Load;
use super::super::metric as m;
use super::super::rule::{Condition, Fix, Rule, above, below, fix};
use super::super::subject::Subject;
use super::at_roofline_fp32::BUSY;
use super::tensor_core_unused::{PRODUCT, is_known_product};
use super::{
    atomic_contention, barrier_stalls, fp64_unintended, occupancy_registers, occupancy_shared_mem,
    register_spill_local, shared_bank_conflict, small_grid, strided_aos, tail_effect, uncoalesced_global,
    warp_divergence, xu_sfu_bound,
};

pub(super) const RULE: Rule = Rule {
    cause: Bottleneck::NarrowLoads,
    needs: &[NEEDS, PRODUCT, &[m::FMA], m::ACTIVE],
    conditions,
    gain,
    explain,
    fixes,
};

/// Sectors of a warp's load: one with a byte per lane, two with two bytes, four with four.
const TWO_BYTES: f64 = 2.5;
const FOUR_BYTES: f64 = 4.5;

/// What the claim rests on.
pub(super) const NEEDS: &[m::Metric] =
    &[m::LOAD_REQUESTS, m::LOAD_SECTORS, m::LOAD_BYTES_PER_SECTOR, m::DRAM, m::LOADS, m::INSTRUCTIONS];

/// Too few warps keep DRAM as idle as narrow loads do, and are the better explanation.
const FEW_WARPS: &[&Rule] = &[&occupancy_shared_mem::RULE, &occupancy_registers::RULE];

/// What else keeps a kernel that streams away from the peak. Most kernels load four bytes per thread: that is blamed only where none of these is.
const OTHERS: &[&Rule] = &[
    &uncoalesced_global::RULE,
    &strided_aos::RULE,
    &shared_bank_conflict::RULE,
    &register_spill_local::RULE,
    &small_grid::RULE,
    &tail_effect::RULE,
    &warp_divergence::RULE,
    &barrier_stalls::RULE,
    &atomic_contention::RULE,
    &fp64_unintended::RULE,
    &xu_sfu_bound::RULE,
];

/// A cause that promises less does not explain why a kernel stays far from the peak.
const EXPLAINS: f64 = 1.2;

fn conditions(subject: &Subject) -> Vec<Condition> {
    let explains = |rule: &&Rule| rule.holds(subject) && rule.promise(subject) > EXPLAINS;
    if FEW_WARPS.iter().any(explains) || (streams(subject).is_some() && OTHERS.iter().any(explains)) {
        return Vec::new();
    }
    accesses(subject)
}

/// Whether loads are narrow and a part of the work that counts, whatever else the kernel suffers from.
pub(super) fn is_narrow(subject: &Subject) -> bool {
    let all = accesses(subject);
    !all.is_empty() && all.iter().all(Condition::holds)
}

/// What a kernel shows that streams, stays far from the peak and computes little; none if it does not.
fn streams(subject: &Subject) -> Option<[Condition; 3]> {
    let all =
        [above(subject, m::DRAM, 35.0), below(subject, m::DRAM, 79.0), below(subject, m::FMA, BUSY * subject.active())];
    all.iter().all(Condition::holds).then_some(all)
}

fn accesses(subject: &Subject) -> Vec<Condition> {
    // Products of matrices read what they need in any width, and read it often.
    if is_known_product(subject) {
        return Vec::new();
    }
    let requests = subject.value(m::LOAD_REQUESTS);
    let full = above(subject, m::LOAD_BYTES_PER_SECTOR, 24.0).context();
    // The loads must be a part of the work that counts.
    let loads = above(subject, m::LOADS, 0.03 * subject.value(m::INSTRUCTIONS)).context();
    // Four bytes are enough for most kernels; not for one that streams.
    if let Some(streams) = streams(subject) {
        let mut all = vec![below(subject, m::LOAD_SECTORS, FOUR_BYTES * requests), full, loads];
        all.extend(streams.into_iter().map(Condition::context));
        return all;
    }
    vec![below(subject, m::LOAD_SECTORS, TWO_BYTES * requests), full, below(subject, m::DRAM, 75.0).context(), loads]
}

fn sectors(subject: &Subject) -> f64 {
    subject.ratio(m::LOAD_SECTORS, m::LOAD_REQUESTS)
}

/// Instructions around a load that a wider one saves: the load itself and its store, their indices, conversions, branches.
const AROUND: f64 = 12.0;

/// With 16 bytes per access there are fewer accesses, and fewer instructions around them: loads, indices and branches. What is computed stays, and
/// what shared memory is accessed for.
fn gain(subject: &Subject) -> f64 {
    let (load, fewer) = (Load::of(subject), (sectors(subject) / 16.0).clamp(0.05, 1.0));
    let per_instruction = subject.ratio(m::LOADS, m::INSTRUCTIONS);
    let kept = 1.0 - (1.0 - fewer) * (AROUND * per_instruction).min(0.65);
    let Load { dram, l2, .. } = load;
    // Streams of 16-byte accesses reach 90 % where mixed ones reach 80.
    let (dram, l2) = (dram * 0.8 / 0.9, l2 * 0.8 / 0.9);
    let (issue, alu) = (load.issue * kept, load.alu * kept);
    let shared = in_shared(subject).min(load.l1);
    let l1 = shared + (load.l1 - shared) * fewer;
    Load { dram, l2, l1, lsu: load.lsu * fewer, issue, alu, ..load }.gain(subject)
}

/// The share of the time for which accesses to shared memory occupy L1's data stage, which takes one wavefront per cycle.
fn in_shared(subject: &Subject) -> f64 {
    let slots = subject.value(m::CYCLES_ELAPSED) * subject.sms();
    if slots > 0.0 { (subject.value(m::SHARED_WAVEFRONTS) / slots).clamp(0.0, 1.0) } else { 0.0 }
}

fn explain(subject: &Subject) -> String {
    format!(
        "A warp's load fetches {:.1} sectors, {:.0} bytes per thread: {:.0} load instructions move what 16-byte accesses do with {:.0} % of them. \
         DRAM stays at {:.0} %, with the schedulers at {:.0} % and L1 at {:.0} %.",
        sectors(subject),
        sectors(subject).max(1.0),
        subject.value(m::LOADS),
        100.0 * (sectors(subject) / 16.0),
        subject.value(m::DRAM),
        subject.value(m::ISSUE),
        subject.value(m::L1)
    )
}

fn fixes(_: &Subject, gain: f64) -> Vec<Fix> {
    vec![
        fix(
            "access 16 bytes per thread",
            "const uint4 v = reinterpret_cast<const uint4*>(x)[i]; unpack, compute, and store a uint4; treat the last elements separately",
            gain,
        ),
        fix(
            "compute several elements per thread",
            "each thread takes 4 to 16 neighbouring elements, so that index arithmetic is shared",
            gain.sqrt(),
        ),
    ]
}
