//! What sessions and attempts tell of a kernel. In: a project, a kernel. Out: whether it is retired, how the open session stands, whether the
//! doctor passed this machine, what was refused and found correct, what was changed at once, and how often one cause refused in a row.
//! Unknown where nothing is recorded of it.

use std::collections::BTreeSet;

use camino::Utf8Path;
use kiln_core::counted;
use kiln_diagnose::next::{LastFault, Look, OpenRefusal, ProfileNow, SessionNow};
use kiln_session::{AttemptOutcome, Attempted, BlindChange, Decision, Session, best, blind, crowded, stop, times};
use kiln_store::{AttemptsOf, Store};

use super::asked::Asked;
use super::refused;
use super::result::Found;
use crate::attempt::{About, environment, inside};
use crate::failure::Failure;
use crate::operation::session::{latest, now, retired_kernel};
use crate::project::Project;

/// So many of a kernel's attempts are looked at, the newest.
const NEWEST: u32 = 1000;
const DOCTOR: &str = "doctor";
/// Commands that are repeated as they were where something kept them from judging.
const JUDGES: [&str; 6] = ["gate", "check", "fuzz", "sanitize", "bench", "profile"];

/// What is logged of a kernel, and the session that is open.
#[derive(Default)]
pub(super) struct Logged {
    retired: Option<String>,
    session: Option<SessionNow>,
    /// The decision that was written last.
    decided: Option<String>,
    /// Changes of the session that were made blind.
    blind: Vec<BlindChange>,
    /// The smallest case, as the session names it.
    smallest: Option<String>,
    examined: Option<bool>,
    /// The kernel's own, oldest first.
    attempts: Vec<Attempted>,
    /// The digest of its sources as they are now.
    sources: Option<String>,
}

impl Logged {
    pub(super) fn of(project: &Project, asked: &Asked) -> Result<Logged, Failure> {
        let Some(store) = project.recorded()? else { return Ok(Logged::default()) };
        let retired = retired_kernel(project, &asked.name, Some(&asked.path))?.map(|made| made.because);
        let sources = asked.file.as_ref().and_then(|file| About::of(file, &asked.path).sources);
        // One about another kernel says nothing of this one.
        let path = inside(&asked.path);
        let session = latest(project, |session| session.is_about_kernel(&asked.name, &path))?;
        let mut decisions = store.decisions(None)?;
        decisions.retain(|made| session.as_ref().is_some_and(|session| made.is_of(session)));
        let decided = decisions.last().map(|made| format!("{}: {}", made.choice, made.because));
        let session = session.filter(Session::is_open);
        let smallest = session.as_ref().and_then(|session| session.smallest.clone());
        let stood = session.map(|session| stands(&store, session, &decisions, sources.as_deref())).transpose()?;
        let (session, mut guessed) = stood.map_or((None, Vec::new()), |(now, guessed)| (Some(now), guessed));
        guessed.retain(|change| change.kernel == asked.name);
        let here = environment();
        let machines = store.attempts(AttemptsOf::Kernel("", NEWEST))?;
        let mut attempts = store.attempts(AttemptsOf::Kernel(&asked.name, NEWEST))?;
        let moved = moved(&attempts, &path, sources.as_deref());
        attempts.retain(|one| one.path == path || moved.contains(&one.path));
        // The doctor may have been asked about this kernel too.
        let doctors = machines.iter().chain(&attempts).filter(|one| one.verb == DOCTOR && one.environment == here);
        let examined = doctors.max_by_key(|one| one.at_ms).map(|one| one.outcome == AttemptOutcome::Passed);
        attempts.retain(|one| one.verb != DOCTOR);
        Ok(Logged { retired, session, decided, blind: guessed, smallest, examined, attempts, sources })
    }

    /// Whether anything was tried with the kernel.
    pub(super) fn any(&self) -> bool {
        !self.attempts.is_empty()
    }

    /// How much was tried.
    pub(super) fn count(&self) -> usize {
        self.attempts.len()
    }

    /// The refusal that is open for the sources as they are now, and when it was met.
    pub(super) fn refusal(&self, default: Option<&str>) -> Option<(i64, OpenRefusal)> {
        refused::open(&self.attempts, self.sources.as_deref()?, default)
    }

    /// What a profile from another machine says: of the sources as they are now, or where those changed since a result, what was
    /// known after it.
    pub(super) fn diagnosed(&self, result_ms: Option<i64>) -> Option<ProfileNow> {
        let told = |one: &&Attempted| one.verb == "diagnose" && one.limit.is_some();
        let meant = |one: &&Attempted| match result_ms {
            Some(at) => one.at_ms >= at,
            None => one.sources.is_some() && one.sources == self.sources,
        };
        let one = self.attempts.iter().rfind(|one| told(one) && meant(one))?;
        let promise = one.promise.filter(|promise| *promise > 1.0);
        Some(ProfileNow { limit: one.limit.clone(), cause: one.limit.clone().zip(promise), fix: None })
    }

    /// Whether the newest check of the sources as they are now passed.
    pub(super) fn checked(&self) -> Option<bool> {
        let sources = self.sources.as_deref()?;
        let judged = |one: &&Attempted| one.says_correct() && one.sources.as_deref() == Some(sources);
        Some(self.attempts.iter().rfind(judged)?.outcome == AttemptOutcome::Passed)
    }

    /// Why the kernel was retired.
    pub(super) fn retired(&self) -> Look<String> {
        Look::of(self.retired.clone())
    }

    /// The open session.
    pub(super) fn session(&self) -> Look<SessionNow> {
        Look::of(self.session.clone())
    }

    /// The decision that was written last.
    pub(super) fn decided(&self) -> Look<String> {
        Look::of(self.decided.clone())
    }

    /// Whether what was recorded at a moment is of the sources as they are now; none where no attempt tells.
    pub(super) fn current_at(&self, at_ms: i64) -> Option<bool> {
        Some(self.sources_at(at_ms)? == self.sources.as_deref()?)
    }

    /// The digest of the sources that the attempt had which was under way at a moment.
    pub(super) fn sources_at(&self, at_ms: i64) -> Option<&str> {
        // Both clocks are the machine's; lengths are rounded.
        let there = |one: &&Attempted| (one.at_ms - 1..=one.ended_ms() + 1).contains(&at_ms);
        self.attempts.iter().rfind(there)?.sources.as_deref()
    }

    /// Whether a configuration of the sources was found wrong, and the command that found it has not passed since. What asks less, a
    /// benchmark or a study, is no answer to it.
    pub(super) fn found_wrong(&self, sources: &str, config: Option<&str>, default: Option<&str>) -> bool {
        let of = |one: &&Attempted| {
            one.sources.as_deref() == Some(sources) && one.config.as_deref().or(default) == config.or(default)
        };
        let own: Vec<&Attempted> = self.attempts.iter().filter(of).collect();
        own.iter().enumerate().any(|(at, one)| {
            let wrong = one.outcome == AttemptOutcome::Refused && refused::is_wrong(one);
            let passed = |later: &&Attempted| later.verb == one.verb && later.outcome == AttemptOutcome::Passed;
            wrong && !own[at + 1..].iter().any(passed)
        })
    }

    /// How many changes after a profile, until a moment, gained less than `no_gain`: each was for the next of its causes. The one that is
    /// judged is none of them.
    pub(super) fn in_vain(
        &self,
        (profiled_ms, config): (i64, &str),
        until_ms: i64,
        no_gain: f64,
        judged: Option<&Found>,
    ) -> usize {
        let Some(sources) = self.sources_at(profiled_ms) else { return 0 };
        let profiled =
            |one: &Attempted| (one.sources.as_deref(), one.config.as_deref()) == (Some(sources), Some(config));
        let gained = |one: &Attempted| {
            let beside = |own: &&Attempted| profiled(own) && own.at_ms < one.at_ms && own.workload == one.workload;
            Some(one.speedup? / self.attempts.iter().rfind(|own| beside(own) && own.speedup.is_some())?.speedup?)
        };
        let judged = judged.map(|found| (self.sources_at(found.began_ms), found.config.as_deref()));
        let is_judged = |one: &Attempted| judged == Some((one.sources.as_deref(), one.config.as_deref()));
        let since = |one: &&Attempted| {
            one.at_ms > profiled_ms && one.ended_ms() < until_ms && !profiled(one) && !is_judged(one)
        };
        let tried = self.attempts.iter().filter(since).filter(|one| gained(one).is_some_and(|gain| gain < no_gain));
        tried.map(|one| (&one.sources, &one.config)).collect::<BTreeSet<_>>().len()
    }

    /// The smallest case, as the session names it.
    pub(super) fn smallest(&self) -> Option<&str> {
        self.smallest.as_deref()
    }

    /// Whether the doctor passed this machine.
    pub(super) fn examined(&self) -> Option<bool> {
        self.examined
    }

    /// Whether nobody checked the last change: the newest attempt that judged correctness was about other sources.
    pub(super) fn unchecked(&self) -> Option<bool> {
        let newest = self.attempts.iter().rfind(|one| one.says_correct())?.sources.as_deref()?;
        Some(newest != self.sources.as_deref()?)
    }

    /// Several variables that were changed at once, before the newest measurement.
    pub(super) fn several_changed(&self) -> Look<String> {
        let measured = self.attempts.iter().rfind(|one| one.speedup.is_some());
        let Some(newest) = measured else { return Look::Unknown };
        let found = crowded(&self.attempts).into_iter().rfind(|one| one.attempt == newest.id);
        Look::of(found.map(|one| one.changed.words()))
    }

    /// Changes that were made blind: those of the open session, else the one that the newest measurement measured.
    pub(super) fn blind_changes(&self) -> Look<String> {
        let Some(newest) = self.attempts.iter().rfind(|one| one.speedup.is_some()) else { return Look::Unknown };
        let mut found = self.blind.clone();
        if self.session.is_none() {
            found = blind(&self.attempts).into_iter().filter(|one| one.attempt == newest.id).collect();
        }
        let count = counted(found.len() as u128, "change");
        Look::of(found.last().map(|last| format!("{count}, the last of {}", last.changed.words())))
    }

    /// What kept the newest command from judging the kernel as it is now. A study that failed is resumed; the doctor was asked here.
    pub(super) fn fault(&self) -> Option<LastFault> {
        let newest = self.attempts.last().filter(|one| one.outcome == AttemptOutcome::Fault)?;
        let now = newest.sources.is_some() && newest.sources == self.sources && newest.environment == environment();
        let again = JUDGES.contains(&newest.verb.as_str());
        let words = newest.words.clone().or(newest.cause.clone())?;
        (now && again).then(|| LastFault { verb: newest.verb.clone(), words })
    }

    /// How many failures in a row were of one cause; none where the newest attempt did not fail.
    pub(super) fn refusals_alike(&self) -> Option<u64> {
        let newest = self.attempts.last().filter(|one| one.mistake().is_some())?;
        Some(self.attempts.iter().rev().take_while(|one| one.fails_like(newest)).count() as u64)
    }
}

/// Folders that are gone and had sources which this one has or had: the kernel lay there before it was moved.
fn moved(attempts: &[Attempted], path: &str, sources: Option<&str>) -> BTreeSet<String> {
    let own = attempts.iter().filter(|one| one.path == path).filter_map(|one| one.sources.as_deref());
    let own: BTreeSet<&str> = own.chain(sources).collect();
    let was_it = |one: &&Attempted| one.sources.as_deref().is_some_and(|sources| own.contains(sources));
    let gone = |path: &&str| !path.is_empty() && !Utf8Path::new(path).exists();
    attempts.iter().filter(was_it).map(|one| one.path.as_str()).filter(gone).map(String::from).collect()
}

/// How a session stands, and the changes in it that were made blind.
fn stands(
    store: &Store,
    session: Session,
    decisions: &[Decision],
    sources: Option<&str>,
) -> Result<(SessionNow, Vec<BlindChange>), Failure> {
    let attempts = store.attempts(AttemptsOf::Session(&session.id))?;
    let found = stop(&session, &attempts, decisions, now(), sources);
    let best = best(&session, &attempts).map(|best| {
        let over = session.baseline.as_ref().map(|name| format!(" of {name}")).unwrap_or_default();
        let on = best.workload.map(|name| format!(" on {name}")).unwrap_or_default();
        (best.speedup, format!("{}{over}{on}", times(best.speedup)))
    });
    let now = SessionNow {
        best,
        goal: Some(session.goal.text),
        settled: found.as_ref().map(|stop| stop.settled),
        stop_rule: found.map(|stop| stop.what),
    };
    Ok((now, blind(&attempts)))
}
