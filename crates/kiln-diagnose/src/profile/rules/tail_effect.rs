//! Most SMs wait for the last blocks.

use super::super::cause::Bottleneck;
use super::super::load::{Load, bounded};
use super::super::metric as m;
use super::super::rule::{Condition, Fix, Rule, above, below, fix};
use super::super::subject::Subject;
use super::launch_bound::SHORT_NS;

pub(super) const RULE: Rule = Rule {
    cause: Bottleneck::TailEffect,
    needs: &[m::ACTIVE, &[m::GRID, m::SMS, m::DURATION, m::WAVES]],
    conditions,
    gain,
    explain,
    fixes,
};

/// The average SM has work for less of the time: beyond that it is the ramp of any launch.
const ACTIVE: f64 = 0.85;

fn conditions(subject: &Subject) -> Vec<Condition> {
    vec![
        below(subject, m::CYCLES_ACTIVE, ACTIVE * subject.value(m::CYCLES_ELAPSED)),
        above(subject, m::GRID, subject.sms() - 1.0).context(),
        above(subject, m::DURATION, SHORT_NS).context(),
    ]
}

/// SMs that all have work to the end, until a unit that they share is full.
fn gain(subject: &Subject) -> f64 {
    bounded((1.0 / subject.active()).min(1.0 / Load::of(subject).busiest().max(0.01)), subject)
}

fn explain(subject: &Subject) -> String {
    let waves = subject.value(m::WAVES);
    let why = if waves < 4.0 {
        format!("{:.0} blocks make {waves:.2} waves, and the last one leaves SMs empty", subject.value(m::GRID))
    } else {
        "some blocks have far more work than others".to_owned()
    };
    format!(
        "The average SM has work for {:.0} % of the kernel's time, the least used for {:.0} %: {why}. \
         The others wait for the last blocks of {:.0}.",
        100.0 * subject.active(),
        100.0 * subject.ratio(m::CYCLES_ACTIVE_LEAST, m::CYCLES_ELAPSED),
        subject.value(m::GRID)
    )
}

fn fixes(subject: &Subject, gain: f64) -> Vec<Fix> {
    let even = fix(
        "make blocks smaller, or as many as fit at once",
        "split each block's work in four or more, or launch a persistent grid of SMs x blocks per SM that loops: for (tile = blockIdx.x; tile < tiles; tile += gridDim.x)",
        gain,
    );
    let balance = fix(
        "balance the work",
        "start the longest pieces first, cut them into pieces of one size, or take them from a queue: tile = atomicAdd(&next, 1)",
        gain,
    );
    if subject.value(m::WAVES) < 4.0 { vec![even, balance] } else { vec![balance, even] }
}
