//! Whether the kernel is correct. In: attempts, verdicts on commits, studies without a candidate, failing cases that were kept, validations.
//! Out: the newest refusal that no result has passed since.

use kiln_core::{Config, Gate};
use kiln_diagnose::next::{OpenRefusal, RefusalKind};
use kiln_formats::{KeptState, read_cases};
use kiln_store::{CommitJudged, Study, TuneVerdict};
use kiln_study::Kernel;

use super::attempts::Logged;
use super::records::{Now, Records};
use super::result::{Found, ended_ms};
use crate::kernel::read_bounded;
use crate::project::Project;
use crate::record::kept_cases;

/// The refusal that is open: the newest after the newest result; a case that still fails with these sources comes first.
pub(super) fn refusal(
    project: &Project,
    records: &Records,
    logged: &Logged,
    kernel: Option<&Kernel<'_>>,
    found: Option<&Found>,
    now: &Now,
) -> Option<OpenRefusal> {
    let default = kernel.and_then(|kernel| kernel.default_config()).as_ref().map(Config::to_string);
    // A later result of another configuration is no answer to it.
    let logged = logged.refusal(default.as_deref());
    let refused = logged.as_ref().and_then(|(_, refusal)| refusal.config.as_deref());
    if let Some(kept) = kernel.and_then(|kernel| kept(project, kernel, refused, found, now)) {
        return Some(kept);
    }
    let since = found.map_or(i64::MIN, |found| found.at_ms);
    let changed = now.modified_ms.unwrap_or(i64::MIN);
    let study = records.studies.first().and_then(|study| Some((ended_ms(study), of_study(records, study)?)));
    // Of other sources they say nothing; an attempt knows its own, and so does a commit.
    let recorded = study.filter(|(at, _)| *at >= changed).into_iter().chain(of_commit(records, now));
    let all = recorded.filter(|(at, _)| *at > since).chain(logged);
    all.max_by_key(|(at, _)| *at).map(|(_, refusal)| refusal)
}

/// The newest verdict against the files as they are now. A bisection judges other commits too: these say nothing.
fn of_commit(records: &Records, now: &Now) -> Option<(i64, OpenRefusal)> {
    let mut builds = false;
    for verdict in records.commits.iter().filter(|verdict| now.is_of(&verdict.git_commit)) {
        match (verdict.judged, verdict.good) {
            (CommitJudged::Fast, _) => {}
            (CommitJudged::Check, true) => return None,
            // That it builds says nothing of its answers.
            (CommitJudged::Build, true) => builds = true,
            (CommitJudged::Build, false) if builds => {}
            (CommitJudged::Build, false) => {
                return Some((verdict.at_ms, told_of_commit("the build", RefusalKind::Build, &verdict.words)));
            }
            (CommitJudged::Check, false) => {
                return Some((verdict.at_ms, told_of_commit("the check", RefusalKind::Wrong, &verdict.words)));
            }
        }
    }
    None
}

fn told(gate: &str, kind: RefusalKind, words: &str) -> OpenRefusal {
    let words = words.lines().next().unwrap_or_default().to_string();
    OpenRefusal { gate: gate.into(), kind, words, config: None, alike: None, cause: None, case: None }
}

/// What is told of a commit: the gate is named in its words, and the worktree in which it was judged is gone.
fn told_of_commit(gate: &str, kind: RefusalKind, words: &str) -> OpenRefusal {
    let named = words.split_once(": ").filter(|(name, _)| Gate::ALL.iter().any(|gate| gate.name() == *name));
    let (gate, words) = named.unwrap_or((gate, words));
    told(gate, kind, &without_worktree(words))
}

/// Words on a file of a temporary worktree, which is gone: the path from the repository's folder on.
fn without_worktree(words: &str) -> String {
    let inside = words.find("/kiln-base-").and_then(|at| {
        let from = words[..at].rfind(' ').map_or(0, |space| space + 1);
        let rest = words[at..].split_once("/base/")?.1;
        Some(format!("{}{rest}", &words[..from]))
    });
    inside.unwrap_or_else(|| words.into())
}

/// What refused most configurations of a study that found none.
fn of_study(records: &Records, study: &Study) -> Option<OpenRefusal> {
    let summary = study.summary.as_ref()?.read().ok().filter(|own| own.verdict == TuneVerdict::NoValidCandidate)?;
    let (gate, _) = summary.refused.iter().max_by_key(|(_, count)| **count)?;
    let trials = records.store.as_ref()?.trials(&study.id).ok()?;
    let first = trials.iter().find_map(|trial| Some((trial, trial.refusal.as_ref().filter(|own| own.gate == *gate)?)));
    let (trial, refusal) = first?;
    let seen = summary.sanitized.iter().find(|own| own.gate == *gate);
    let cause = seen.and_then(|own| own.diagnosis.findings.first()).map(|finding| finding.cause.id().to_string());
    let own = told(gate.name(), RefusalKind::of(*gate), &refusal.measured);
    Some(OpenRefusal { config: Some(trial.config.clone()), cause, ..own })
}

/// A case of `kiln fuzz` that failed with the sources as they are now.
fn kept(
    project: &Project,
    kernel: &Kernel<'_>,
    refused: Option<&str>,
    found: Option<&Found>,
    now: &Now,
) -> Option<OpenRefusal> {
    let file = kept_cases::place(project, kernel);
    let text = String::from_utf8_lossy(&read_bounded(&file, kept_cases::LARGEST).ok()?).into_owned();
    let default = kernel.default_config().as_ref().map(Config::to_string);
    let measured = found.and_then(|found| found.config.as_deref());
    let meant = |config: &str| [default.as_deref(), measured, refused].contains(&Some(config));
    let case = read_cases(file.as_str(), &text).ok()?.into_iter().find(|case| {
        let here = (case.target.as_str(), case.variant.as_str()) == (kernel.target(), kernel.variant().as_str());
        let fails = case.state == KeptState::Failing && case.baseline.is_empty();
        here && fails && now.sources.as_ref() == Some(&case.sources) && meant(&case.config)
    })?;
    let gate = Gate::ALL.iter().find(|gate| gate.name() == case.gate)?;
    let own = told(gate.name(), RefusalKind::of(*gate), &case.measured);
    Some(OpenRefusal { config: Some(case.config), case: Some(case.case), ..own })
}

/// Whether the kernel as it is now was found correct: what was measured was checked first.
pub(super) fn correct(refused: bool, measured: bool, edited: Option<bool>) -> Option<bool> {
    match (refused, measured, edited) {
        (true, _, _) => Some(false),
        (false, true, Some(false)) => Some(true),
        _ => None,
    }
}

/// Whether what was measured is validated, as the files are now.
pub(super) fn validated(records: &Records, found: &Found, now: &Now) -> Option<bool> {
    let config = found.config.as_ref()?;
    let same = |own: &Option<String>, then: &str| own.as_ref().is_none_or(|own| own == then);
    Some(records.validations.iter().any(|made| {
        (&made.target, &made.variant, &made.config) == (&found.target, &found.variant, config)
            && same(&now.sources, &made.sources)
            && same(&now.spec_hash, &made.spec_hash)
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_verdict_on_a_commit_names_its_gate_and_no_folder_that_is_gone() {
        let words = "build_failed: /tmp/kiln-base-8634-WECXWg/base/sp ace/vec.c:43:9: error: no";
        let said = told_of_commit("the build", RefusalKind::Build, words);
        assert_eq!((said.gate.as_str(), said.words.as_str()), ("build_failed", "sp ace/vec.c:43:9: error: no"));
        let plain = told_of_commit("the check", RefusalKind::Wrong, "y[0] is 3: expected 2");
        assert_eq!((plain.gate.as_str(), plain.words.as_str()), ("the check", "y[0] is 3: expected 2"));
    }
}
