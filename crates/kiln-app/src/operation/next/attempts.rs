//! What sessions and attempts tell of a kernel. In: a project, a kernel. Out: whether it is retired, how the open session stands, whether the
//! doctor passed this machine, what was changed at once, and how often one cause refused in a row. Unknown where nothing is recorded of it.

use kiln_diagnose::next::{Look, SessionNow};
use kiln_session::{AttemptOutcome, Attempted, Session, crowded, warnings};
use kiln_store::{AttemptsOf, Store};

use super::asked::Asked;
use crate::attempt::{About, environment};
use crate::failure::Failure;
use crate::operation::session::{current, now, retired_kernel};
use crate::project::Project;

/// So many of a kernel's attempts are looked at, the newest.
const NEWEST: u32 = 100;

/// What is logged of a kernel, and the session that is open.
#[derive(Default)]
pub(super) struct Logged {
    retired: Option<String>,
    session: Option<SessionNow>,
    examined: Option<bool>,
    /// Oldest first.
    attempts: Vec<Attempted>,
}

impl Logged {
    pub(super) fn of(project: &Project, asked: &Asked) -> Result<Logged, Failure> {
        let Some(store) = project.recorded()? else { return Ok(Logged::default()) };
        let retired = retired_kernel(project, &asked.name, Some(&asked.path))?.map(|made| made.because);
        let session = match current(project)? {
            Some(session) => Some(stands(&store, session)?),
            None => None,
        };
        let here = environment();
        let machines = store.attempts(AttemptsOf::Kernel("", NEWEST))?;
        let doctor = machines.iter().rfind(|one| one.verb == "doctor" && one.environment == here);
        let attempts = store.attempts(AttemptsOf::Kernel(&asked.name, NEWEST))?;
        Ok(Logged { retired, session, examined: doctor.map(|one| one.outcome == AttemptOutcome::Passed), attempts })
    }

    /// Why the kernel was retired.
    pub(super) fn retired(&self) -> Look<String> {
        Look::of(self.retired.clone())
    }

    /// The open session.
    pub(super) fn session(&self) -> Look<SessionNow> {
        Look::of(self.session.clone())
    }

    /// Whether the doctor passed this machine.
    pub(super) fn examined(&self) -> Option<bool> {
        self.examined
    }

    /// Whether nobody checked the last change: the newest attempt that judged correctness was about other sources.
    pub(super) fn unchecked(&self, asked: &Asked) -> Option<bool> {
        let judges = |one: &&Attempted| matches!(one.verb.as_str(), "check" | "fuzz" | "bench" | "tune" | "ci");
        let newest = self.attempts.iter().rfind(judges)?.sources.as_deref()?;
        let sources = About::of(asked.file.as_ref()?, &asked.path).sources?;
        Some(newest != sources)
    }

    /// Several variables that were changed at once, before the newest measurement.
    pub(super) fn several_changed(&self) -> Look<String> {
        let measured = self.attempts.iter().rfind(|one| one.speedup.is_some());
        let Some(newest) = measured else { return Look::Unknown };
        let found = crowded(&self.attempts).into_iter().rfind(|one| one.attempt == newest.id);
        Look::of(found.map(|one| one.changed.words()))
    }

    /// How many failures in a row were of one cause; none where the newest attempt did not fail.
    pub(super) fn refusals_alike(&self) -> Option<u64> {
        let cause = self.attempts.last()?.mistake()?;
        Some(self.attempts.iter().rev().take_while(|one| one.mistake() == Some(cause)).count() as u64)
    }
}

/// How a session stands.
fn stands(store: &Store, session: Session) -> Result<SessionNow, Failure> {
    let attempts = store.attempts(AttemptsOf::Session(&session.id))?;
    let own = store.decisions(None)?.into_iter().rfind(|made| made.session.as_ref() == Some(&session.id));
    let rule = warnings(&session, &attempts, now()).into_iter().next();
    Ok(SessionNow {
        goal: Some(session.goal.text),
        stop_rule: rule.map(|warning| warning.what),
        decided: own.map(|made| format!("{}: {}", made.choice, made.because)),
    })
}
