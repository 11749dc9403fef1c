//! A diagnosis without counters. In: something that is built, and a workload. Out: what its machine code and the compiler say, beside its measured
//! time and what the machine can do. A wrong answer is told, and leaves the time unknown; what crashes, hangs or cannot be called is refused.

use kiln_core::{Gate, Outcome, Refusal, Workload};
use kiln_diagnose::coarse::{
    CoarseDiagnosis, GpuFacts, HotLoop, Position, ProcessorFacts, hot_loop, of_gpu, of_processor,
};
use kiln_formats::Invalidity;
use kiln_judge::geometry;
use kiln_study::{Bench, Kernel, Placed, Resources, Subject, judge_resources};

use super::disassembly::{disassembled, vector_bits};
use super::{Examined, FoundLimit};
use crate::failure::Failure;
use crate::record::recording::invalidity;

/// On a processor.
pub(super) fn on_processor<'a>(
    bench: &mut Bench<'a>,
    subject: &Subject,
    workload: Option<&'a Workload>,
) -> Result<Examined, Failure> {
    let (position, refusal, mut notes) = match position(bench, subject, workload)? {
        Stands::Somewhere(position, refusal, notes) => (position, refusal, notes),
        Stands::Refused(refusal) => return Ok(Examined { refusal: Some(refusal), ..Examined::default() }),
    };
    bench.go_on()?;
    let looked = hot(bench, subject, workload)?;
    let hot_loop = match looked {
        Ok(found) => {
            if found.as_ref().is_some_and(|hot| hot.share.is_none()) {
                notes.push("where calls spend their time could not be seen: the hot loop is a guess, and no cause in it is named".into());
            }
            if found.is_none() {
                notes.push("the library has no loop of its own: the diagnosis rests on the measured time".into());
            }
            found
        }
        Err(why) => {
            notes.push(why);
            None
        }
    };
    notes.extend(hot_loop.as_ref().and_then(HotLoop::elsewhere_told));
    let (kernel, vector_bits) = (bench.kernel.name().to_string(), vector_bits());
    let found = of_processor(&ProcessorFacts { kernel, position, hot_loop, vector_bits });
    Ok(examined(found, refusal, notes))
}

/// On a GPU whose counters cannot be had.
pub(super) fn on_gpu<'a>(
    bench: &mut Bench<'a>,
    subject: &Subject,
    workload: Option<&'a Workload>,
) -> Result<Examined, Failure> {
    let (position, refusal, notes) = match position(bench, subject, workload)? {
        Stands::Somewhere(position, refusal, notes) => (position, refusal, notes),
        Stands::Refused(refusal) => return Ok(Examined { refusal: Some(refusal), ..Examined::default() }),
    };
    let kernel = bench.kernel;
    let resources = match judge_resources(kernel, subject)? {
        Outcome::Passed(resources) => resources,
        Outcome::Refused(refusal) => return Ok(Examined { refusal: Some(refusal), notes, ..Examined::default() }),
    };
    // Where a call launches several, the one that leaves most of the device idle.
    let least = resources.iter().min_by(|a, b| a.occupancy.total_cmp(&b.occupancy));
    let facts = GpuFacts {
        kernel: least.map_or_else(|| kernel.name().to_string(), |own| own.kernel.clone()),
        position,
        blocks: blocks(kernel, subject, workload, least),
        sms: bench.gpu.as_ref().map(|gpu| f64::from(gpu.sms)),
        blocks_per_sm: least.map(|own| f64::from(own.blocks_per_sm)),
        occupancy: least.map(|own| own.occupancy),
        limited_by: least.map(|own| own.limited_by.clone()).unwrap_or_default(),
        spilled_bytes: least.map(|own| own.spilled_bytes as f64),
        tensor: kernel.selection.variant.iter().any(|(_, dtype)| dtype.bytes() <= 2),
    };
    Ok(examined(of_gpu(&facts), refusal, notes))
}

fn examined(found: CoarseDiagnosis, refusal: Option<Refusal>, notes: Vec<String>) -> Examined {
    Examined { found: Some(FoundLimit::Coarse(Box::new(found))), refusal, notes, ..Examined::default() }
}

/// How a subject stands.
enum Stands {
    /// Its time and where that is under the roofs; what was wrong with its answer; what is to be noted.
    Somewhere(Position, Option<Refusal>, Vec<String>),
    /// It has no time, because it does not come to an end.
    Refused(Refusal),
}

/// Whether a refusal is about the answer of calls that end: such a kernel has a time that goes somewhere.
fn about_the_answer(gate: Gate) -> bool {
    invalidity(gate) == Invalidity::Correctness
}

fn position<'a>(bench: &mut Bench<'a>, subject: &Subject, workload: Option<&'a Workload>) -> Result<Stands, Failure> {
    let mut notes = Vec::new();
    let placed = match bench.placed(workload, subject)? {
        Outcome::Passed(placed) => placed,
        Outcome::Refused(refusal) if !about_the_answer(refusal.gate) => return Ok(Stands::Refused(refusal)),
        Outcome::Refused(refusal) => {
            notes.push(format!("it was not measured: refused by {}: {}", refusal.gate, refusal.measured));
            return Ok(Stands::Somewhere(Position::default(), Some(refusal), notes));
        }
    };
    if !placed.stated && placed.memory.is_some() {
        notes.push("[cost] states no bytes: every argument counts as moved once".into());
    } else if placed.memory.is_none() && placed.compute.is_none() {
        notes.push("the kernel file states no [cost]: how far it is from what the machine can do is not known".into());
    }
    let Placed { seconds, memory, compute, flops, .. } = placed;
    let position = Position { seconds: Some(seconds), memory, compute, flops };
    notes.extend(position.doubt());
    Ok(Stands::Somewhere(position, None, notes))
}

/// The hot loop of a library; none for Python. An inner error says why it is not known.
fn hot<'a>(
    bench: &Bench<'a>,
    subject: &Subject,
    workload: Option<&'a Workload>,
) -> Result<Result<Option<HotLoop>, String>, Failure> {
    let Subject::Library { path, .. } = subject else {
        return Ok(Err("only the code of C kernels is looked at: the diagnosis rests on the measured time".into()));
    };
    let functions = match disassembled(path) {
        Ok(functions) => functions,
        Err(why) => return Ok(Err(why)),
    };
    let mut stage = bench.one_question(workload, super::PHASE)?;
    let places = match bench.places(&mut stage, subject)? {
        Outcome::Passed(places) => places,
        Outcome::Refused(refusal) => {
            bench.note(format!("looking where calls spend their time: {}, {}", refusal.gate, refusal.measured));
            Vec::new()
        }
    };
    Ok(Ok(hot_loop(&functions, &places)))
}

/// Blocks of the launch that resources are of.
fn blocks(kernel: &Kernel<'_>, subject: &Subject, workload: Option<&Workload>, of: Option<&Resources>) -> Option<f64> {
    let Subject::Cubin { config, .. } = subject else { return None };
    let launches = geometry(&kernel.selection, workload, config).ok()?;
    let own = launches.iter().find(|launch| of.is_some_and(|of| of.kernel == launch.entry))?;
    Some(own.grid.iter().map(|side| f64::from(*side)).product())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_does_not_end_has_no_diagnosis() {
        for gate in [Gate::RuntimeFailed, Gate::Timeout, Gate::LaunchFailed, Gate::HostOom, Gate::ForbiddenCall] {
            assert!(!about_the_answer(gate), "{gate}");
        }
        for gate in [Gate::Numerics, Gate::Nonfinite, Gate::OutOfBounds, Gate::Nondeterministic] {
            assert!(about_the_answer(gate), "{gate}");
        }
    }
}
