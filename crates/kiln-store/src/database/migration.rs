//! The versions of the store's tables. In: a connection to a store of any version, or to nothing. Out: the newest
//! version, each step one transaction. Refuses a store from a newer kiln, and a database that is not kiln's.

use std::time::{SystemTime, UNIX_EPOCH};

use kiln_core::Fault;
use sqlx::Row;

use crate::database::engine;
use crate::database::fault::fault;
use crate::database::session::Session;

/// The steps, oldest first; the version of a store is how many of them it has taken.
const STEPS: [&str; 12] = [
    include_str!("../../migrations/0001_studies.sql"),
    include_str!("../../migrations/0002_notes.sql"),
    include_str!("../../migrations/0003_runs.sql"),
    include_str!("../../migrations/0004_labels.sql"),
    include_str!("../../migrations/0005_samples.sql"),
    include_str!("../../migrations/0006_validations.sql"),
    include_str!("../../migrations/0007_validated_shapes.sql"),
    include_str!("../../migrations/0008_profiles.sql"),
    include_str!("../../migrations/0009_commits.sql"),
    include_str!("../../migrations/0010_sessions.sql"),
    include_str!("../../migrations/0011_remarks.sql"),
    include_str!("../../migrations/0012_commands.sql"),
];
const NEWEST: i64 = STEPS.len() as i64;

/// Brings the store up to date.
pub(crate) fn migrate(session: &mut Session<'_>, what: &str) -> Result<(), Fault> {
    while version(session, what)? < NEWEST {
        session.script(engine::BEGIN).map_err(|e| fault(what, &e))?;
        let done = step(session, what).and_then(|()| session.script("COMMIT").map_err(|e| fault(what, &e)));
        if done.is_err() {
            // The first error is the one to tell.
            let _ = session.script("ROLLBACK");
            return done;
        }
    }
    Ok(())
}

/// One step, inside a transaction. Another process may have taken it since the version was read, so it is read again.
fn step(session: &mut Session<'_>, what: &str) -> Result<(), Fault> {
    let version = version(session, what)?;
    let Some(sql) = usize::try_from(version).ok().and_then(|v| STEPS.get(v)) else { return Ok(()) };
    session.script(sql).map_err(|e| fault(what, &e))?;
    let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |d| i64::try_from(d.as_millis()).unwrap_or(0));
    let row = sqlx::query("INSERT INTO kiln_schema (version, applied_ms, kiln_version) VALUES ($1, $2, $3)")
        .bind(version + 1)
        .bind(now)
        .bind(env!("CARGO_PKG_VERSION"));
    session.change(row).map_err(|e| fault(what, &e)).map(|_| ())
}

/// The version of the store; 0 for an empty one. Nothing is changed, so that what is not ours stays as it is.
pub(crate) fn version(session: &mut Session<'_>, what: &str) -> Result<i64, Fault> {
    let tables = engine::tables(session).map_err(|e| fault(what, &e))?;
    if tables.is_empty() {
        return Ok(0);
    }
    if !tables.iter().any(|t| t == "kiln_schema") {
        let fault = Fault::new(what, format!("this is a database, but not kiln's: it has a table `{}`", tables[0]));
        return Err(fault.hint("choose another place for the store"));
    }
    let newest = sqlx::query("SELECT version, kiln_version FROM kiln_schema ORDER BY version DESC LIMIT 1");
    let Some(row) = session.row(newest).map_err(|e| fault(what, &e))? else {
        return Err(Fault::new(what, "it does not say its version").hint("move it away, and kiln makes a new one"));
    };
    let read = || Ok((row.try_get::<i64, _>(0)?, row.try_get::<String, _>(1)?));
    let (version, by) = read().map_err(|e: sqlx::Error| fault(what, &e))?;
    if version > NEWEST {
        let why = format!("it has version {version}, from kiln {by}; this kiln knows versions up to {NEWEST}");
        return Err(Fault::new(what, why).hint("use that kiln or a newer one, or choose another place for the store"));
    }
    Ok(version)
}
