//! A lesson's beginning from the last failure. In: a kernel, or any. Out: what is known of the lesson: the symptom from the failure, and where
//! a success followed, the remedy from what was changed, and the evidence from both. Refuses where nothing failed.

use kiln_core::{Gate, Report};
use kiln_session::{Attempted, PutRight, SessionPhase, last_put_right, lasting};
use kiln_store::AttemptsOf;

use super::add::AddLessonRequest;
use super::general::{after_the_place, first_line, generalised, said_by_a_tool};
use crate::attempt::{changes, differences, sources_at};
use crate::failure::Failure;
use crate::project::Project;

/// Attempts that are looked back on.
const REMEMBERED: u32 = 500;
/// Lines of a change that are worth keeping in a lesson.
const LINES: usize = 20;

/// The request, with what it leaves out filled in. `kernel` is empty for the newest of all.
pub(super) fn filled(project: &Project, kernel: &str, request: &AddLessonRequest) -> Result<AddLessonRequest, Failure> {
    let none = || {
        let of = if kernel.is_empty() { String::new() } else { format!(" of {kernel}") };
        let report = Report::error(format!("no failure{of} is recorded here"));
        Failure::from(report.hint("--from-refusal FILE takes what a command with --json printed"))
    };
    let store = project.recorded()?.ok_or_else(none)?;
    let attempts = store.attempts(match kernel {
        "" => AttemptsOf::Before(i64::MAX, REMEMBERED),
        kernel => AttemptsOf::Kernel(kernel, REMEMBERED),
    })?;
    let failure = attempts.iter().rfind(|one| one.failed() && one.cause.is_some()).ok_or_else(none)?;
    let own: Vec<Attempted> = attempts.iter().filter(|one| one.same_kernel(failure)).cloned().collect();
    // Whether it was put right, and not an earlier one.
    let found = last_put_right(&own).filter(|found| found.failure.id == failure.id);
    let changed = found.as_ref().map(|found| found.changed.clone()).unwrap_or_default();
    let cause = failure.cause.clone().unwrap_or_default();
    let gate = Gate::ALL.iter().copied().find(|gate| gate.name() == cause);
    let words = failure.words.clone().unwrap_or_else(|| cause.clone());
    let mut new = request.clone();
    let short = || match gate {
        Some(gate) => said_by_a_tool(gate, &words).unwrap_or_else(|| gate.meaning().into()),
        None => first_line(after_the_place(&words), 80),
    };
    let title = || format!("{}: {}", failure.kernel, short());
    new.title = new.title.or_else(|| Some(title()));
    match (gate, failure.phase) {
        _ if !new.gates.is_empty() || !new.causes.is_empty() || !new.findings.is_empty() => {}
        (Some(_), _) => new.gates.push(cause),
        (None, SessionPhase::Environment) => new.findings.push(cause),
        (None, _) if matches!(failure.verb.as_str(), "sanitize" | "profile" | "diagnose") => new.causes.push(cause),
        (None, _) => {}
    }
    if new.texts.is_empty() && failure.words.is_some() {
        new.texts.push(generalised(&words));
    }
    new.remedy = new.remedy.or_else(|| remedy(&changed.config, &changed.environment));
    new.evidence = new
        .evidence
        .or_else(|| Some(found.as_ref().map_or_else(|| unanswered(failure), |found| evidence(project, found))));
    Ok(new)
}

/// What to do, where that can be said: values to set.
fn remedy(config: &[String], environment: &[String]) -> Option<String> {
    let all: Vec<String> = config.iter().chain(environment).map(|change| format!("Change {change}.")).collect();
    (!all.is_empty()).then(|| all.join(" "))
}

/// Where a failure was met that nothing has answered yet.
fn unanswered(failure: &Attempted) -> String {
    let config = failure.config.as_ref().map_or_else(String::new, |config| format!(" with {config}"));
    format!("{} failed in `kiln {}`{config}.", failure.kernel, failure.verb)
}

fn evidence(project: &Project, found: &PutRight) -> String {
    let PutRight { failure, changed, .. } = found;
    let mut text = format!(
        "{} failed in `kiln {}` and passed {} later; changed: {}.",
        failure.kernel,
        failure.verb,
        lasting(found.took_s()),
        changes(project, found)
    );
    let lines = match (&failure.sources, changed.sources) {
        (Some(digest), true) => differences(project, digest, &sources_at(&failure.path)),
        _ => Vec::new(),
    };
    if !lines.is_empty() {
        let more = lines.len().saturating_sub(LINES);
        let shown: Vec<String> = lines.into_iter().take(LINES).collect();
        text += &format!("\n{}", shown.join("\n"));
        text += &if more > 0 { format!("\n({more} lines more)") } else { String::new() };
    }
    text
}
