//! A hypothesis and the command that shows whether it holds. In: what somebody thinks, and the command. Out: an attempt with both. kiln's own
//! commands record theirs; here are those that do not, and commands that are not kiln's.

use std::collections::BTreeMap;
use std::time::Instant;

use kiln_core::{Fault, Report, quoted};
use kiln_session::{AttemptOutcome, Attempted, SessionPhase};
use kiln_store::Study;

use crate::attempt::{environment, open};
use crate::ending::{Ending, Ends};
use crate::failure::Failure;
use crate::operation::session::one_line;
use crate::project::Project;

/// What somebody thinks, and the command of kiln's that shows whether it is so.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Supposed {
    pub(crate) hypothesis: String,
    pub(crate) command: String,
}

impl Supposed {
    /// The command's words, `kiln` first, are as they were typed.
    pub fn new(hypothesis: &str, command: &[String]) -> Supposed {
        Supposed { hypothesis: one_line(hypothesis), command: typed(command.get(1..).unwrap_or_default()) }
    }
}

/// A command in one line, as it can be typed again.
fn typed(words: &[String]) -> String {
    one_line(&words.iter().map(|word| quoted(word)).collect::<Vec<_>>().join(" "))
}

/// Runs a command that is not kiln's and records it. `run` says how it failed, in words; none where it succeeded.
pub fn suppose(
    project: &Project,
    hypothesis: &str,
    command: &[String],
    run: impl FnOnce() -> Result<Option<String>, Fault>,
) -> Result<Ending, Failure> {
    if hypothesis.trim().is_empty() {
        return Err(Report::error("the hypothesis is empty").label("expected what you think is so").into());
    }
    let (began, at_ms) = (Instant::now(), crate::operation::session::now());
    let words = run()?;
    let outcome = match words {
        _ if project.is_stopped() => AttemptOutcome::Interrupted,
        None => AttemptOutcome::Passed,
        Some(_) => AttemptOutcome::Refused,
    };
    let made = Attempted {
        seconds: began.elapsed().as_secs_f64(),
        words,
        ..bare(at_ms, typed(command), outcome, one_line(hypothesis))
    };
    // The command ran: its outcome is not lost with the record.
    record(project, made);
    Ok(match outcome {
        AttemptOutcome::Passed => Ending::Done,
        AttemptOutcome::Interrupted => Ending::Interrupted,
        AttemptOutcome::Refused | AttemptOutcome::Fault => Ending::Refused,
    })
}

/// Records the hypothesis of a command of kiln's that left no attempt. A mistake in what was typed is none.
pub fn supposed(project: &Project, ended: &Result<Ending, Failure>) {
    let Some(supposed) = project.supposed().filter(|_| !project.has_recorded_one()) else { return };
    let outcome = match ended.as_ref().map_or_else(Ends::ending, |ending| *ending) {
        Ending::BadInput => return,
        Ending::Done => AttemptOutcome::Passed,
        Ending::Interrupted => AttemptOutcome::Interrupted,
        Ending::Refused | Ending::NotReached | Ending::Regressed | Ending::Refuted => AttemptOutcome::Refused,
        Ending::Unfit | Ending::Failed => AttemptOutcome::Fault,
    };
    let Supposed { hypothesis, command } = supposed.clone();
    let made = bare(crate::operation::session::now(), command, outcome, hypothesis);
    // What was asked for is done, and says how it ended.
    record(project, made);
}

fn bare(at_ms: i64, command: String, outcome: AttemptOutcome, hypothesis: String) -> Attempted {
    Attempted {
        id: Study::new_id(),
        at_ms,
        seconds: 0.0,
        session: None,
        kernel: String::new(),
        path: String::new(),
        verb: command.clone(),
        phase: SessionPhase::Check,
        parts: BTreeMap::new(),
        outcome,
        cause: None,
        words: None,
        config: None,
        sources: None,
        environment: environment(),
        speedup: None,
        workload: None,
        limit: None,
        promise: None,
        lesson: None,
        hypothesis: Some(hypothesis),
        command: Some(command),
    }
}

/// Records an attempt; where that fails, it says so.
fn record(project: &Project, made: Attempted) {
    let recorded = || -> Result<(), Fault> {
        let store = project.store()?;
        let session = open(project, &store, made.at_ms)?.map(|session| session.id);
        store.record_attempt(&Attempted { session, ..made })
    };
    if let Err(fault) = recorded() {
        let words = format!("the hypothesis is not recorded: {}: {}", fault.what, fault.why);
        project.notice(Report::warning(words).maybe_hint(fault.hint));
    }
}
