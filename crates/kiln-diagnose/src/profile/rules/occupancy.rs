//! What the two causes of low occupancy share: which resource bounds the blocks of an SM, and what more warps are worth.

use super::super::load::{Load, bounded};
use super::super::metric as m;
use super::super::rule::{Condition, above, below};
use super::super::subject::Subject;

/// With half of its warps an SM usually hides latency.
const LOW: f64 = 50.0;

/// More warps do not help where a unit is this busy already.
const BUSY: f64 = 80.0;

/// What the claim rests on, beside the path to memory and the cycles.
pub(super) const NEEDS: &[m::Metric] =
    &[m::LIMIT_BLOCKS, m::LIMIT_REGISTERS, m::LIMIT_SHARED, m::LIMIT_WARPS, m::THEORETICAL, m::ISSUE, m::WAVES];

/// The conditions of a limit, if it is the one that binds.
pub(super) fn conditions(subject: &Subject, limit: m::Metric) -> Vec<Condition> {
    let others = [m::LIMIT_BLOCKS, m::LIMIT_REGISTERS, m::LIMIT_SHARED, m::LIMIT_WARPS];
    let least = others.into_iter().filter(|other| *other != limit).filter_map(|other| subject.reading(other));
    let Some(least) = least.map(|reading| reading.value).reduce(f64::min) else { return Vec::new() };
    vec![
        below(subject, limit, least),
        below(subject, m::THEORETICAL, LOW),
        below(subject, m::ISSUE, BUSY * subject.active()).context(),
        below(subject, super::coalescing::busiest(subject), BUSY).context(),
        // Blocks must be there to fill an SM further.
        above(subject, m::WAVES, 0.9).context(),
    ]
}

/// What full occupancy is worth: as many times the warps, until a unit is busy.
pub(super) fn gain(subject: &Subject) -> f64 {
    let busiest = Load::of(subject).times(1.0 / subject.active()).busiest();
    let warps = 100.0 / subject.value(m::THEORETICAL).max(1.0);
    bounded(warps.min(0.9 / busiest.max(1e-3)), subject)
}

/// How many blocks and warps there are.
pub(super) fn told(subject: &Subject, limit: m::Metric) -> String {
    format!(
        "allows {:.0} blocks of {:.0} threads per SM, which is an occupancy of {:.0} %",
        subject.value(limit),
        subject.value(m::BLOCK),
        subject.value(m::THEORETICAL)
    )
}

/// Why that matters.
pub(super) fn matters(subject: &Subject) -> String {
    format!(
        "Too few warps are there to hide latency: no unit is busier than {:.0} %, and warps wait for memory in {:.0} % of the cases.",
        100.0 * Load::of(subject).busiest(),
        100.0 * subject.stall(m::STALL_LONG)
    )
}
