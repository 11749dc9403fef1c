//! Each load waits for the one before.

use super::super::cause::Bottleneck;
use super::super::load::Load;
use super::super::metric as m;
use super::super::rule::{Condition, Fix, Rule, above, below, fix};
use super::super::subject::Subject;
use super::launch_bound::SHORT_NS;
use super::tensor_core_unused::PRODUCT;
use super::{atomic_contention, narrow_loads, register_spill_local};

pub(super) const RULE: Rule =
    Rule { cause: Bottleneck::LatencyDependentLoads, needs: NEEDS, conditions, gain, explain, fixes };

/// Loads that were overlapped by hand rarely gain more than this.
const MOST: f64 = 4.0;

/// SMs have work for at least this share of the time. Below, most warps are gone while the last blocks run, and nobody hides what those wait for.
const WORKING: f64 = 2.0 / 3.0;

/// What the claim rests on: also what shows that no neighbouring cause applies.
const NEEDS: &[&[m::Metric]] = &[
    m::WAITS,
    m::UNITS,
    m::ACTIVE,
    &[m::THEORETICAL, m::GRID, m::SMS, m::DURATION],
    atomic_contention::NEEDS,
    narrow_loads::NEEDS,
    PRODUCT,
    register_spill_local::NEEDS,
];

fn conditions(subject: &Subject) -> Vec<Condition> {
    // These make warps wait for memory, too, and say why.
    if narrow_loads::is_narrow(subject)
        || [atomic_contention::RULE, register_spill_local::RULE].iter().any(|rule| rule.holds(subject))
    {
        return Vec::new();
    }
    let others = subject.other_stalls(m::STALL_LONG);
    let active = subject.active();
    vec![
        // Warps wait for memory in most of their time, and nothing is busy.
        above(subject, m::STALL_LONG, others),
        below(subject, super::coalescing::busiest(subject), 65.0 * active).context(),
        below(subject, m::ISSUE, 40.0 * active).context(),
        below(subject, busiest_pipe(subject), 65.0 * active).context(),
        // Neither the launch nor a resource keeps warps away.
        above(subject, m::THEORETICAL, 49.9).context(),
        above(subject, m::GRID, subject.sms() - 1.0).context(),
        above(subject, m::DURATION, SHORT_NS).context(),
        above(subject, m::CYCLES_ACTIVE, WORKING * subject.value(m::CYCLES_ELAPSED)).context(),
    ]
}

/// The busiest unit of an SM.
pub(super) fn busiest_pipe(subject: &Subject) -> m::Metric {
    let pipes = [m::FMA, m::ALU, m::FP64, m::XU].into_iter().chain(m::TENSOR_PATHS.iter().copied());
    let most = |one: m::Metric, other: m::Metric| if subject.value(other) > subject.value(one) { other } else { one };
    pipes.reduce(most).unwrap_or(m::FMA)
}

fn gain(subject: &Subject) -> f64 {
    Load::of(subject).times(1.0 / subject.active()).gain(subject).min(MOST)
}

fn explain(subject: &Subject) -> String {
    format!(
        "A warp waits {:.0} cycles per instruction for global memory, {:.0} % of its time, and no unit is busier than {:.0} %. \
         Loads depend on each other, so only the warps of an SM overlap them: {:.0} % of its places are taken.",
        subject.value(m::STALL_LONG),
        100.0 * subject.stall(m::STALL_LONG),
        100.0 * Load::of(subject).busiest(),
        subject.value(m::ACHIEVED)
    )
}

fn fixes(_: &Subject, gain: f64) -> Vec<Fix> {
    vec![
        fix(
            "keep several independent loads in flight per thread",
            "walk four chains in step: for (...) for (l = 0; l < 4; l++) p[l] = next[p[l]]; or load the next iteration's values before using this one's",
            gain,
        ),
        fix(
            "make the data flat or small",
            "replace pointers by indices into an array in visiting order; copy what is walked often to shared memory",
            gain,
        ),
        fix(
            "run more threads",
            "smaller blocks of work per thread, so that the SMs have more warps to switch between",
            gain.sqrt(),
        ),
    ]
}
