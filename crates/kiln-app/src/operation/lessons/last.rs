//! A lesson's beginning from the last failure that was put right. In: a kernel, or any. Out: what is known of the lesson: the symptom from
//! the failure, the remedy from what was changed, the evidence from both. Refuses where nothing was put right.

use kiln_core::{Gate, Report};
use kiln_session::{PutRight, last_put_right};
use kiln_store::AttemptsOf;

use super::add::{AddLessonRequest, generalised};
use crate::attempt::{differences, sources_at};
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
        let report = Report::error(format!("no failure{of} was followed by a success with something changed"));
        Failure::from(report.hint("--from-refusal FILE takes what a command with --json printed"))
    };
    let store = project.recorded()?.ok_or_else(none)?;
    let found = match kernel {
        "" => newest(store.attempts(AttemptsOf::Before(i64::MAX, REMEMBERED))?),
        kernel => last_put_right(&store.attempts(AttemptsOf::Kernel(kernel, REMEMBERED))?),
    };
    let PutRight { failure, changed, .. } = found.as_ref().ok_or_else(none)?;
    let cause = failure.cause.clone().unwrap_or_default();
    let gate = Gate::ALL.iter().any(|gate| gate.name() == cause);
    let words = failure.words.clone().unwrap_or_else(|| cause.clone());
    let mut new = request.clone();
    new.title =
        new.title.or_else(|| Some(format!("{}: {}", failure.kernel, words.chars().take(80).collect::<String>())));
    match (gate, failure.phase) {
        _ if !new.gates.is_empty() || !new.causes.is_empty() || !new.findings.is_empty() => {}
        (true, _) => new.gates.push(cause),
        (false, kiln_session::SessionPhase::Environment) => new.findings.push(cause),
        (false, _) => {}
    }
    if new.texts.is_empty() && failure.words.is_some() {
        new.texts.push(generalised(&words));
    }
    new.remedy = new.remedy.or_else(|| remedy(&changed.config, &changed.environment));
    new.evidence = new.evidence.or_else(|| found.as_ref().map(|found| evidence(project, found)));
    Ok(new)
}

/// The last one of any kernel.
fn newest(attempts: Vec<kiln_session::Attempted>) -> Option<PutRight> {
    let kernels = attempts.iter().rev().map(|one| (one.kernel.clone(), one.path.clone()));
    let mut seen: Vec<(String, String)> = Vec::new();
    kernels.for_each(|one| _ = (!seen.contains(&one)).then(|| seen.push(one)));
    let of = |(kernel, path): &(String, String)| {
        let own: Vec<_> = attempts.iter().filter(|one| one.kernel == *kernel && one.path == *path).cloned().collect();
        last_put_right(&own)
    };
    seen.iter().filter_map(of).max_by_key(|found| found.success.at_ms)
}

/// What to do, where that can be said: values to set.
fn remedy(config: &[String], environment: &[String]) -> Option<String> {
    let all: Vec<String> = config.iter().chain(environment).map(|change| format!("Change {change}.")).collect();
    (!all.is_empty()).then(|| all.join(" "))
}

fn evidence(project: &Project, found: &PutRight) -> String {
    let PutRight { failure, changed, .. } = found;
    let (minutes, words) = (found.took_s() / 60.0, changed.words());
    let mut text = format!(
        "{} failed in `kiln {}` and passed {minutes:.0} min later; changed: {words}.",
        failure.kernel, failure.verb
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
