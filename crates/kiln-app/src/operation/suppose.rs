//! A hypothesis and the command that shows whether it holds. In: what somebody thinks, and the command. Out: an attempt with both. kiln's own
//! commands record theirs; here are those that do not, and commands that are not kiln's.

use std::collections::BTreeMap;
use std::time::Instant;

use kiln_core::{Fault, Report};
use kiln_session::{AttemptOutcome, Attempted, SessionPhase};
use kiln_store::Study;

use crate::attempt::{environment, open};
use crate::ending::{Ending, Ends};
use crate::failure::Failure;
use crate::operation::session::one_line;
use crate::project::Project;

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
        ..bare(at_ms, one_line(&command.join(" ")), outcome, one_line(hypothesis))
    };
    // The command ran: its outcome is not lost with the record.
    record(project, made);
    Ok(match outcome {
        AttemptOutcome::Passed => Ending::Done,
        AttemptOutcome::Interrupted => Ending::Interrupted,
        AttemptOutcome::Refused | AttemptOutcome::Fault => Ending::Refused,
    })
}

/// Records the hypothesis of a command of kiln's that left no attempt. `words` are as they were typed. A mistake in them is none.
pub fn supposed(project: &Project, words: impl Iterator<Item = String>, ended: &Result<Ending, Failure>) {
    let Some(hypothesis) = project.hypothesis().filter(|_| !project.has_recorded_one()) else { return };
    let outcome = match ended.as_ref().map_or_else(Ends::ending, |ending| *ending) {
        Ending::BadInput => return,
        Ending::Done => AttemptOutcome::Passed,
        Ending::Interrupted => AttemptOutcome::Interrupted,
        Ending::Refused | Ending::NotReached | Ending::Regressed | Ending::Refuted => AttemptOutcome::Refused,
        Ending::Unfit | Ending::Failed => AttemptOutcome::Fault,
    };
    let command: Vec<String> = words.skip_while(|word| word != "--").skip(2).collect();
    let made = bare(crate::operation::session::now(), one_line(&command.join(" ")), outcome, hypothesis);
    // What was asked for is done, and says how it ended.
    record(project, made);
}

fn bare(at_ms: i64, verb: String, outcome: AttemptOutcome, hypothesis: String) -> Attempted {
    Attempted {
        id: Study::new_id(),
        at_ms,
        seconds: 0.0,
        session: None,
        kernel: String::new(),
        path: String::new(),
        verb,
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
