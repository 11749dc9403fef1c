//! Records that cannot be read. In: what lists leave out. Out: their ids, once each, for whoever names them; and the examination of a
//! whole store. One damaged record costs itself and nothing else.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, PoisonError};

use kiln_core::Fault;

use crate::attempt::AttemptsOf;
use crate::database::column::Columns;
use crate::database::engine;
use crate::database::fault::fault;
use crate::{Filter, Store};

/// Every table whose rows are records of their own, with an `id`.
pub(crate) const TABLES: [&str; 9] =
    ["studies", "runs", "validations", "profiles", "commit_verdicts", "attempts", "sessions", "decisions", "remarks"];

/// Tables whose rows are parts of a record, with the column that names it.
const PARTS: [(&str, &str); 3] = [("study_names", "study"), ("study_tags", "study"), ("run_sides", "run")];

/// Ids of records that cannot be read. Stores that are opened one after the other may tell the same.
#[derive(Debug, Clone, Default)]
pub struct Damaged(Arc<Mutex<BTreeSet<String>>>);

impl Damaged {
    /// The ids.
    pub fn ids(&self) -> Vec<String> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).iter().cloned().collect()
    }

    fn add(&self, id: &str) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).insert(id.into());
    }
}

impl Store {
    /// The same store, which tells there too what it could not read.
    pub fn telling(mut self, damaged: &Damaged) -> Store {
        self.told = damaged.clone();
        self
    }

    /// Ids of the records that lists have left out so far, because they cannot be read.
    pub fn damaged(&self) -> Vec<String> {
        self.damaged.ids()
    }

    /// Remembers a record that cannot be read.
    pub fn leave_out(&self, id: &str) {
        self.damaged.add(id);
        self.told.add(id);
    }

    /// Remembers every record that holds text which is none: such a row does not even say its id, so that every table is read
    /// twice, its ids and its rows, in the same order.
    pub(crate) fn leave_out_garbled(&self, what: &str) -> Result<(), Fault> {
        for (table, key) in TABLES.map(|table| (table, "id")).into_iter().chain(PARTS) {
            let (mut ids, mut readable) = (Vec::new(), Vec::new());
            let some = format!("SELECT {key} AS id FROM {table} ORDER BY {key}");
            let all = format!("SELECT * FROM {table} ORDER BY {key}");
            self.turn(|session| {
                let id = |row: &_| Columns { row, what }.get::<String>("id").ok();
                let (some, all) = (sqlx::query(sqlx::AssertSqlSafe(some)), sqlx::query(sqlx::AssertSqlSafe(all)));
                let told = session.each(some, |row| ids.push(row.as_ref().and_then(id)));
                told.and_then(|()| session.each(all, |row| readable.push(row.is_some()))).map_err(|e| fault(what, &e))
            })?;
            for (id, _) in ids.into_iter().zip(readable).filter(|(_, readable)| !readable) {
                self.leave_out(&id.unwrap_or_else(|| format!("one of {table} whose id is damaged too")));
            }
        }
        Ok(())
    }

    /// Whether what is recorded can be read: the file is examined whole, then every record is read. A fault says what is damaged.
    pub fn examine(&self) -> Result<(), Fault> {
        let what = format!("examining the store {}", self.place());
        let hint = "copy what `kiln history` still shows, then move the file away: kiln makes a new one";
        let found = self.turn(|session| engine::damage(session).map_err(|e| fault(&what, &e)))?;
        if let Some(why) = found {
            return Err(Fault::new(what, why).hint(hint));
        }
        for study in self.studies(&Filter::default())? {
            if self.trials(&study.id).is_err()
                || self.measurements(&study.id).is_err()
                || self.notes(&study.id).is_err()
            {
                self.leave_out(&study.id);
            }
        }
        self.labels()?;
        self.runs(&Filter::default())?;
        self.validations(None)?;
        self.profiles(None)?;
        self.every_commit()?;
        self.attempts(AttemptsOf::All)?;
        self.every_session()?;
        self.decisions(None)?;
        self.remarks()?;
        let ids = self.damaged();
        if ids.is_empty() {
            return Ok(());
        }
        let why = format!("{} of its records cannot be read: {}", ids.len(), ids.join(", "));
        let others = if ids.len() > 1 { ", and so for the others" } else { "" };
        // An id has no spaces.
        Err(Fault::new(what, why).hint(match ids.iter().find(|id| !id.contains(' ')) {
            Some(first) => format!("remove it with `kiln studies delete {first} --yes`{others}"),
            None => hint.into(),
        }))
    }
}
