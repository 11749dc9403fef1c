//! The record of an attempt: every operation that judges something leaves one, once, at its end. In: what was asked for, and how it
//! ended. Out: a row in the store, in the open session if there is one, and what the rules say about it. A mistake in what was
//! asked for is no attempt, and where there is no kernel no store is made for one. Recording never changes a result.

mod about;
mod committed;
mod figures;
mod found;
mod kept;
mod said;
mod whose;

use std::time::Instant;

use camino::Utf8Path;
use kiln_core::{Gate, Report};
use kiln_session::{AttemptOutcome, Attempted, PutRight, Session, SessionPhase, put_right};
use kiln_store::{AttemptsOf, Store, Study};

use crate::ending::Ending;
use crate::failure::Failure;
use crate::kernel::kernels_below;
use crate::lessons::{Shelf, lesson_for};
use crate::project::Project;
use crate::teller::{FirstLook, Teller};
pub use about::environment;
pub(crate) use about::{About, inside, sources_at};
pub(crate) use committed::committed;
pub(crate) use found::{Found, Ratio, Tried};
pub(crate) use kept::{differences, differing};
use said::newly;
pub(crate) use whose::{amend, home, homes, open, open_at, user};

/// The gate of what a kernel's file rules out by itself.
const RULE: Gate = Gate::Constraint;

/// Whether somebody works on kernels in this folder.
fn is_kernel_here() -> bool {
    let here = Utf8Path::new(".");
    here.join("kernel.toml").is_file() || !kernels_below(here).is_empty()
}

/// A lesson to keep: a failure that no lesson knew was put right by the last of these attempts.
fn proposed(project: &Project, own: &[Attempted]) -> Option<String> {
    let made = own.last().filter(|made| !made.kernel.is_empty())?;
    // A rule that the kernel's file states teaches nobody anything new.
    let is_new =
        |found: &PutRight| found.failure.lesson.is_none() && found.failure.cause.as_deref() != Some(RULE.name());
    let found = put_right(own).filter(is_new)?;
    let (kernel, cause) = (&made.kernel, found.failure.cause.as_deref().unwrap_or_default());
    let changed = changes(project, &found);
    Some(format!(
        "{kernel} passes after {cause}; changed: {changed}. Keep it as a lesson: kiln lessons add --from-last {kernel}"
    ))
}

/// Files that are named one by one.
const NAMED: usize = 3;

/// What was changed in between, in words: files by name where those of the failure are kept.
pub(crate) fn changes(project: &Project, found: &PutRight) -> String {
    let words = found.changed.words();
    if !found.changed.sources {
        return words;
    }
    let digest = found.failure.sources.as_deref().unwrap_or_default();
    let files = differing(project, digest, &sources_at(&found.failure.path));
    let named = match files.len() {
        0 => "the kernel file or its sources".into(),
        1..=NAMED => files.join(", "),
        more => format!("{more} files of the kernel"),
    };
    words.replacen("the sources", &named, 1)
}

/// An attempt that is recorded.
struct Joined {
    /// The session it belongs to.
    session: Option<Session>,
    made: Attempted,
    /// The session's short id, where it ended meanwhile.
    late: Option<String>,
    /// The session's baseline, where only others were measured.
    beside: Option<String>,
}

/// What is said about an attempt.
#[derive(Debug, Default)]
struct Said {
    warnings: Vec<Report>,
    note: Option<String>,
}

/// An operation under way.
pub(crate) struct Trying<'p> {
    project: &'p Project,
    began: Instant,
    at_ms: i64,
    verb: &'static str,
    phase: SessionPhase,
    about: About,
}

impl<'p> Trying<'p> {
    /// Begins one.
    pub(crate) fn new(project: &'p Project, verb: &'static str, phase: SessionPhase, about: About) -> Trying<'p> {
        let at_ms = jiff::Timestamp::now().as_millisecond();
        Trying { project, began: Instant::now(), at_ms, verb, phase, about }
    }

    /// Records how it ended, tells what follows from that, and then the end itself.
    pub(crate) fn told<T: Tried>(self, teller: &Teller<'_>, result: Result<T, Failure>) -> Result<T, Failure> {
        let project = self.project;
        let Said { warnings, note } = self.record(&result, Some(teller));
        teller.warn(&project.notices());
        teller.warn(&warnings);
        note.into_iter().for_each(|words| teller.note(words));
        teller.end(result)
    }

    /// The same for an operation that nobody listens to.
    pub(crate) fn quietly<T: Tried>(self, result: Result<T, Failure>) -> Result<T, Failure> {
        self.record(&result, None);
        result
    }

    fn record<T: Tried>(self, result: &Result<T, Failure>, teller: Option<&Teller<'_>>) -> Said {
        let Some(made) = self.made(result, teller) else { return Said::default() };
        // Where nothing was ever kept and there is no kernel, there is no reason to begin.
        let place = self.project.store_place();
        let begun = || kiln_store::exists(place) || self.project.folder().is_dir();
        let works = || !self.about.kernel.is_empty() || is_kernel_here();
        if self.project.is_unrecorded() || (!begun() && !works()) {
            return Said::default();
        }
        // A record that cannot be made is no reason to lose what was found out.
        let not = |what: &str, fault: kiln_core::Fault| {
            let words = format!("{what}: {}: {}", fault.what, fault.why);
            self.project.notice(Report::warning(words).maybe_hint(fault.hint));
            Said::default()
        };
        let kept = self.project.kept_store().and_then(|store| Ok((self.kept(&store, made)?, store)));
        let (joined, store) = match kept {
            Ok(kept) => kept,
            Err(fault) => {
                let command = self.verb.split(' ').next().unwrap_or(self.verb);
                return not(&format!("this {command} is not recorded as an attempt"), fault);
            }
        };
        let said = self.follows(&store, joined);
        said.unwrap_or_else(|fault| not("this attempt is recorded, and what it leads to is not known", fault))
    }

    /// Records it in the open session.
    fn kept(&self, store: &Store, (mut made, found): (Attempted, Found)) -> Result<Joined, kiln_core::Fault> {
        let session: Option<Session> = open_at(self.project, store, made.at_ms)?;
        // A baseline and a goal are of the session's kernel.
        let own = session.as_ref().filter(|session| session.is_about(&made));
        let goal = own.and_then(|session| session.goal.workload.as_deref());
        let wanted = own.and_then(|session| session.baseline.as_deref());
        let counts = |over: Option<&str>| self.about.counts(over, wanted);
        (made.speedup, made.workload) =
            found.speedup(goal, counts).map_or((None, None), |(speedup, on)| (Some(speedup), on));
        // What failed says why, in words that a lesson may be made of; else it says what was measured.
        if !made.failed() {
            made.words = figures::sentence(&found, &found.counting(goal, counts));
        }
        made.session = session.as_ref().map(|session| session.id.clone());
        store.record_attempt(&made)?;
        self.project.recorded_one();
        if let Some(digest) = made.sources.as_ref().filter(|_| made.failed()) {
            kept::keep(self.project, digest, &self.about.files);
        }
        let late = session.as_ref().filter(|session| !session.is_open());
        late.map(|session| amend(self.project, store, session)).transpose()?;
        let beside = wanted.filter(|_| made.speedup.is_none() && !found.ratios.is_empty()).map(String::from);
        Ok(Joined { late: late.map(|session| session.short_id().into()), session, made, beside })
    }

    /// What it leads to.
    fn follows(&self, store: &Store, joined: Joined) -> Result<Said, kiln_core::Fault> {
        let Joined { session, made, beside, late } = joined;
        // Rules are for a session that goes on.
        if let Some(id) = late {
            let words =
                format!("session {id} ended meanwhile; its report has this attempt now: kiln session report {id}");
            return Ok(Said { warnings: Vec::new(), note: Some(words) });
        }
        let mut own = store.attempts(match &session {
            Some(session) => AttemptsOf::Session(&session.id),
            None => AttemptsOf::Kernel(&made.kernel, said::REMEMBERED),
        })?;
        // A longer one may have begun before this one, and ended after it.
        own.retain(|one| one.id != made.id);
        own.push(made);
        // What earlier sessions put right is known here too.
        let before = session.as_ref().filter(|_| own.last().is_some_and(|made| made.mistake().is_some()));
        let before = before.map(|session| store.attempts(AttemptsOf::Before(session.started_ms, said::EARLIER)));
        let before = before.transpose()?.unwrap_or_default();
        let mut warnings = newly(self.project, session.as_ref(), &before, &own);
        warnings.extend(beside.map(|wanted| {
            let words =
                format!("this speedup is over another baseline than the session's, {wanted}, and does not count");
            Report::warning(words).hint(format!("kiln {} {} --baseline {wanted}", self.verb, self.about.path))
        }));
        Ok(Said { warnings, note: proposed(self.project, &own) })
    }

    /// The record; none for a mistake in what was asked for.
    fn made<T: Tried>(&self, result: &Result<T, Failure>, teller: Option<&Teller<'_>>) -> Option<(Attempted, Found)> {
        let (ending, mut found) = match result {
            Ok(value) => (value.ending(), value.found()),
            Err(Failure::Input(_)) => return None,
            Err(failure) => (Ending::Failed, Found::of_failure(failure)),
        };
        let outcome = match ending {
            Ending::BadInput => return None,
            _ if self.project.is_stopped() => AttemptOutcome::Interrupted,
            Ending::Interrupted => AttemptOutcome::Interrupted,
            Ending::Done => AttemptOutcome::Passed,
            Ending::Refused | Ending::NotReached | Ending::Regressed | Ending::Refuted => AttemptOutcome::Refused,
            Ending::Unfit | Ending::Failed => AttemptOutcome::Fault,
        };
        let (phase, parts) = (found.phase.unwrap_or(self.phase), teller.map(Teller::parts).unwrap_or_default());
        // A first look is no verdict: it shows what is slow, and never that anything is fast.
        if found.ratios.is_empty() && outcome == AttemptOutcome::Refused {
            let first = teller.and_then(Teller::first_look).filter(|first| first.ratio < 1.0);
            found.ratios.extend(first.map(|FirstLook { baseline, workload, ratio }| Ratio {
                on: Some(workload),
                over: Some(baseline),
                times: ratio,
                holdout: false,
                verdict: None,
            }));
        }
        let failed = matches!(outcome, AttemptOutcome::Refused | AttemptOutcome::Fault);
        let taught = failed && !found.is_silent();
        let lesson = taught.then(|| lesson_for(&Shelf::open(self.project), &found.seen, None, None)).flatten();
        let made = Attempted {
            id: Study::new_id(),
            at_ms: self.at_ms,
            seconds: self.began.elapsed().as_secs_f64(),
            session: None,
            kernel: self.about.kernel.clone(),
            path: self.about.path.clone(),
            verb: self.verb.into(),
            phase,
            parts: if self.verb == "tune" { parts } else { Default::default() },
            outcome,
            cause: found.cause().filter(|_| failed),
            words: found.words().filter(|_| failed),
            config: found.config.clone(),
            sources: self.about.sources.clone(),
            environment: environment(),
            speedup: None,
            workload: None,
            limit: found.limit.clone().map(|(cause, _)| cause),
            promise: found.limit.clone().map(|(_, promise)| promise).filter(|promise| promise.is_finite()),
            lesson: lesson.map(|lesson| lesson.id),
            hypothesis: self.project.supposed().map(|supposed| supposed.hypothesis.clone()),
            command: self.project.supposed().map(|supposed| supposed.command.clone()),
        };
        Some((made, found))
    }
}
