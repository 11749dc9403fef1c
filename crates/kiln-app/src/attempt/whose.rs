//! Whose session it is: one may be open for a project's folder and a user. In: a project and the moment. Out: the open one. One that
//! nobody touched for half a day was abandoned: it is closed with what is known.

use camino::Utf8Path;
use kiln_core::Fault;
use kiln_session::{Session, SessionState};
use kiln_store::{AttemptsOf, Store};

use crate::operation::session::closed;
use crate::project::Project;

/// Milliseconds without a command after which a session is over.
const ABANDONED: i64 = 12 * 3600 * 1000;

/// The project's folder, as only one folder is called.
pub(crate) fn here(project: &Project) -> String {
    let folder = project.folder().parent().filter(|folder| !folder.as_str().is_empty());
    let folder = folder.unwrap_or(Utf8Path::new("."));
    folder.canonicalize_utf8().unwrap_or_else(|_| folder.to_owned()).into_string()
}

/// Who works here.
pub(crate) fn user() -> String {
    let named =
        ["USER", "LOGNAME"].into_iter().find_map(|name| std::env::var(name).ok().filter(|name| !name.is_empty()));
    named.unwrap_or_else(|| "somebody".into())
}

/// The open session, if there is one that somebody still works in.
pub(crate) fn open(project: &Project, store: &Store, now_ms: i64) -> Result<Option<Session>, Fault> {
    let Some(session) = store.open_session(&here(project), &user())? else { return Ok(None) };
    if now_ms - session.started_ms <= ABANDONED {
        return Ok(Some(session));
    }
    let last = last_ms(store, &session)?;
    if now_ms - last <= ABANDONED {
        return Ok(Some(session));
    }
    let over = Session { ended_ms: Some(last), state: SessionState::Abandoned, ..session };
    store.end_session(&closed(project, store, over, None, last)?)?;
    Ok(None)
}

/// When something was last done in a session.
pub(crate) fn last_ms(store: &Store, session: &Session) -> Result<i64, Fault> {
    let attempts = store.attempts(AttemptsOf::Session(&session.id))?;
    Ok(attempts.iter().map(|one| one.ended_ms()).max().unwrap_or(session.started_ms).max(session.started_ms))
}
