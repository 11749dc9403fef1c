//! The FP32 units are used up.

use super::super::cause::Bottleneck;
use super::super::metric as m;
use super::super::rule::{Condition, Fix, Rule, above, below, fix};
use super::super::subject::Subject;
use super::tensor_core_unused::{PRODUCT, is_known_product};

pub(super) const RULE: Rule = Rule {
    cause: Bottleneck::AtRooflineFp32,
    needs: &[PRODUCT, &[m::FMA, m::LANES, m::FP64, m::ISSUE], m::ACTIVE],
    conditions,
    gain,
    explain,
    fixes,
};

/// The pipe is this busy while SMs have work: beyond, schedulers and registers are in the way.
pub(super) const BUSY: f64 = 70.0;

fn conditions(subject: &Subject) -> Vec<Condition> {
    if is_known_product(subject) {
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
    (0.95 / share.max(0.01)).max(1.0)
}

/// What a roof means: below it what is left, at it nothing.
pub(super) fn left(gain: f64, rest: &str, remedy: &str) -> String {
    match gain <= FULL {
        true => format!("This is the roofline: only {remedy} the kernel faster."),
        false => format!(
            "This is close to the roofline: up to {gain:.2}x is left to it, {rest}; beyond, only {remedy} the kernel faster."
        ),
    }
}

/// Promises of no more than this are nothing left.
pub(super) const FULL: f64 = 1.05;

fn gain(subject: &Subject) -> f64 {
    // SMs without work are another matter.
    remaining(subject.share(m::FMA).max(subject.share(m::ISSUE)) / subject.active())
}

fn explain(subject: &Subject) -> String {
    format!(
        "The FP32 pipe is busy for {:.0} % of the time with {:.1} of 32 lanes, and the schedulers issue in {:.0} % of the cycles. \
         {}",
        subject.value(m::FMA),
        subject.value(m::LANES),
        subject.value(m::ISSUE),
        left(gain(subject), "with fewer other instructions and more independent ones", "fewer operations make")
    )
}

fn fixes(_: &Subject, gain: f64) -> Vec<Fix> {
    let less = fix(
        "stop here, or compute less",
        "fuse multiply and add (a * b + c), hoist what does not change, use a cheaper formula; products of matrices belong on tensor cores",
        gain.min(FULL),
    );
    let fill = fix(
        "fill the pipe",
        "unroll, so that each thread has several independent sums; hoist index arithmetic and conversions out of the inner loop",
        gain,
    );
    if gain > FULL { vec![fill, less] } else { vec![less] }
}
