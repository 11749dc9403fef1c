//! Lanes of a warp want different words of one shared-memory bank.

use super::super::cause::Bottleneck;
use super::super::load::Load;
use super::super::metric as m;
use super::super::rule::{Condition, Fix, Rule, above, fix};
use super::super::subject::Subject;

pub(super) const RULE: Rule = Rule {
    cause: Bottleneck::SharedBankConflict,
    needs: &[&[m::SHARED_WAVEFRONTS, m::SHARED_WAVEFRONTS_IDEAL, m::WAVEFRONTS, m::CYCLES_ELAPSED, m::SMS]],
    conditions,
    gain,
    explain,
    fixes,
};

fn conditions(subject: &Subject) -> Vec<Condition> {
    // Lanes that update one word take turns, too: that is contention, and padding does not help.
    if subject.value(m::SHARED_ATOMIC_WAVEFRONTS) > 0.5 * subject.value(m::WAVEFRONTS) {
        return Vec::new();
    }
    let ideal = subject.value(m::SHARED_WAVEFRONTS_IDEAL);
    vec![
        above(subject, m::SHARED_WAVEFRONTS, 1.25 * ideal),
        // The stage that conflicts occupy must be busy for a good part of the time.
        above(subject, m::WAVEFRONTS, 30.0),
    ]
}

/// The share of the time that the additional wavefronts occupy L1's data stage, which takes one per cycle.
fn excess(subject: &Subject) -> f64 {
    let slots = subject.value(m::CYCLES_ELAPSED) * subject.sms();
    let more = subject.value(m::SHARED_WAVEFRONTS) - subject.value(m::SHARED_WAVEFRONTS_IDEAL);
    if slots > 0.0 { (more / slots).clamp(0.0, 1.0) } else { 0.0 }
}

fn gain(subject: &Subject) -> f64 {
    let load = Load::of(subject);
    Load { l1: (load.l1 - excess(subject)).max(load.lsu), ..load }.gain(subject)
}

fn explain(subject: &Subject) -> String {
    format!(
        "Shared memory is accessed in {:.1} times the wavefronts that are needed: lanes of a warp want different words of the same bank. \
         The additional ones occupy L1's data stage for {:.0} % of the time; in all it is busy for {:.0} %.",
        subject.ratio(m::SHARED_WAVEFRONTS, m::SHARED_WAVEFRONTS_IDEAL),
        100.0 * excess(subject),
        subject.value(m::WAVEFRONTS)
    )
}

fn fixes(_: &Subject, gain: f64) -> Vec<Fix> {
    vec![
        fix(
            "pad the rows of the shared array",
            "__shared__ float tile[32][32 + 1]; a column then lies in 32 banks",
            gain,
        ),
        fix(
            "change which lane reads which word",
            "swizzle: store element (r, c) at column c ^ (r % 32), or keep members in arrays of their own: s[k * blockDim.x + threadIdx.x]",
            gain,
        ),
    ]
}
