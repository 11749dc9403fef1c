//! Special functions and conversions keep their unit busy.

use super::super::cause::Bottleneck;
use super::super::load::Load;
use super::super::metric as m;
use super::super::rule::{Condition, Fix, Rule, above, below, fix};
use super::super::subject::Subject;

pub(super) const RULE: Rule =
    Rule { cause: Bottleneck::XuSfuBound, needs: &[&[m::XU, m::FP64], m::ACTIVE], conditions, gain, explain, fixes };

/// A special function on full floats comes with a comparison and two multiplications at most.
const SCALING: f64 = 3.0;

fn conditions(subject: &Subject) -> Vec<Condition> {
    // Conversions of doubles are counted in the same unit.
    vec![above(subject, m::XU, 50.0 * subject.active()), below(subject, m::FP64, 5.0).context()]
}

/// Without any special function: neither they nor the instructions that scale their operands, of which the ALU's show how many there are. They can
/// seldom be removed altogether, so what is promised is the geometric mean of that and nothing.
fn gain(subject: &Subject) -> f64 {
    all_removed(subject).sqrt()
}

/// XU takes 16 lanes per cycle, the ALU 64, the FP32 pipe and the schedulers 128.
fn all_removed(subject: &Subject) -> f64 {
    let load = Load::of(subject);
    let scaling = (4.0 * load.alu / load.xu.max(0.01)).min(SCALING);
    let slots = load.xu / 8.0;
    let left = |load: f64, count: f64| (load - slots * count).max(0.0);
    let (issue, fma, alu) =
        (left(load.issue, 1.0 + 2.0 * scaling), left(load.fma, scaling), left(load.alu, 2.0 * scaling));
    Load { xu: 0.0, issue, fma, alu, ..load }.gain(subject)
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

fn fixes(subject: &Subject, gain: f64) -> Vec<Fix> {
    vec![
        fix(
            "compute fewer special functions",
            "hoist them out of the loop, use recurrences (exp(a + d) = exp(a) * exp(d)), tables in shared memory, or one division for several: r = 1 / (a * b)",
            all_removed(subject),
        ),
        fix(
            "move a part to the FP32 pipe",
            "evaluate every second exp2 by range reduction and a polynomial of FMAs; convert small integers by __uint_as_float(0x4b000000u | v) - 8388608.0f",
            gain,
        ),
    ]
}
