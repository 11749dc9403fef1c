//! What the two causes of low occupancy share: which resource bounds the blocks of an SM, and what more warps are worth.

use super::super::load::{Load, bounded};
use super::super::metric as m;
use super::super::rule::{Condition, above, below};
use super::super::subject::Subject;
use super::super::waits;
use super::at_roofline_tensor;

/// With half of its warps an SM usually hides latency.
const LOW: f64 = 50.0;

/// More warps do not help where a unit is this busy already.
const BUSY: f64 = 80.0;

/// What the claim rests on, beside the units and the cycles.
pub(super) const NEEDS: &[m::Metric] =
    &[m::LIMIT_BLOCKS, m::LIMIT_REGISTERS, m::LIMIT_SHARED, m::LIMIT_WARPS, m::THEORETICAL, m::ISSUE, m::WAVES];

/// The conditions of a limit, if it is the one that binds.
pub(super) fn conditions(subject: &Subject, limit: m::Metric) -> Vec<Condition> {
    // Warps that feed full tensor cores are enough.
    if at_roofline_tensor::RULE.holds(subject) {
        return Vec::new();
    }
    let (hidden, most) = waits::most_hidden(subject);
    vec![
        below(subject, limit, next(subject, limit)),
        below(subject, m::THEORETICAL, LOW),
        // Warps wait for what others would fill.
        above(subject, hidden, most).context(),
        below(subject, m::ISSUE, BUSY * subject.active()).context(),
        below(subject, super::coalescing::busiest(subject), BUSY).context(),
        below(subject, super::latency_dependent_loads::busiest_pipe(subject), BUSY * subject.active()).context(),
        // Blocks must be there to fill an SM further.
        above(subject, m::WAVES, 0.9).context(),
    ]
}

/// Whether registers and shared memory allow the same number of blocks. The claim is then made for shared memory.
pub(super) fn is_tie(subject: &Subject) -> bool {
    alike(subject) && !follows(subject)
}

fn alike(subject: &Subject) -> bool {
    subject.value(m::LIMIT_SHARED) == subject.value(m::LIMIT_REGISTERS)
}

/// Whether shared memory allows no more blocks than registers only because the driver set no more of it aside: it gives the rest to
/// the L1 cache where registers leave no room for more blocks.
fn follows(subject: &Subject) -> bool {
    let bytes = |metric| subject.reading(metric).map(|reading| reading.value);
    let more = bytes(m::SHARED_SET_ASIDE).zip(bytes(m::SHARED_MOST)).is_some_and(|(aside, most)| aside < most);
    alike(subject) && more
}

/// The least of the other limits; in a tie, of those that are not in it.
fn next(subject: &Subject, limit: m::Metric) -> f64 {
    let tied = |other: m::Metric| match limit == m::LIMIT_SHARED {
        true => other == m::LIMIT_REGISTERS && is_tie(subject),
        false => other == m::LIMIT_SHARED && follows(subject),
    };
    let others = [m::LIMIT_BLOCKS, m::LIMIT_REGISTERS, m::LIMIT_SHARED, m::LIMIT_WARPS].into_iter();
    others
        .filter(|other| *other != limit && !tied(other))
        .filter_map(|other| subject.reading(other))
        .map(|reading| reading.value)
        .fold(f64::INFINITY, f64::min)
}

/// What the next limit allows, by what the one that binds does.
fn room(subject: &Subject) -> f64 {
    let limits = [m::LIMIT_BLOCKS, m::LIMIT_REGISTERS, m::LIMIT_SHARED, m::LIMIT_WARPS];
    let limits = || limits.iter().filter_map(|limit| subject.reading(limit)).map(|reading| reading.value);
    let binding = limits().fold(f64::INFINITY, f64::min);
    let next = limits().filter(|limit| *limit > binding).fold(f64::INFINITY, f64::min);
    if next.is_finite() { next / binding.max(1.0) } else { 1.0 }
}

/// What the occupancy of the next limit is worth: as many times the warps, until a unit is busy.
pub(super) fn gain(subject: &Subject) -> f64 {
    let busiest = Load::of(subject).times(1.0 / subject.active()).busiest();
    let warps = (100.0 / subject.value(m::THEORETICAL).max(1.0)).min(room(subject));
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
    let (most, _) = waits::most_hidden(subject);
    format!(
        "Too few warps are there to hide latency: no unit is busier than {:.0} %, and warps spend {:.0} % of their time in waiting that others would fill, mostly for {}.",
        100.0 * Load::of(subject).busiest(),
        100.0 * waits::hidden_by_warps(subject),
        waits::meaning_of(most)
    )
}
