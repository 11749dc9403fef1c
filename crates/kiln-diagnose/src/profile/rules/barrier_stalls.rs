//! Warps wait for each other at barriers.

use super::super::cause::Bottleneck;
use super::super::load::Load;
use super::super::metric as m;
use super::super::rule::{Condition, Fix, Rule, above, below, fix};
use super::super::subject::Subject;

pub(super) const RULE: Rule =
    Rule { cause: Bottleneck::BarrierStalls, needs: &[m::WAITS, m::UNITS], conditions, gain, explain, fixes };

/// ncu calls a stall important from this share of a warp's time on.
const SHARE: f64 = 0.3;

/// Removing a barrier shows what waited behind it: more than this is not promised.
const MOST: f64 = 4.0;

fn conditions(subject: &Subject) -> Vec<Condition> {
    let others = subject.other_stalls(m::STALL_BARRIER);
    vec![above(subject, m::STALL_BARRIER, SHARE / (1.0 - SHARE) * others), below(subject, m::DRAM, 75.0).context()]
}

fn gain(subject: &Subject) -> f64 {
    let waiting = (1.0 / (1.0 - subject.stall(m::STALL_BARRIER)).max(0.01)).min(MOST);
    // Fewer barriers may mean fewer instructions; what DRAM moves and the pipes compute stays.
    waiting.min(Load::of(subject).essential().gain(subject))
}

fn explain(subject: &Subject) -> String {
    format!(
        "A warp spends {:.0} % of its time at __syncthreads(), {:.1} cycles for each instruction. \
         Blocks of {:.0} threads wait for their slowest warp, and {:.0} % of the issue slots are used.",
        100.0 * subject.stall(m::STALL_BARRIER),
        subject.value(m::STALL_BARRIER),
        subject.value(m::BLOCK),
        subject.value(m::ISSUE)
    )
}

fn fixes(_: &Subject, gain: f64) -> Vec<Fix> {
    vec![
        fix(
            "use fewer barriers",
            "reduce within a warp by shuffles and combine warps once: for (o = 16; o; o /= 2) v += __shfl_xor_sync(~0u, v, o); two buffers in shared memory save the second barrier",
            gain,
        ),
        fix(
            "spread the work between two barriers over all warps",
            "no if (threadIdx.x < 32) with long work: let every warp do a part, or give warps roles with barriers of their own (bar.sync id, count)",
            gain,
        ),
        fix("use smaller blocks", "128 or 256 threads: more blocks per SM have work while one waits", gain.sqrt()),
    ]
}
