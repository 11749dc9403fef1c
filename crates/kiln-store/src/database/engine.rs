//! What differs from engine to engine; today there is SQLite. In: a fresh connection. Out: one that waits its turn and
//! a file that is written ahead. Elsewhere SQL is plain.

use std::thread;
use std::time::{Duration, Instant};

use sqlx::Row;

use crate::database::fault::is_busy;
use crate::database::session::Session;

/// Begins a transaction that will write. SQLite is told so at once: a transaction that reads first and then wants to
/// write is turned away, without waiting, when another has written in between.
pub(crate) const BEGIN: &str = "BEGIN IMMEDIATE";

/// The texts `line` of many rows as lines of one, in their order.
pub(crate) const LINES: &str = "group_concat(line, char(10))";

/// The function that makes a list in JSON of values.
pub(crate) const LIST: &str = "json_array";

/// A double as text, anything else as it is. It reads back to the same bits between 1e-30 and 1e30.
pub(crate) fn exact(column: &str) -> String {
    format!("CASE typeof({column}) WHEN 'real' THEN printf('%!.17g', {column}) ELSE {column} END")
}

/// How long to wait for another process, which holds the store for milliseconds unless something is wrong.
const PATIENCE: Duration = Duration::from_secs(10);

/// Sets a connection up, leaving the file as it is. Synchronous NORMAL: with write-ahead a commit costs no wait for the
/// disk and yet leaves a whole file after a power cut.
pub(crate) fn prepare(session: &mut Session<'_>) -> Result<(), sqlx::Error> {
    session.script("PRAGMA busy_timeout = 10000; PRAGMA synchronous = NORMAL; PRAGMA foreign_keys = ON")
}

/// Has the file written ahead from now on, so that readers and a writer do not stop each other.
pub(crate) fn write_ahead(session: &mut Session<'_>) -> Result<(), sqlx::Error> {
    // Changing the mode is the one thing SQLite does not wait for, and two may be opening a new store at once.
    let begun = Instant::now();
    loop {
        match change_mode(session) {
            Err(error) if is_busy(&error) && begun.elapsed() < PATIENCE => thread::sleep(Duration::from_millis(5)),
            done => return done,
        }
    }
}

fn change_mode(session: &mut Session<'_>) -> Result<(), sqlx::Error> {
    for statement in ["PRAGMA journal_mode", "PRAGMA journal_mode = WAL"] {
        let mode = session.row(sqlx::query(statement))?;
        if mode.map(|row| row.try_get::<String, _>(0)).transpose()?.as_deref() == Some("wal") {
            return Ok(());
        }
    }
    // Some file systems cannot do it. Without write-ahead, only waiting for the disk is safe against a power cut.
    session.script("PRAGMA synchronous = FULL")
}

/// The names of the tables there are.
pub(crate) fn tables(session: &mut Session<'_>) -> Result<Vec<String>, sqlx::Error> {
    let rows = session.rows(sqlx::query("SELECT name FROM sqlite_master WHERE type = 'table'"))?;
    rows.iter().map(|row| row.try_get(0)).collect()
}

/// A number that differs once another connection has changed the file. None where an engine has none.
pub(crate) fn change(session: &mut Session<'_>) -> Result<Option<i64>, sqlx::Error> {
    session.row(sqlx::query("PRAGMA data_version"))?.map(|row| row.try_get(0)).transpose()
}

/// What is wrong with the file, if anything is: every page is looked at.
pub(crate) fn damage(session: &mut Session<'_>) -> Result<Option<String>, sqlx::Error> {
    let rows = session.rows(sqlx::query("PRAGMA integrity_check(1)"))?;
    let first = rows.first().map(|row| row.try_get::<String, _>(0)).transpose()?;
    Ok(first.filter(|words| words != "ok"))
}
