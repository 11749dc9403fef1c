//! A hypothesis and the command that shows whether it holds. In: what somebody thinks, and the command. Out: an attempt with both. kiln's own
//! commands record theirs; here are those that do not, and commands that are not kiln's.

use std::collections::BTreeMap;
use std::time::Instant;

use kiln_core::{Fault, Report, pasted};
use kiln_session::{AttemptOutcome, Attempted, SessionPhase};
use kiln_store::{AttemptsOf, Store, Study};
use serde::{Deserialize, Serialize};

use crate::attempt::{amend, environment, open_at};
use crate::ending::{Ending, Ends};
use crate::failure::Failure;
use crate::operation::session::one_line;
use crate::project::Project;

/// Letters that a hypothesis has at most: it stands in tables.
const LONGEST: usize = 300;

/// Milliseconds by which two moments may be off: they are rounded down.
const ROUNDED: i64 = 1;

/// The variable that hands a hypothesis on to the kiln commands inside a command that is not kiln's.
const VARIABLE: &str = "KILN_HYPOTHESIS";

/// What somebody thinks, and the command that shows whether it is so.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Supposed {
    pub(crate) hypothesis: String,
    pub(crate) command: String,
    /// Whether a command around this one records what becomes of it.
    #[serde(skip)]
    within: bool,
}

impl Supposed {
    /// The command's words are as they were typed, with the program first. Refuses words that are no hypothesis.
    pub fn new(hypothesis: &str, command: &[String]) -> Result<Supposed, Failure> {
        let hypothesis = one_line(hypothesis);
        let letters = hypothesis.chars().count();
        if letters == 0 {
            return Err(Report::error("the hypothesis is empty").label("expected what you think is so").into());
        }
        if letters > LONGEST {
            let report = Report::error(format!("the hypothesis has {letters} characters"));
            let report = report.label(format!("expected at most {LONGEST}: one sentence that stands in a table"));
            return Err(report.into());
        }
        Ok(Supposed { hypothesis, command: pasted(command), within: false })
    }

    /// What a command around this one wants to know; none where there is none.
    pub fn around() -> Option<Supposed> {
        let around: Supposed = serde_json::from_str(&std::env::var(VARIABLE).ok()?).ok()?;
        Some(Supposed { within: true, ..around })
    }

    /// The variable that hands it on to kiln commands inside the command.
    pub fn handed_on(&self) -> (&'static str, String) {
        (VARIABLE, serde_json::json!(self).to_string())
    }
}

/// Runs a command that is not kiln's and records it. `run` says how it failed, in words; none where it succeeded.
pub fn suppose(
    project: &Project,
    supposed: Supposed,
    run: impl FnOnce() -> Result<Option<String>, Fault>,
) -> Result<Ending, Failure> {
    let (began, at_ms) = (Instant::now(), crate::operation::session::now());
    let words = run()?;
    let outcome = match words {
        _ if project.is_stopped() => AttemptOutcome::Interrupted,
        None => AttemptOutcome::Passed,
        Some(_) => AttemptOutcome::Refused,
    };
    let made = Attempted { seconds: began.elapsed().as_secs_f64(), words, ..bare(at_ms, outcome, supposed) };
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
    let untold = |supposed: &&Supposed| !supposed.within && !project.has_recorded_one();
    let Some(supposed) = project.supposed().filter(untold) else { return };
    let outcome = match ended.as_ref().map_or_else(Ends::ending, |ending| *ending) {
        Ending::BadInput => return,
        Ending::Done => AttemptOutcome::Passed,
        Ending::Interrupted => AttemptOutcome::Interrupted,
        Ending::Refused | Ending::NotReached | Ending::Regressed | Ending::Refuted => AttemptOutcome::Refused,
        Ending::Unfit | Ending::Failed => AttemptOutcome::Fault,
    };
    // What was asked for is done, and says how it ended.
    record(project, bare(crate::operation::session::now(), outcome, supposed.clone()));
}

fn bare(at_ms: i64, outcome: AttemptOutcome, supposed: Supposed) -> Attempted {
    let Supposed { hypothesis, command, .. } = supposed;
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

/// Records an attempt; where that fails, it says so. Where kiln commands inside it were recorded with its hypothesis, these are what
/// came of it; the time of others that were recorded meanwhile is theirs.
fn record(project: &Project, made: Attempted) {
    let recorded = || -> Result<(), Fault> {
        let store = project.store()?;
        let session = open_at(project, &store, made.at_ms)?;
        let id = session.as_ref().map(|session| session.id.clone());
        let inner = meanwhile(&store, &made, id.as_deref())?;
        let told = |one: &Attempted| one.hypothesis == made.hypothesis && one.command == made.command;
        if inner.iter().any(told) {
            return Ok(());
        }
        let theirs: f64 = inner.iter().map(|one| one.seconds).sum();
        let seconds = (made.seconds - theirs).max(0.0);
        store.record_attempt(&Attempted { session: id, seconds, ..made.clone() })?;
        session.filter(|session| !session.is_open()).map_or(Ok(()), |over| amend(project, &store, &over))
    };
    if let Err(fault) = recorded() {
        let words = format!("the hypothesis is not recorded: {}: {}", fault.what, fault.why);
        project.notice(Report::warning(words).maybe_hint(fault.hint));
    }
}

/// Attempts of the same session that began while a command ran.
fn meanwhile(store: &Store, made: &Attempted, session: Option<&str>) -> Result<Vec<Attempted>, Fault> {
    let mut all = store.attempts(AttemptsOf::From(made.at_ms))?;
    all.retain(|one| one.session.as_deref() == session && one.at_ms <= made.ended_ms() + ROUNDED);
    Ok(all)
}

#[cfg(test)]
mod tests {
    use camino::Utf8PathBuf;

    use super::*;
    use crate::project::Stop;

    fn thought(words: &str, command: &[&str]) -> Supposed {
        Supposed::new(words, &command.iter().map(|word| word.to_string()).collect::<Vec<_>>()).unwrap()
    }

    #[test]
    fn a_hypothesis_is_one_sentence_with_the_command_as_it_was_typed() {
        let made = thought("is  it\nfast", &["kiln", "fuzz", "k", "--case", "N=65 N=66"]);
        assert_eq!((made.hypothesis.as_str(), made.command.as_str()), ("is it fast", "kiln fuzz k --case 'N=65 N=66'"));
        assert!(Supposed::new(" ", &[]).is_err());
        let long = Supposed::new(&"x".repeat(301), &[]).unwrap_err().to_string();
        assert!(long.contains("301 characters") && long.contains("at most 300"), "{long}");
        let (name, value) = made.handed_on();
        let again: Supposed = serde_json::from_str(&value).unwrap();
        assert_eq!((name, again), ("KILN_HYPOTHESIS", made));
    }

    #[test]
    fn what_kiln_recorded_inside_a_command_is_not_recorded_again() {
        let place = tempfile::tempdir().unwrap();
        let folder = Utf8PathBuf::from_path_buf(place.path().to_path_buf()).unwrap().join(".kiln");
        let project = Project::here(Some(folder.join("kiln.db").into_string()), Stop::never()).in_folder(&folder);
        let ran = |words: &str, inner: Option<Supposed>| {
            let supposed = thought(words, &["sh", "-c", "kiln bench k"]);
            let run = || {
                let store = project.store()?;
                if let Some(inner) = inner {
                    let bench = bare(crate::operation::session::now(), AttemptOutcome::Passed, inner);
                    store.record_attempt(&Attempted { verb: "bench".into(), seconds: 99.0, ..bench })?;
                }
                Ok(None)
            };
            suppose(&project, supposed, run).unwrap();
        };
        let told = || {
            let all = project.store().unwrap().attempts(AttemptsOf::All).unwrap();
            all.into_iter()
                .map(|one| (one.hypothesis.clone().unwrap_or_default(), one.is_judgement()))
                .collect::<Vec<_>>()
        };
        ran("one", Some(thought("one", &["sh", "-c", "kiln bench k"])));
        assert_eq!(told(), [("one".to_string(), true)]);
        std::thread::sleep(std::time::Duration::from_millis(3));
        ran("two", None);
        assert_eq!(told()[1..], [("two".to_string(), false)]);
        std::thread::sleep(std::time::Duration::from_millis(3));
        ran("three", Some(thought("four", &["kiln", "bench", "k"])));
        let all = project.store().unwrap().attempts(AttemptsOf::All).unwrap();
        let three = all.iter().find(|one| one.hypothesis.as_deref() == Some("three")).unwrap();
        assert_eq!((all.len(), three.seconds), (4, 0.0), "the time is that of the command inside");
    }
}
