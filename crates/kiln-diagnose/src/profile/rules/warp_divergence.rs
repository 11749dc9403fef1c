//! Lanes of a warp take different branches.

use super::super::cause::Bottleneck;
use super::super::load::Load;
use super::super::metric as m;
use super::super::rule::{Condition, Fix, Rule, above, below, fix};
use super::super::subject::Subject;

pub(super) const RULE: Rule = Rule {
    cause: Bottleneck::WarpDivergence,
    needs: &[&[m::LANES, m::ISSUE], m::ACTIVE, m::WAITS],
    conditions,
    gain,
    explain,
    fixes,
};

/// Three quarters of a warp.
const LANES: f64 = 24.0;

fn conditions(subject: &Subject) -> Vec<Condition> {
    // One thread that works while a block waits for it is a matter of barriers.
    if subject.stall(m::STALL_BARRIER) > 0.5 {
        return Vec::new();
    }
    // Idle lanes cost time where instructions do.
    vec![below(subject, m::LANES, LANES), above(subject, m::ISSUE, 40.0 * subject.active()).context()]
}

/// With every lane at work there are as many times fewer instructions, and the time falls by no more. SMs without work stay without it.
fn gain(subject: &Subject) -> f64 {
    let used = (subject.value(m::LANES) / 32.0).clamp(0.03, 1.0);
    let load = Load::of(subject).times(1.0 / subject.active());
    let Load { dram, l2, l1, tensor, .. } = load;
    Load { dram, l2, l1, tensor, ..load.times(used) }.gain(subject).min(1.0 / used)
}

fn explain(subject: &Subject) -> String {
    format!(
        "An instruction is executed by {:.1} of 32 lanes on average, because lanes of a warp take different branches or run loops of different length. \
         The schedulers are busy for {:.0} % of the time, mostly with idle lanes.",
        subject.value(m::LANES),
        subject.value(m::ISSUE)
    )
}

fn fixes(_: &Subject, gain: f64) -> Vec<Fix> {
    vec![
        fix(
            "give a warp elements of one kind",
            "sort or bin elements by branch or by trip count first: thrust::sort_by_key(kind, kind + n, index), then i = index[thread]",
            gain,
        ),
        fix(
            "compact the elements that need the long branch",
            "append their indices to a list with one atomicAdd per warp, and run the long branch over the list",
            gain,
        ),
    ]
}
