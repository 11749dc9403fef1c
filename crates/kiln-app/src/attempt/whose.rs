//! Whose session it is: one may be open for a project's folder and a user. In: a project and the moment. Out: the open one. One that
//! nobody touched for half a day was abandoned: it is closed with what is known, and that is said. A project that was moved keeps its
//! sessions.

use camino::{Utf8Path, Utf8PathBuf};
use jiff::Timestamp;
use kiln_core::{Fault, Report};
use kiln_session::{Session, SessionState};
use kiln_store::Store;

use crate::operation::session::closed;
use crate::project::Project;

/// Milliseconds without a command after which a session is over.
const ABANDONED: i64 = 12 * 3600 * 1000;

/// The project's folder, as only one folder is called.
fn here(project: &Project) -> String {
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

/// The folder that the project's sessions are recorded under.
pub(crate) fn home(project: &Project, store: &Store) -> Result<String, Fault> {
    settle(project, store)?;
    Ok(here(project))
}

/// The folders whose sessions are shown: this one, and the one that the store lies in, where kiln runs in another.
pub(crate) fn homes(project: &Project, store: &Store) -> Result<Vec<String>, Fault> {
    let here = home(project, store)?;
    let root = project.root().map(Utf8PathBuf::into_string).filter(|root| *root != here);
    Ok([here].into_iter().chain(root).collect())
}

/// Sessions of a folder that is gone belong to the project whose own store holds them: it was moved.
fn settle(project: &Project, store: &Store) -> Result<(), Fault> {
    let (Some(root), here) = (project.root(), here(project)) else { return Ok(()) };
    for folder in store.session_folders()?.into_iter().filter(|folder| *folder != root.as_str() && *folder != here) {
        // What lies there now may be something else.
        if !Utf8Path::new(&folder).join(project.folder().file_name().unwrap_or_default()).exists() {
            store.move_sessions(&folder, root.as_str())?;
        }
    }
    Ok(())
}

/// The open session, if there is one that somebody still works in.
pub(crate) fn open(project: &Project, store: &Store, now_ms: i64) -> Result<Option<Session>, Fault> {
    let Some(mut session) = store.open_session(&home(project, store)?, &user())? else { return Ok(None) };
    // A kernel whose folder was moved is still the session's.
    session.path = session.path.filter(|path| Utf8Path::new(path).is_dir());
    if now_ms - session.started_ms <= ABANDONED {
        return Ok(Some(session));
    }
    let last = last_ms(store, &session)?;
    if now_ms - last <= ABANDONED {
        return Ok(Some(session));
    }
    let over = Session { ended_ms: Some(last), state: SessionState::Abandoned, ..session };
    if store.end_session(&closed(project, store, over.clone(), None, last)?)? {
        project.notice(abandoned(&over, last));
    }
    Ok(None)
}

/// The session that was open at a moment, if there was one. One that is over since keeps what began while it was open.
pub(crate) fn open_at(project: &Project, store: &Store, at_ms: i64) -> Result<Option<Session>, Fault> {
    let open = open(project, store, at_ms)?.filter(|session| session.started_ms <= at_ms);
    match open {
        Some(session) => Ok(Some(session)),
        None => store.session_at(&here(project), &user(), at_ms),
    }
}

/// Makes the report of a session that is over again: what began in it was recorded after its end.
pub(crate) fn amend(project: &Project, store: &Store, session: &Session) -> Result<(), Fault> {
    let Some(ended) = session.ended_ms else { return Ok(()) };
    let known = store.sessions(&session.folder)?.into_iter().find(|record| record.session.id == session.id);
    // What the assistant cost stays as it was said.
    let bill = known.and_then(|record| record.report).and_then(|report| report.cost.assistant);
    store.amend_session(&closed(project, store, session.clone(), bill, ended)?)
}

/// Says that a session was closed.
fn abandoned(session: &Session, last_ms: i64) -> Report {
    let id = session.short_id();
    let last = Timestamp::from_millisecond(last_ms).map(|last| last.strftime("%Y-%m-%d %H:%M UTC").to_string());
    let since = last.unwrap_or_else(|_| "12 hours".into());
    let report = Report::warning(format!("session {id} is closed as abandoned: no command since {since}"));
    report.hint(format!("`kiln session report {id}` shows its report"))
}

/// When something was last done in a session.
fn last_ms(store: &Store, session: &Session) -> Result<i64, Fault> {
    Ok(store.last_ended_ms(&session.id)?.unwrap_or(session.started_ms).max(session.started_ms))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use kiln_session::{Goal, Prices};

    use super::*;
    use crate::project::Stop;

    fn project(folder: &Utf8Path) -> (Project, Store) {
        let kiln = folder.join(".kiln");
        let place = kiln.join("kiln.db").into_string();
        let project = Project::here(Some(place), Stop::never()).in_folder(&kiln);
        let store = project.store().unwrap();
        (project, store)
    }

    fn session(folder: &Utf8Path, started_ms: i64) -> Session {
        Session {
            id: format!("session-{started_ms:06}"),
            started_ms,
            ended_ms: None,
            state: SessionState::Open,
            folder: folder.canonicalize_utf8().unwrap().into_string(),
            user: user(),
            kernel: None,
            path: None,
            goal: Goal::default(),
            budget_s: 60.0,
            phase_minutes: BTreeMap::new(),
            prices: Prices::default(),
            worth: None,
            gpu: None,
            baseline: None,
            smallest: None,
            criteria: None,
        }
    }

    #[test]
    fn an_abandoned_session_is_closed_and_said() {
        let place = tempfile::tempdir().unwrap();
        let folder = Utf8PathBuf::from_path_buf(place.path().to_path_buf()).unwrap();
        let (project, store) = project(&folder);
        assert!(store.begin_session(&session(&folder, 7)).unwrap());
        assert!(open(&project, &store, 1000).unwrap().is_some() && project.notices().is_empty());
        assert!(open(&project, &store, 1000 + ABANDONED).unwrap().is_none());
        let said = project.notices();
        assert_eq!(said[0].message, "session 000007 is closed as abandoned: no command since 1970-01-01 00:00 UTC");
        assert!(said[0].hint.as_deref().unwrap().contains("kiln session report 000007"));
        let name = |id: &str| crate::operation::past_session(&project, id).map(|report| report.session.id);
        assert_eq!(name("000007").unwrap(), "session-000007");
        assert!(store.begin_session(&session(&folder, 17)).unwrap());
        assert!(name("000017").unwrap_err().to_string().contains("no session"), "it was abandoned at once");
        let said = name("7").unwrap_err().to_string();
        assert!(said.contains("expected one of session-000017, session-000007"), "{said}");
        assert!(name("").is_err() && name("last").unwrap() == "session-000017");
    }

    #[test]
    fn sessions_of_the_stores_own_project_are_shown_from_elsewhere() {
        let place = tempfile::tempdir().unwrap();
        let base = Utf8PathBuf::from_path_buf(place.path().to_path_buf()).unwrap();
        let (own, other) = (base.join("own"), base.join("other"));
        std::fs::create_dir(&own).unwrap();
        std::fs::create_dir(&other).unwrap();
        let (_, store) = project(&own);
        let over =
            |session: Session| Session { ended_ms: Some(session.started_ms), state: SessionState::Ended, ..session };
        assert!(store.begin_session(&session(&own, 7)).unwrap());
        let there = Project::here(Some(own.join(".kiln/kiln.db").into_string()), Stop::never());
        let there = there.in_folder(&other.join(".kiln"));
        store.end_session(&closed(&there, &store, over(session(&own, 7)), None, 8).unwrap()).unwrap();
        assert!(store.begin_session(&session(&other, 9)).unwrap());
        let shown: Vec<String> =
            crate::operation::past_sessions(&there).unwrap().into_iter().map(|row| row.session).collect();
        assert_eq!(shown, ["session-000007"]);
        // The one that is open there stays its own.
        assert_eq!(open(&there, &store, 10).unwrap().unwrap().id, "session-000009");
        assert_eq!(crate::operation::any_session(&there, "000009").unwrap().session.id, "session-000009");
    }

    #[test]
    fn a_project_that_was_moved_has_its_sessions_and_a_copy_has_not() {
        let place = tempfile::tempdir().unwrap();
        let base = Utf8PathBuf::from_path_buf(place.path().to_path_buf()).unwrap();
        let (first, second) = (base.join("first"), base.join("second"));
        std::fs::create_dir(&first).unwrap();
        let (_, store) = project(&first);
        assert!(store.begin_session(&session(&first, 7)).unwrap());
        drop(store);
        std::fs::create_dir_all(second.join(".kiln")).unwrap();
        std::fs::copy(first.join(".kiln/kiln.db"), second.join(".kiln/kiln.db")).unwrap();
        let (copied, store) = project(&second);
        assert_eq!(open(&copied, &store, 9).unwrap(), None, "it is open in the other folder");
        drop(store);
        std::fs::remove_dir_all(&second).unwrap();
        std::fs::rename(&first, &second).unwrap();
        let (moved, store) = project(&second);
        assert_eq!(open(&moved, &store, 9).unwrap().unwrap().folder, second.canonicalize_utf8().unwrap());
    }

    #[test]
    fn what_began_in_a_session_is_its_own_after_its_end() {
        let place = tempfile::tempdir().unwrap();
        let folder = Utf8PathBuf::from_path_buf(place.path().to_path_buf()).unwrap();
        let (project, store) = project(&folder);
        assert!(store.begin_session(&session(&folder, 100)).unwrap());
        let over = Session { ended_ms: Some(200), state: SessionState::Ended, ..session(&folder, 100) };
        store.end_session(&closed(&project, &store, over.clone(), Some(2.5), 200).unwrap()).unwrap();
        assert!(store.begin_session(&session(&folder, 300)).unwrap());
        let at = |ms: i64| open_at(&project, &store, ms).unwrap().map(|session| session.started_ms);
        assert_eq!([at(50), at(150), at(250), at(350)], [None, Some(100), None, Some(300)]);
        amend(&project, &store, &over).unwrap();
        let report = crate::operation::past_session(&project, "000100").unwrap();
        assert_eq!((report.session.ended_ms, report.cost.assistant), (Some(200), Some(2.5)));
    }
}
