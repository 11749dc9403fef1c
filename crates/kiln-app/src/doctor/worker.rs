//! A worker: does it start, answer, load a library and call it?

use std::process::Command;
use std::time::Duration;

use crate::doctor::Finding;
use kiln_build::SHIM_SYMBOL;
use kiln_core::{Fault, Outcome};
use kiln_run::{Answer, Arena, Ask, MappedSlot, Worker, WorkerLimits};

use crate::doctor::build::{ANSWER, Built};

const ID: &str = "worker";
const WHY: &str = "candidates run in a process of their own, so that a crash costs one worker and not the study";
const FIX: &str = "see that kiln may start itself and libraries may be run here (no `noexec` mount, no seccomp rule)";

/// Starts one, and has it call what was built.
pub(crate) fn look(built: Option<&Built>) -> Finding {
    match answered(built) {
        Ok(what) => Finding::ok(ID, WHY, what),
        Err(fault) => {
            Finding::fail(ID, WHY, format!("{}: {}", fault.what, fault.why), fault.hint.unwrap_or(FIX.into()))
        }
    }
}

fn answered(built: Option<&Built>) -> Result<&'static str, Fault> {
    let fault = |why: String| Fault::new("trying a worker", why);
    let program = std::env::current_exe().map_err(|e| fault(e.to_string()))?;
    let mut command = Command::new(program);
    command.args(["worker", "cpu"]);
    let limits = WorkerLimits { time: Duration::from_secs(5), ..WorkerLimits::default() };
    let mut worker = Worker::start(command, limits)?;
    let Some(built) = built else { return Ok("starts and answers; there was no library to load") };
    let (arena, regions) = Arena::new(&[size_of::<i64>()])?;
    let slots =
        regions.iter().map(|r| MappedSlot { offset: r.start, bytes: r.len(), ..MappedSlot::default() }).collect();
    let load =
        Ask::Load { library: built.library.to_string(), symbol: SHIM_SYMBOL.into(), config: None, device: false };
    for ask in [load, Ask::map(&arena, slots), Ask::Call] {
        match worker.ask(ask)? {
            Outcome::Passed(Answer::Done) => {}
            Outcome::Passed(Answer::Failed(failed)) => return Err(fault(failed.words)),
            Outcome::Passed(other) => return Err(fault(format!("it answered {other:?}"))),
            Outcome::Refused(refusal) => return Err(fault(format!("{} {}", refusal.measured, refusal.evidence))),
        }
    }
    let written = regions.first().and_then(|r| arena.bytes().get(r.clone()));
    if written == Some(&ANSWER.to_ne_bytes()[..]) {
        return Ok("starts, loads the library and calls it");
    }
    Err(fault("the function was called and its answer is not in shared memory".into()))
}
