//! Many threads update the same few addresses.

use super::super::cause::Bottleneck;
use super::super::load::Load;
use super::super::metric as m;
use super::super::rule::{Condition, Fix, Rule, above, fix};
use super::super::subject::Subject;

pub(super) const RULE: Rule =
    Rule { cause: Bottleneck::AtomicContention, needs: &[NEEDS], conditions, gain, explain, fixes };

/// The busiest slice of L2 spends this much of the time on atomics.
const BUSY: f64 = 30.0;

fn in_shared(subject: &Subject) -> bool {
    subject.value(m::SHARED_ATOMIC_WAVEFRONTS) > subject.value(m::ATOMIC_BUSIEST)
}

/// What the claim rests on.
pub(super) const NEEDS: &[m::Metric] = &[m::SHARED_ATOMIC_WAVEFRONTS, m::ATOMIC_BUSIEST, m::DRAM];

fn conditions(subject: &Subject) -> Vec<Condition> {
    let (shared, global) = (above(subject, m::SHARED_ATOMIC_WAVEFRONTS, BUSY), above(subject, m::ATOMIC_BUSIEST, BUSY));
    match (shared.holds() && global.holds(), in_shared(subject)) {
        (true, true) => vec![shared, global],
        (true, false) => vec![global, shared],
        (false, true) => vec![shared],
        (false, false) => vec![global],
    }
}

/// Updates that are combined before they reach memory cost next to nothing; the rest of the work stays.
fn gain(subject: &Subject) -> f64 {
    let mut load = Load::of(subject);
    let busy: Vec<&str> = conditions(subject).iter().map(|own| own.metric).collect();
    if m::SHARED_ATOMIC_WAVEFRONTS.iter().any(|name| busy.contains(name)) {
        load.l1 = (load.l1 - subject.share(m::SHARED_ATOMIC_WAVEFRONTS)).max(0.0);
    }
    if m::ATOMIC_BUSIEST.iter().any(|name| busy.contains(name)) {
        // What L2 does beside atomics is what it passes on: to DRAM.
        (load.l2, load.l1) = (load.dram, load.l1.min(load.dram));
    }
    load.gain(subject)
}

fn explain(subject: &Subject) -> String {
    if in_shared(subject) {
        return format!(
            "Atomics on shared memory occupy its data stage for {:.0} % of the time, because lanes of a warp update the same words one after another. \
             {:.0} atomic instructions were executed.",
            subject.value(m::SHARED_ATOMIC_WAVEFRONTS),
            subject.value(m::SHARED_ATOMICS)
        );
    }
    format!(
        "One slice of L2 is busy with atomics for {:.0} % of the time while DRAM is at {:.1} %: the updates go to a few addresses, which lie in it. \
         Warps wait for them: {:.0} sectors of atomics and reductions in {:.0} us.",
        subject.value(m::ATOMIC_BUSIEST),
        subject.value(m::DRAM),
        subject.value(m::ATOMIC_SECTORS) + subject.value(m::REDUCTION_SECTORS),
        subject.micros()
    )
}

fn fixes(_: &Subject, gain: f64) -> Vec<Fix> {
    vec![
        fix(
            "combine within the block first",
            "reduce by shuffles and shared memory, then one atomicAdd per block; for histograms a copy in shared memory per block or warp: atomicAdd(&bins[key], 1) on __shared__ bins, added to global memory at the end",
            gain,
        ),
        fix(
            "combine within the warp",
            "lanes with the same key: mask = __match_any_sync(~0u, key); its lowest lane adds __popc(mask)",
            gain.sqrt(),
        ),
    ]
}
