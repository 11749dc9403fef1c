//! Whether anything has changed, for those who watch a store while others write it. In: nothing, again and again. Out: a number that changes with every
//! change by others, and a stamp for each study and for the rest. Reads no record; a stamp that differs says that there is something to read.

use kiln_core::Fault;

use crate::Store;
use crate::database::column::Columns;
use crate::database::{engine, fault::fault};

/// A study, with what is different once something was recorded of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StudyStamp {
    /// Its id.
    pub id: String,
    /// Its state, as it is recorded.
    pub state: String,
    /// The process that runs it, or ran it last: `pid@host`.
    pub owner: String,
    /// How many trials it has.
    pub trials: u64,
    /// The state of everything else about it. Compared, not read.
    pub stamp: String,
}

/// What there is of a study's changes, in one row.
macro_rules! select_stamps {
    ($rest:literal) => {
        sqlx::query(concat!(
            "SELECT s.id AS id, s.state AS state, s.owner AS owner, s.recorded AS recorded, \
             s.state || ' ' || CAST(s.recorded AS text) || ' ' || COALESCE(CAST(s.ended_ms AS text), '-') || ' ' || s.owner || ' ' \
             || COALESCE((SELECT name FROM study_names n WHERE n.study = s.id), '') || ' ' \
             || (SELECT CAST(COUNT(*) AS text) || ' ' || COALESCE(MIN(tag), '') || ' ' || COALESCE(MAX(tag), '') \
                 FROM study_tags t WHERE t.study = s.id) || ' ' \
             || (SELECT CAST(COUNT(*) AS text) FROM notes o WHERE o.study = s.id) || ' ' \
             || (SELECT CAST(COUNT(*) AS text) FROM remarks r WHERE r.about IN ('trial', 'decision') AND r.subject = s.id) \
             AS stamp FROM studies s ",
            $rest
        ))
    };
}

impl Store {
    /// A number that changes when somebody else has changed the store: one look costs microseconds. None where the engine
    /// has no such number.
    pub fn change(&self) -> Result<Option<i64>, Fault> {
        self.turn(|session| engine::change(session).map_err(|e| fault("looking for changes", &e)))
    }

    /// The stamps of studies, newest first.
    pub fn stamps(&self) -> Result<Vec<StudyStamp>, Fault> {
        self.list("looking for changed studies", select_stamps!("ORDER BY s.started_ms DESC, s.id DESC"), stamp)
    }

    /// The stamp of one study; none where there is no study of that id.
    pub fn stamp(&self, study: &str) -> Result<Option<StudyStamp>, Fault> {
        let one = select_stamps!("WHERE s.id = $1").bind(study);
        Ok(self.read("looking at a study's stamp", one, stamp)?.pop())
    }

    /// The state of everything that is of no study: benchmarks, profiles, attempts, sessions, decisions, remarks, validations.
    pub fn other_stamp(&self) -> Result<String, Fault> {
        let tables = sqlx::query(
            "SELECT (SELECT CAST(COUNT(*) AS text) || '/' || COALESCE(MAX(id), '') FROM runs) || ' ' \
             || (SELECT CAST(COUNT(*) AS text) || '/' || COALESCE(MAX(id), '') FROM profiles) || ' ' \
             || (SELECT CAST(COUNT(*) AS text) || '/' || COALESCE(MAX(id), '') FROM attempts) || ' ' \
             || (SELECT CAST(COUNT(*) AS text) || '/' || CAST(COUNT(ended_ms) AS text) FROM sessions) || ' ' \
             || (SELECT CAST(COUNT(*) AS text) FROM decisions) || ' ' \
             || (SELECT CAST(COUNT(*) AS text) FROM remarks) || ' ' \
             || (SELECT CAST(COUNT(*) AS text) FROM validations) AS stamp",
        );
        Ok(self.read("looking for changes", tables, |row| row.get("stamp"))?.pop().unwrap_or_default())
    }
}

fn stamp(row: Columns<'_>) -> Result<StudyStamp, Fault> {
    Ok(StudyStamp {
        id: row.get("id")?,
        state: row.get("state")?,
        owner: row.get("owner")?,
        trials: row.count("recorded")?,
        stamp: row.get("stamp")?,
    })
}
