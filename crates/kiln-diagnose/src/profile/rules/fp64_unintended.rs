//! Float code computes in double precision.

use super::super::cause::Bottleneck;
use super::super::load::Load;
use super::super::metric as m;
use super::super::rule::{Condition, Fix, Rule, above, fix};
use super::super::subject::Subject;

pub(super) const RULE: Rule =
    Rule { cause: Bottleneck::Fp64Unintended, needs: &[&[m::FP64], m::ACTIVE], conditions, gain, explain, fixes };

/// A kernel that computes in float does nothing at all in this pipe.
const BUSY: f64 = 5.0;

/// Conversions take one of eight issue slots when their unit is full: 16 lanes per cycle of 128.
const XU_SLOTS: f64 = 0.125;

fn conditions(subject: &Subject) -> Vec<Condition> {
    vec![above(subject, m::FP64, BUSY * subject.active())]
}

/// With less in XU, by what FP64 does, code computes in double from end to end.
const CONVERTS: f64 = 0.5;

/// In float there are no conversions, and the FP32 pipe is twice as wide. Code with few conversions computes in double from end to end: its
/// functions and divisions take about half the instructions in float.
fn gain(subject: &Subject) -> f64 {
    let load = Load::of(subject);
    let throughout = load.xu < CONVERTS * load.fp64;
    let issue = (load.issue - XU_SLOTS * load.xu).max(0.0) * if throughout { 0.5 } else { 1.0 };
    Load { fp64: 0.0, xu: 0.0, fma: load.fma + load.fp64 / 2.0, issue, ..load }.gain(subject)
}

fn explain(subject: &Subject) -> String {
    let ops: f64 = [m::DADD, m::DMUL, m::DFMA].iter().map(|metric| subject.value(metric)).sum();
    let busy = subject.value(m::FP64);
    let pipe = format!(
        "The FP64 pipe is busy for {busy:.0} % of the time and executes {ops:.0} thread instructions per cycle."
    );
    match subject.reading(m::XU) {
        Some(xu) if xu.value < CONVERTS * busy => {
            format!("{pipe} There are few conversions beside it: the code computes in double from end to end.")
        }
        Some(xu) => format!(
            "{pipe} Conversions between float and double keep the XU unit at {:.0} %: a literal or a function promotes float values.",
            xu.value
        ),
        None => pipe,
    }
}

fn fixes(subject: &Subject, gain: f64) -> Vec<Fix> {
    let literals =
        fix("write float literals", "0.5f instead of 0.5: one double operand makes the whole expression double", gain);
    let functions = fix(
        "call the float functions, and keep sums in float",
        "sqrtf, expf, powf or std::sqrt(float); float sum = 0.0f; where a double sum is needed, add per-thread floats to it once",
        gain,
    );
    let throughout = subject.reading(m::XU).is_some_and(|xu| xu.value < CONVERTS * subject.value(m::FP64));
    if throughout { vec![functions, literals] } else { vec![literals, functions] }
}
