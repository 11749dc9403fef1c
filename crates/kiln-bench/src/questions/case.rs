//! Single cases: a shape of any size, one kind of inputs, a seed. In: a subject and a case. Out: whether it is right there, by
//! the same questions and gates as a check; or why the case cannot be asked about.

use std::time::Duration;

use kiln_core::{Config, Fault, Outcome, Refusal, Workload};
use kiln_judge::{Coverage, FuzzCase, Work, workload_of};

use crate::bench::{Bench, ROOM};
use crate::building::resources::judge_resources;
use crate::questions::check::on_one;
use crate::questions::reference::DeviceReference;
use crate::questions::stage::{Stage, Trouble};
use crate::workers::subject::Subject;

/// Questions of a case, each with numbers of its own: one for either edge of every argument to be guarded.
const QUESTIONS: usize = 2;
/// Further calls on each that must give the same answer.
const RERUNS: usize = 1;
/// A call on a small shape that takes longer hangs.
const PATIENCE: Duration = Duration::from_secs(20);
/// Up to how much work a shape is small.
const SMALL: f64 = 1e9;

/// How a case went.
#[derive(Debug, Clone, PartialEq)]
pub enum Tried {
    /// Every answer was right.
    Passed,
    /// One was not.
    Refused(Refusal),
    /// It was not asked, and why: it makes no sense for this kernel.
    Excluded(String),
    /// It was not asked, since its answer could not be had: no room for it, a reference that fails on it.
    Unanswered(Fault),
}

/// Asks about cases on one bench; from several threads, where the reference allows it.
pub struct Cases<'b, 'a> {
    bench: &'b Bench<'a>,
    device: Option<DeviceReference>,
}

impl<'b, 'a> Cases<'b, 'a> {
    /// For a bench.
    pub fn new(bench: &'b Bench<'a>) -> Cases<'b, 'a> {
        Cases { bench, device: bench.device_reference(Coverage::Every) }
    }

    /// Cases that may be asked about at the same time: one on a GPU, and where somebody outside kiln answers them.
    pub fn at_once(&self) -> usize {
        let alone = self.bench.kernel.on_gpu() || self.bench.asks_outside();
        if alone { 1 } else { self.bench.machine.cpus.len().max(1) }
    }

    /// What is called for a configuration, built where it is not yet, and held to the gates that need no run.
    pub fn subject(&self, config: &Config) -> Result<Outcome<Subject>, Fault> {
        let subject = passed!(self.bench.subject_now(config)?);
        passed!(judge_resources(self.bench.kernel, &subject)?);
        Ok(Outcome::Passed(subject))
    }

    /// Asks one.
    pub fn ask(&self, subject: &Subject, case: &FuzzCase, work: Option<Work>) -> Result<Tried, Fault> {
        let workload = workload_of(&case.shape);
        ask(self.bench, (&workload, case), subject, self.device.as_ref(), work)
    }
}

/// Asks one; the bench lives no longer than the workload here.
fn ask<'s>(
    bench: &Bench<'s>,
    (workload, case): (&'s Workload, &FuzzCase),
    subject: &Subject,
    device: Option<&DeviceReference>,
    work: Option<Work>,
) -> Result<Tried, Fault> {
    bench.go_on()?;
    if let Some(refusal) = bench.kernel.unfit(subject.config(), Some(workload)) {
        return Ok(Tried::Excluded(format!("constraint {}", refusal.rule)));
    }
    let mut stage = match stage(bench, (workload, case), device) {
        Ok(stage) => stage,
        Err(trouble) => {
            // Not because of a shape.
            bench.go_on()?;
            return Ok(match trouble {
                Trouble::File(report) => {
                    // What this case has instead would make every case a reason of its own.
                    let why = report.message.split(", but the kernel has").next().unwrap_or_default();
                    Tried::Excluded(why.into())
                }
                Trouble::Fault(fault) => Tried::Unanswered(fault),
            });
        }
    };
    if stage.exams.is_empty() {
        return Ok(Tried::Excluded(format!("inputs {} make no sense here", case.inputs)));
    }
    let mut seating = bench.seating().clone();
    if bench.settings.memory.is_none() && !bench.kernel.on_gpu() {
        let needed = ROOM + 4 * stage.layout.bytes() as u64;
        seating.limits.memory = seating.limits.memory.max(needed).min(bench.memory());
    }
    if work.is_some_and(|work| work.size() < SMALL) {
        seating.limits.time = seating.limits.time.min(PATIENCE);
    }
    let refusal = on_one(bench, &seating, &mut stage, subject, (RERUNS, case.seed), &mut |_| {})?;
    let Some(refusal) = refusal else { return Ok(Tried::Passed) };
    bench.doubt_the_file(&mut stage, &seating, subject, &refusal)?;
    Ok(Tried::Refused(refusal))
}

pub(crate) fn stage<'s>(
    bench: &Bench<'s>,
    (workload, case): (&'s Workload, &FuzzCase),
    device: Option<&DeviceReference>,
) -> Result<Stage<'s>, Trouble> {
    let rules = bench.rules.covering(Coverage::Every).with_scalars(&case.scalars);
    let inputs = [case.inputs; QUESTIONS];
    bench.helped_stage(Some(workload), &rules, &inputs, case.seed, device)
}
