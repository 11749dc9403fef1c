//! What the two causes of wasted sectors share: how many sectors the accesses touch, how many would do, and whether the rest of each is
//! ever used.

use super::super::load::Load;
use super::super::metric as m;
use super::super::rule::{Condition, above};
use super::super::subject::Subject;

/// Twice the sectors that would do. Below it the gain is small, and an offset of one element can cause it.
pub(super) const EXCESS: f64 = 2.0;

/// Memory must be what the kernel waits for: below this share of its peak, latency is the better explanation.
const BUSY: f64 = 65.0;

/// Scattered stores keep DRAM busy with sectors that it must read, change and write, which its throughput does not show. Then warps wait for their
/// stores at the end, and do so for this part of their time.
const DRAINING: f64 = 0.25;

/// What the claims rest on.
pub(super) const NEEDS: &[&[m::Metric]] =
    &[m::PATH, &[m::SECTORS, m::SECTORS_IDEAL, m::LOAD_SECTORS, m::LOAD_REQUESTS, m::READ_BYTES, m::WRITE_BYTES]];

/// How many times the ideal number of sectors.
pub(super) fn excess(subject: &Subject) -> f64 {
    subject.ratio(m::SECTORS, m::SECTORS_IDEAL)
}

/// Whether lanes take members out of structures. The source decides. Without it: structures of up to 32 bytes have several
/// lanes in a sector, and of larger ones DRAM delivers what nobody reads; a wrong order of the indices leaves the rest of
/// each sector in a cache for other warps.
pub(super) fn of_structures(subject: &Subject) -> bool {
    if let Some(hints) = subject.hints {
        return hints.members;
    }
    let (per_load, wasted) = (subject.ratio(m::LOAD_SECTORS, m::LOAD_REQUESTS), dram_excess(subject));
    per_load >= 5.0 && (wasted > EXCESS || (per_load < 30.0 && wasted > 1.25))
}

/// What both causes show: more sectors than needed, and a kernel that waits for memory.
pub(super) fn conditions(subject: &Subject) -> Vec<Condition> {
    let sectors = above(subject, m::SECTORS, EXCESS * subject.value(m::SECTORS_IDEAL));
    let busy = above(subject, busiest(subject), BUSY);
    let others = subject.other_stalls(m::STALL_DRAIN);
    let draining = above(subject, m::STALL_DRAIN, DRAINING / (1.0 - DRAINING) * others);
    vec![sectors, if !busy.holds() && draining.holds() { draining } else { busy }]
}

/// DRAM's bytes by those that are used.
fn dram_excess(subject: &Subject) -> f64 {
    let useful = subject.value(m::SECTORS_IDEAL) * 32.0;
    if useful > 0.0 { (subject.value(m::READ_BYTES) + subject.value(m::WRITE_BYTES)) / useful } else { 1.0 }
}

/// A sector that is touched in vain costs DRAM this much at most: it moves two sectors at a time, and one that is written in part is
/// fetched first.
const DRAM_BYTES: f64 = 128.0;

/// The speedup when every sector is used in full. What DRAM moves beside these accesses stays, in L2 as well: that of bulk copies, textures,
/// atomics.
pub(super) fn gain(subject: &Subject) -> f64 {
    let (load, excess) = (Load::of(subject), excess(subject).max(1.0));
    let (sectors, ideal) = (subject.value(m::SECTORS), subject.value(m::SECTORS_IDEAL));
    let moved = subject.value(m::READ_BYTES) + subject.value(m::WRITE_BYTES);
    let useful = (32.0 * ideal).min(moved);
    let wasted = (moved - useful).min(DRAM_BYTES * (sectors - ideal).max(0.0));
    let others = (moved - useful - wasted).max(0.0);
    let dram = if moved > 0.0 { load.dram * (useful + others) / moved } else { load.dram };
    let l2 = load.l2 * (32.0 * ideal + others) / (32.0 * sectors.max(ideal) + others).max(1.0);
    Load { dram, l2, l1: load.l1 / excess, ..load }.gain(subject)
}

/// The busiest part of the path to memory.
pub(super) fn busiest(subject: &Subject) -> m::Metric {
    let most = |one: m::Metric, other: m::Metric| if subject.value(one) >= subject.value(other) { one } else { other };
    most(m::L2, most(m::L1, m::DRAM))
}
