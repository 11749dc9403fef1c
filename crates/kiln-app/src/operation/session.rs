//! Sessions: stretches of work with a goal, a budget and prices. In: a project. Out: the session that begins, how it stands, the report
//! at its end; what was decided. Commands join the open session by themselves. Refuses a second one for the same folder and user.

mod choice;
mod retiring;
mod start;

use camino::Utf8Path;
use kiln_core::{Fault, Report};
use kiln_session::{Attempted, Decision, Material, Session, SessionReport, SessionRow, SessionState, report};
use kiln_store::{AttemptsOf, Store};

use crate::attempt::{About, homes, open};
use crate::failure::Failure;
use crate::kernel::KernelFile;
use crate::project::Project;
pub use choice::{DecideRequest, decide};
pub use retiring::{RetireRequest, retire, retired_kernel};
pub use start::{SessionDefaults, StartSessionRequest, session_defaults, start_session};

/// Attempts before a session that its report looks back on.
const BEFORE: u32 = 5000;

/// More money than this is a slip of the finger.
const MOST: f64 = 1e9;

/// An amount of money as it was typed.
fn amount(flag: &str, value: f64) -> Result<f64, Failure> {
    match (0.0..=MOST).contains(&value) {
        true => Ok(value),
        false => {
            let report = Report::error(format!("{flag} {value:e}"));
            Err(report.label("expected an amount from 0 to 1,000,000,000").into())
        }
    }
}

/// Words in one line, which cannot break a table or a terminal.
pub(crate) fn one_line(words: &str) -> String {
    let plain: String = words.chars().map(|letter| if letter.is_control() { ' ' } else { letter }).collect();
    plain.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// How the open session stands.
pub fn session_status(project: &Project) -> Result<SessionReport, Failure> {
    let (store, session) = opened(project)?;
    let now = now();
    Ok(closed(project, &store, session, None, now)?)
}

/// Ends the open session. An assistant's bill takes the place of its hourly price.
pub fn end_session(project: &Project, assistant_bill: Option<f64>) -> Result<SessionReport, Failure> {
    assistant_bill.map(|bill| amount("--assistant-cost", bill)).transpose()?;
    let (store, session) = opened(project)?;
    let now = now();
    let over = Session { ended_ms: Some(now), state: SessionState::Ended, ..session };
    let report = closed(project, &store, over, assistant_bill, now)?;
    store.end_session(&report)?;
    Ok(report)
}

/// Sessions that are over, oldest first: of this folder, and of the project that the store lies in.
pub fn past_sessions(project: &Project) -> Result<Vec<SessionRow>, Failure> {
    Ok(past(project)?.into_iter().map(|report| report.row).collect())
}

/// Candidates that are listed where an id fits several sessions.
const CANDIDATES: usize = 10;

/// The report of a session that is over, by the end of its id; `last` is the newest. Refuses what fits none, or several.
pub fn past_session(project: &Project, id: &str) -> Result<SessionReport, Failure> {
    let unknown = || Report::error(format!("there is no session `{id}` that is over"));
    let listed = "`kiln session list` lists them";
    if id.trim().is_empty() {
        return Err(unknown().label("expected the end of a session's id, or last").hint(listed).into());
    }
    let mut found = past(project)?;
    if id != "last" {
        found.retain(|report| report.session.id.ends_with(id));
    }
    match (found.pop(), found.is_empty() || id == "last") {
        (Some(report), true) => Ok(report),
        (Some(report), false) => {
            found.push(report);
            let some: Vec<&str> = found.iter().rev().take(CANDIDATES).map(|one| one.session.id.as_str()).collect();
            let more = if found.len() > CANDIDATES { ", ..." } else { "" };
            let report = Report::error(format!("`{id}` is the end of {} sessions' ids", found.len()));
            Err(report.label(format!("expected one of {}{more}", some.join(", "))).hint("give more of its end").into())
        }
        (None, _) => {
            let open = current(project)?.filter(|session| session.id.ends_with(id));
            let hint = open.map_or(listed, |_| "it is still open: `kiln session status` shows it");
            Err(unknown().hint(hint).into())
        }
    }
}

/// The report of a session that is over, or of the one that is open, by the end of its id.
pub fn any_session(project: &Project, id: &str) -> Result<SessionReport, Failure> {
    let is_open = |session: Session| !id.trim().is_empty() && session.id.ends_with(id);
    if current(project)?.is_some_and(is_open) { session_status(project) } else { past_session(project, id) }
}

/// Reports of sessions that are over, oldest first. One that cannot be read is made again from what was recorded.
fn past(project: &Project) -> Result<Vec<SessionReport>, Failure> {
    let Some(store) = project.recorded()? else { return Ok(Vec::new()) };
    let mut records = Vec::new();
    for home in homes(project, &store)? {
        records.extend(store.sessions(&home)?);
    }
    records.sort_by(|a, b| (a.session.started_ms, &a.session.id).cmp(&(b.session.started_ms, &b.session.id)));
    let over = records.into_iter().filter(|record| !record.session.is_open());
    let made = over.map(|record| match (record.report, record.session) {
        (Some(report), _) => Ok(report),
        (None, session) => {
            let ended = session.ended_ms.unwrap_or(session.started_ms);
            closed(project, &store, session, None, ended)
        }
    });
    let made = made.collect::<Result<Vec<SessionReport>, Fault>>()?;
    Ok(made)
}

/// The report of a session as it is given, at a moment.
pub(crate) fn closed(
    project: &Project,
    store: &Store,
    session: Session,
    assistant_bill: Option<f64>,
    now_ms: i64,
) -> Result<SessionReport, Fault> {
    let attempts: Vec<Attempted> = store.attempts(AttemptsOf::Session(&session.id))?;
    let before = store.attempts(AttemptsOf::Before(session.started_ms, BEFORE))?;
    let mine = |made: &Decision| made.session.as_ref() == Some(&session.id);
    let decisions: Vec<Decision> = store.decisions(None)?.into_iter().filter(mine).collect();
    let past = store.sessions(&session.folder)?.into_iter().filter_map(|record| record.report);
    // A session about a kernel is held against others about it.
    let alike = |report: &SessionReport| {
        report.session.id != session.id
            && report.session.started_ms < session.started_ms
            && (session.kernel.is_none() || report.session.kernel == session.kernel)
    };
    let earlier: Vec<SessionReport> = past.filter(alike).collect();
    let kernel = session.path.as_deref().map(Utf8Path::new);
    let sources = kernel.and_then(|path| About::of(&KernelFile::read(path).ok()?, path).sources);
    Ok(report(&Material {
        session: &session,
        attempts: &attempts,
        before: &before,
        decisions: &decisions,
        earlier: &earlier,
        learned: &learned(project, &session),
        assistant_bill,
        sources: sources.as_deref(),
        now_ms,
    }))
}

/// Lessons of the project's own that were written since a session began.
fn learned(project: &Project, session: &Session) -> Vec<String> {
    let folder = project.folder().join("lessons");
    let began = std::time::UNIX_EPOCH + std::time::Duration::from_millis(session.started_ms.max(0) as u64);
    let is_new = |file: &Utf8Path| {
        let written = std::fs::metadata(file).and_then(|about| about.modified());
        file.extension() == Some("toml") && written.is_ok_and(|written| written >= began)
    };
    let files = folder.read_dir_utf8().into_iter().flatten().flatten().map(|entry| entry.into_path());
    let mut ids: Vec<String> =
        files.filter(|file| is_new(file)).filter_map(|file| file.file_stem().map(String::from)).collect();
    ids.sort();
    ids
}

/// The open session and the store it is in. Refuses where there is none.
fn opened(project: &Project) -> Result<(Store, Session), Failure> {
    let none = || {
        let report = Report::error("no session is open here");
        Failure::from(
            report
                .hint("`kiln session start --goal \"1.2x\"` begins one; `kiln session list` lists those that are over"),
        )
    };
    let store = project.recorded()?.ok_or_else(none)?;
    let session = open(project, &store, now())?.ok_or_else(none)?;
    Ok((store, session))
}

/// The open session, if there is one; looking makes no store.
pub(crate) fn current(project: &Project) -> Result<Option<Session>, Failure> {
    let Some(store) = project.recorded()? else { return Ok(None) };
    Ok(open(project, &store, now())?)
}

/// The newest session that fits: the open one, else the last that is over.
pub(crate) fn latest(project: &Project, fits: impl Fn(&Session) -> bool) -> Result<Option<Session>, Failure> {
    let Some(store) = project.recorded()? else { return Ok(None) };
    if let Some(session) = open(project, &store, now())?.filter(&fits) {
        return Ok(Some(session));
    }
    let mut all = Vec::new();
    for home in homes(project, &store)? {
        all.extend(store.sessions(&home)?.into_iter().map(|record| record.session));
    }
    Ok(all.into_iter().filter(|session| !session.is_open() && fits(session)).max_by_key(|session| session.started_ms))
}

/// Milliseconds since 1970.
pub(crate) fn now() -> i64 {
    jiff::Timestamp::now().as_millisecond()
}
