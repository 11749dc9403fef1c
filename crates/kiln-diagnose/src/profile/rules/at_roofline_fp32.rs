//! The FP32 units are used up.

use super::super::cause::Bottleneck;
use super::super::metric as m;
use super::super::rule::{Condition, Fix, Rule, above, below, fix};
use super::super::subject::Subject;
use super::tensor_core_unused::{PRODUCT, is_product};

pub(super) const RULE: Rule = Rule {
    cause: Bottleneck::AtRooflineFp32,
    needs: &[PRODUCT, &[m::FMA, m::LANES, m::FP64, m::ISSUE], m::ACTIVE],
    conditions,
    gain,
    explain,
    fixes,
};

/// At the roofline no more than this is promised.
const MOST: f64 = 1.05;

/// The pipe is this busy while SMs have work: beyond, schedulers and registers are in the way.
pub(super) const BUSY: f64 = 70.0;

fn conditions(subject: &Subject) -> Vec<Condition> {
    if is_product(subject) {
        return Vec::new();
    }
    vec![
        above(subject, m::FMA, BUSY * subject.active()),
        above(subject, m::LANES, 24.0).context(),
        below(subject, m::FP64, 5.0).context(),
    ]
}

/// What is left up to 95 % of a peak.
pub(super) fn remaining(share: f64) -> f64 {
    (0.95 / share.max(0.01)).clamp(1.0, MOST)
}

fn gain(subject: &Subject) -> f64 {
    remaining(subject.share(m::FMA).max(subject.share(m::ISSUE)))
}

fn explain(subject: &Subject) -> String {
    format!(
        "The FP32 pipe is busy for {:.0} % of the time with {:.1} of 32 lanes, and the schedulers issue in {:.0} % of the cycles. \
         This is the roofline: only fewer operations make the kernel faster.",
        subject.value(m::FMA),
        subject.value(m::LANES),
        subject.value(m::ISSUE)
    )
}

fn fixes(_: &Subject, gain: f64) -> Vec<Fix> {
    vec![fix(
        "stop here, or compute less",
        "fuse multiply and add (a * b + c), hoist what does not change, use a cheaper formula; products of matrices belong on tensor cores",
        gain,
    )]
}
