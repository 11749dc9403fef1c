//! Registers or arrays live in local memory.

use super::super::cause::Bottleneck;
use super::super::load::Load;
use super::super::metric as m;
use super::super::rule::{Condition, Fix, Rule, above, fix};
use super::super::subject::Subject;

pub(super) const RULE: Rule =
    Rule { cause: Bottleneck::RegisterSpillLocal, needs: &[NEEDS], conditions, gain, explain, fixes };

/// Local accesses are worth a look from this share of the instructions on.
const SHARE: f64 = 0.03;

/// What the claim rests on.
pub(super) const NEEDS: &[m::Metric] =
    &[m::LOCAL_LOADS, m::LOCAL_STORES, m::INSTRUCTIONS, m::SECTORS_LOCAL, m::SECTORS, m::READ_BYTES, m::WRITE_BYTES];

fn conditions(subject: &Subject) -> Vec<Condition> {
    vec![
        above(subject, m::LOCAL_LOADS, SHARE * subject.value(m::INSTRUCTIONS)),
        above(subject, m::SECTORS_LOCAL, 0.1 * subject.value(m::SECTORS)),
    ]
}

fn accesses(subject: &Subject) -> f64 {
    subject.value(m::LOCAL_LOADS) + subject.value(m::LOCAL_STORES)
}

/// The part of the sectors that is not local.
fn wanted(subject: &Subject) -> f64 {
    let (global, local) = (subject.value(m::SECTORS), subject.value(m::SECTORS_LOCAL));
    if global + local > 0.0 { global / (global + local) } else { 1.0 }
}

/// The part of DRAM's bytes that stays: what global accesses account for. Local memory that stays in L2 costs DRAM nothing.
fn wanted_of_dram(subject: &Subject) -> f64 {
    let moved = subject.value(m::READ_BYTES) + subject.value(m::WRITE_BYTES);
    let global = 32.0 * subject.value(m::SECTORS);
    if moved > 0.0 { (global / moved).min(1.0).max(wanted(subject)) } else { wanted(subject) }
}

fn gain(subject: &Subject) -> f64 {
    let (load, wanted) = (Load::of(subject), wanted(subject));
    let instructions = subject.value(m::INSTRUCTIONS).max(1.0);
    let kept = (1.0 - accesses(subject) / instructions).clamp(0.05, 1.0);
    let (dram, l2, l1) = (load.dram * wanted_of_dram(subject), load.l2 * wanted, load.l1 * wanted);
    Load { dram, l2, l1, lsu: load.lsu * wanted, issue: load.issue * kept, ..load }.gain(subject)
}

fn explain(subject: &Subject) -> String {
    let compiler = subject.resources.as_ref().map_or(String::new(), |own| {
        format!(
            "; ptxas reports {} bytes of spill stores, {} of spill loads and a stack frame of {} bytes",
            own.spill_stores, own.spill_loads, own.stack_bytes
        )
    });
    format!(
        "{:.0} % of the executed instructions read or write local memory, and {:.0} % of the sectors are local{compiler}. \
         With {:.0} registers per thread, values that belong in registers travel through L1 and L2 (L2 {:.0} % busy).",
        100.0 * accesses(subject) / subject.value(m::INSTRUCTIONS).max(1.0),
        100.0 * (1.0 - wanted(subject)),
        subject.value(m::REGISTERS),
        subject.value(m::L2)
    )
}

fn fixes(subject: &Subject, gain: f64) -> Vec<Fix> {
    let indexed = subject.resources.as_ref().is_some_and(|own| own.spill_stores == 0 && own.stack_bytes > 0);
    let bounds = fix(
        "give the kernel more registers",
        "raise or drop the second argument of __launch_bounds__(threads, blocks), or -maxrregcount; unroll less",
        gain,
    );
    let indices = fix(
        "index arrays with constants only",
        "#pragma unroll every loop over the array, so that float a[16] lives in registers; or move it to shared memory",
        gain,
    );
    if indexed { vec![indices, bounds] } else { vec![bounds, indices] }
}
