//! Sessions. In: one that begins, and its end with the report. Out: the open one of a folder and a user, and those that are over,
//! oldest first. Whatever a crash interrupts, the session is still there and open.

use kiln_core::Fault;
use kiln_session::{Session, SessionReport, SessionState};
use serde_json::Value;
use sqlx::any::AnyRow;

use crate::database::column::{Columns, json};
use crate::database::fault::fault;
use crate::{Kept, Store};

/// A session with its report, once it is over.
#[derive(Debug, Clone, PartialEq)]
pub struct SessionRecord {
    /// The session.
    pub session: Session,
    /// Its report; none while it is open, and where it cannot be read.
    pub report: Option<SessionReport>,
}

const COLUMNS: &str = "SELECT id, started_ms, ended_ms, state, folder, about, report FROM sessions";

impl Store {
    /// Records a session that begins; whether it did. Where one of the same folder and user is open, nothing changes, also
    /// when two begin at once.
    pub fn begin_session(&self, begun: &Session) -> Result<bool, Fault> {
        let what = &format!("recording session {}", begun.id);
        let about: Value = serde_json::to_value(begun).map_err(|e| Fault::new(what.as_str(), e))?;
        let insert = sqlx::query(
            "INSERT INTO sessions (id, started_ms, state, folder, by_user, about) VALUES ($1, $2, $3, $4, $5, $6)",
        )
        .bind(begun.id.as_str())
        .bind(begun.started_ms)
        .bind(begun.state.name())
        .bind(begun.folder.as_str())
        .bind(begun.user.as_str())
        .bind(json(what, "about", &Kept::<Value>::found(about))?);
        let sql = format!("{COLUMNS} WHERE state = 'open' AND folder = $1 AND by_user = $2");
        let others = sqlx::query(sqlx::AssertSqlSafe(sql)).bind(begun.folder.clone()).bind(begun.user.clone());
        self.transaction(what, |turn| {
            // One that cannot be read keeps nobody from working.
            let mut open = false;
            let taken =
                |row: Option<AnyRow>| open |= row.is_some_and(|row| session(Columns { row: &row, what }).is_ok());
            turn.each(others, taken).map_err(|e| fault(what, &e))?;
            if open {
                return Ok(false);
            }
            turn.change(insert).map(|_| true).map_err(|e| fault(what, &e))
        })
    }

    /// Records the end of a session. One that is over already stays as it is; whether it was open.
    pub fn end_session(&self, report: &SessionReport) -> Result<bool, Fault> {
        let (ended, what) = (&report.session, &format!("recording the end of session {}", report.session.id));
        let text = serde_json::to_value(report).map_err(|e| Fault::new(what.as_str(), e))?;
        let update =
            sqlx::query("UPDATE sessions SET ended_ms = $1, state = $2, report = $3 WHERE id = $4 AND state = 'open'")
                .bind(ended.ended_ms)
                .bind(ended.state.name())
                .bind(json(what, "report", &Kept::<Value>::found(text))?)
                .bind(ended.id.as_str());
        self.transaction(what, |session| session.change(update).map(|rows| rows > 0).map_err(|e| fault(what, &e)))
    }

    /// Records the report of a session that is over anew. One that is open stays as it is.
    pub fn amend_session(&self, report: &SessionReport) -> Result<(), Fault> {
        let what = &format!("recording the report of session {} anew", report.session.id);
        let text = serde_json::to_value(report).map_err(|e| Fault::new(what.as_str(), e))?;
        let update = sqlx::query("UPDATE sessions SET report = $1 WHERE id = $2 AND state <> 'open'")
            .bind(json(what, "report", &Kept::<Value>::found(text))?)
            .bind(report.session.id.as_str());
        self.transaction(what, |session| session.change(update).map(|_| ()).map_err(|e| fault(what, &e)))
    }

    /// The session of a folder and a user that was open at a moment, in milliseconds since 1970, and is over since.
    pub fn session_at(&self, folder: &str, user: &str, at_ms: i64) -> Result<Option<Session>, Fault> {
        let sql = format!(
            "{COLUMNS} WHERE state <> 'open' AND folder = $1 AND by_user = $2 AND started_ms <= $3 AND ended_ms > $3 \
             ORDER BY started_ms DESC LIMIT 1"
        );
        let statement = sqlx::query(sqlx::AssertSqlSafe(sql)).bind(folder.to_string()).bind(user.to_string());
        let found = self.list("listing sessions", statement.bind(at_ms), session)?;
        Ok(found.into_iter().next().map(|record| record.session))
    }

    /// The open session of a folder and a user.
    pub fn open_session(&self, folder: &str, user: &str) -> Result<Option<Session>, Fault> {
        let sql =
            format!("{COLUMNS} WHERE state = 'open' AND folder = $1 AND by_user = $2 ORDER BY started_ms DESC LIMIT 1");
        let statement = sqlx::query(sqlx::AssertSqlSafe(sql)).bind(folder.to_string()).bind(user.to_string());
        let found = self.list("listing sessions", statement, session)?;
        Ok(found.into_iter().next().map(|record| record.session))
    }

    /// Sessions of a folder, oldest first; those that cannot be read are left out.
    pub fn sessions(&self, folder: &str) -> Result<Vec<SessionRecord>, Fault> {
        let sql = format!("{COLUMNS} WHERE folder = $1 ORDER BY started_ms, id");
        let statement = sqlx::query(sqlx::AssertSqlSafe(sql)).bind(folder.to_string());
        let found = self.list("listing sessions", statement, session)?;
        // Its attempts are there all the same.
        let lost = |record: &&SessionRecord| record.session.state != SessionState::Open && record.report.is_none();
        for record in found.iter().filter(lost) {
            self.leave_out(&format!("the report of session {}", record.session.id));
        }
        Ok(found)
    }

    /// The folders that sessions are of.
    pub fn session_folders(&self) -> Result<Vec<String>, Fault> {
        let statement = sqlx::query("SELECT DISTINCT folder FROM sessions ORDER BY folder");
        self.read("listing the folders of sessions", statement, |row| row.get("folder"))
    }

    /// Makes the sessions of a folder those of another: it was moved there.
    pub fn move_sessions(&self, from: &str, to: &str) -> Result<(), Fault> {
        let what = &format!("moving the sessions of {from} to {to}");
        let update = sqlx::query("UPDATE sessions SET folder = $1 WHERE folder = $2")
            .bind(to.to_string())
            .bind(from.to_string());
        self.transaction(what, |session| session.change(update).map(|_| ()).map_err(|e| fault(what, &e)))
    }

    /// Sessions of all folders, in no order.
    pub(crate) fn every_session(&self) -> Result<Vec<SessionRecord>, Fault> {
        self.list("listing sessions", sqlx::query(COLUMNS), session)
    }
}

fn session(row: Columns<'_>) -> Result<SessionRecord, Fault> {
    let begun: Session = row.json("about")?;
    let report: Option<SessionReport> = row.maybe_json("report").ok().flatten();
    let (ended_ms, state, folder) = (row.get("ended_ms")?, row.read("state", SessionState::named)?, row.get("folder")?);
    Ok(SessionRecord { session: Session { ended_ms, state, folder, ..begun }, report })
}
