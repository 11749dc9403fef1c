//! There are too few blocks for the device.

use super::super::cause::Bottleneck;
use super::super::load::{Load, bounded};
use super::super::metric as m;
use super::super::rule::{Condition, Fix, Rule, above, below, fix};
use super::super::subject::Subject;
use super::launch_bound::SHORT_NS;

pub(super) const RULE: Rule = Rule {
    cause: Bottleneck::SmallGrid,
    needs: &[&[m::GRID, m::SMS, m::DURATION, m::BLOCK, m::THEORETICAL]],
    conditions,
    gain,
    explain,
    fixes,
};

fn conditions(subject: &Subject) -> Vec<Condition> {
    vec![below(subject, m::GRID, subject.sms()), above(subject, m::DURATION, SHORT_NS).context()]
}

/// As many times the warps as the device holds, until a unit is busy.
fn gain(subject: &Subject) -> f64 {
    let warps = (subject.value(m::GRID) * (subject.value(m::BLOCK) / 32.0).ceil()).max(1.0);
    let full = subject.sms() * 64.0 * (subject.value(m::THEORETICAL) / 100.0).clamp(0.05, 1.0);
    bounded((full / warps).min(Load::of(subject).gain(subject)), subject)
}

fn explain(subject: &Subject) -> String {
    let (grid, sms) = (subject.value(m::GRID), subject.sms());
    let blocks =
        format!("The grid has {grid:.0} blocks for {sms:.0} SMs, so {:.0} SMs never have work.", (sms - grid).max(0.0));
    if !subject.has_units() {
        return blocks;
    }
    let busiest = 100.0 * Load::of(subject).busiest();
    let micros = subject.micros();
    format!("{blocks} In the {micros:.0} us of a launch no unit is busier than {busiest:.1} % of the device's peak.")
}

fn fixes(subject: &Subject, gain: f64) -> Vec<Fix> {
    vec![
        fix(
            "use more blocks",
            &format!(
                "launch a multiple of {:.0} blocks: smaller tiles, or several blocks per row, image or matrix",
                subject.sms()
            ),
            gain,
        ),
        fix(
            "split the longest loop over blocks",
            "split-K: each block sums a part, then a second kernel or one atomicAdd per block combines them",
            gain,
        ),
    ]
}
