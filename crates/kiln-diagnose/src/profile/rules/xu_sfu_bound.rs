//! Special functions and conversions keep their unit busy.

use super::super::cause::Bottleneck;
use super::super::load::Load;
use super::super::metric as m;
use super::super::rule::{Condition, Fix, Rule, above, below, fix};
use super::super::subject::Subject;

pub(super) const RULE: Rule =
    Rule { cause: Bottleneck::XuSfuBound, needs: &[&[m::XU, m::FP64], m::ACTIVE], conditions, gain, explain, fixes };

fn conditions(subject: &Subject) -> Vec<Condition> {
    // Conversions of doubles are counted in the same unit.
    vec![above(subject, m::XU, 50.0 * subject.active()), below(subject, m::FP64, 5.0).context()]
}

fn gain(subject: &Subject) -> f64 {
    Load { xu: 0.0, ..Load::of(subject) }.gain(subject)
}

fn explain(subject: &Subject) -> String {
    format!(
        "The XU unit (exp, log, sin, rsqrt, conversions between integer and float) is busy for {:.0} % of the time: it takes 16 lanes per cycle where the FP32 pipe takes 128. \
         That pipe is at {:.0} % and the schedulers at {:.0} %.",
        subject.value(m::XU),
        subject.value(m::FMA),
        subject.value(m::ISSUE)
    )
}

fn fixes(_: &Subject, gain: f64) -> Vec<Fix> {
    vec![
        fix(
            "compute fewer special functions",
            "hoist them out of the loop, use recurrences (exp(a + d) = exp(a) * exp(d)), tables in shared memory, or one division for several: r = 1 / (a * b)",
            gain,
        ),
        fix(
            "move a part to the FP32 pipe",
            "evaluate every second exp2 by range reduction and a polynomial of FMAs; convert small integers by __uint_as_float(0x4b000000u | v) - 8388608.0f",
            gain.sqrt(),
        ),
    ]
}
