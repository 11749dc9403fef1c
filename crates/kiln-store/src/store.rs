//! The store itself: opened, kept, closed. In: a place. Out: turns at its connection and transactions, for `write.rs`,
//! `read.rs` and `find.rs`.

use std::collections::BTreeSet;
use std::fmt;
use std::sync::{Mutex, PoisonError};

use kiln_core::Fault;
use sqlx::{AnyConnection, Connection};
use tokio::runtime::{self, Handle, Runtime};

use crate::database::fault::fault;
use crate::database::session::Session;
use crate::database::{engine, migration, place};

/// An open store. It may be shared between threads, and the file between processes. Not for use inside an asynchronous
/// task, as its calls wait: there, hand them to a thread that may block.
pub struct Store {
    place: String,
    runtime: Runtime,
    /// None once closed.
    connection: Mutex<Option<AnyConnection>>,
    /// Ids of records that lists could not read.
    damaged: Mutex<BTreeSet<String>>,
}

impl Store {
    /// Opens the store at `place`, the path of a file (its folders are made) or a URL; makes it where there is none and
    /// brings an older one up to date. Refuses a store written by a newer kiln.
    pub fn open(place: &str) -> Result<Store, Fault> {
        let what = format!("opening the store {place}");
        let url = place::url(place)?;
        let runtime = runtime::Builder::new_current_thread().build().map_err(|e| Fault::new(what.as_str(), e))?;
        sqlx::any::install_default_drivers();
        let mut connection = runtime.block_on(AnyConnection::connect(&url)).map_err(|e| fault(&what, &e))?;
        let mut session = Session { runtime: &runtime, connection: &mut connection };
        engine::prepare(&mut session).map_err(|e| fault(&what, &e))?;
        // Nothing is changed before it is known to be a store this kiln may write.
        migration::version(&mut session, &what)?;
        engine::write_ahead(&mut session).map_err(|e| fault(&what, &e))?;
        migration::migrate(&mut session, &what)?;
        let (connection, damaged) = (Mutex::new(Some(connection)), Mutex::default());
        Ok(Store { place: place.to_string(), runtime, connection, damaged })
    }

    /// The place it was opened at.
    pub fn place(&self) -> &str {
        &self.place
    }

    /// The version of its tables.
    pub fn version(&self) -> Result<i64, Fault> {
        let what = format!("asking the store {} for its version", self.place);
        self.turn(|session| migration::version(session, &what))
    }

    /// The records that lists have left out so far, because they cannot be read: studies and runs by their ids, others as
    /// `attempt ID (why)`.
    pub fn damaged(&self) -> Vec<String> {
        self.damaged.lock().unwrap_or_else(PoisonError::into_inner).iter().cloned().collect()
    }

    /// Remembers a record that cannot be read.
    pub fn leave_out(&self, id: &str) {
        self.damaged.lock().unwrap_or_else(PoisonError::into_inner).insert(id.into());
    }

    /// Whether what is recorded can be read: the file is examined whole, then every study with its trials, every run, attempt, session
    /// and decision are read. A fault says what is damaged.
    pub fn examine(&self) -> Result<(), Fault> {
        let what = format!("examining the store {}", self.place);
        let damaged = |why: String| {
            let hint = "copy what `kiln history` still shows, then move the file away: kiln makes a new one";
            Fault::new(what.as_str(), why).hint(hint)
        };
        let found = self.turn(|session| engine::damage(session).map_err(|e| fault(&what, &e)))?;
        if let Some(why) = found {
            return Err(damaged(why));
        }
        for study in self.studies(&crate::Filter::default())? {
            if self.trials(&study.id).is_err() || self.measurements(&study.id).is_err() {
                self.leave_out(&study.id);
            }
        }
        self.runs(&crate::Filter::default())?;
        self.attempts(crate::AttemptsOf::All)?;
        self.decisions(None)?;
        for folder in self.session_folders()? {
            self.sessions(&folder)?;
        }
        // What has more than an id for a name has no command that removes it.
        let (others, ids): (Vec<String>, Vec<String>) = self.damaged().into_iter().partition(|name| name.contains(' '));
        let Some(first) = ids.first() else {
            if others.is_empty() {
                return Ok(());
            }
            let hint = "everything else is used; a newer kiln may have written what cannot be read";
            return Err(Fault::new(what, format!("it cannot be read: {}", others.join(", "))).hint(hint));
        };
        let why = format!("{} of its studies and runs cannot be read: {}", ids.len(), ids.join(", "));
        let others = if ids.len() > 1 { ", and so for the others" } else { "" };
        Err(Fault::new(what, why).hint(format!("remove it with `kiln studies delete {first} --yes`{others}")))
    }

    /// A turn at the connection.
    pub(crate) fn turn<T>(&self, body: impl FnOnce(&mut Session<'_>) -> Result<T, Fault>) -> Result<T, Fault> {
        let gone = || Fault::new(format!("using the store {}", self.place), "an earlier call broke off in a panic");
        let mut connection = self.connection.lock().map_err(|_| gone())?;
        let connection = connection.as_mut().ok_or_else(gone)?;
        body(&mut Session { runtime: &self.runtime, connection })
    }

    /// A turn in which all changes happen, or none.
    pub(crate) fn transaction<T>(
        &self,
        what: &str,
        body: impl FnOnce(&mut Session<'_>) -> Result<T, Fault>,
    ) -> Result<T, Fault> {
        self.turn(|session| {
            session.script(engine::BEGIN).map_err(|e| fault(what, &e))?;
            let done = body(session).and_then(|value| match session.script("COMMIT") {
                Ok(()) => Ok(value),
                Err(e) => Err(fault(what, &e)),
            });
            if done.is_err() {
                // The first error is the one to tell. Left open, the transaction would keep everyone else waiting.
                let _ = session.script("ROLLBACK");
            }
            done
        })
    }
}

impl fmt::Debug for Store {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Store").field("place", &self.place).finish_non_exhaustive()
    }
}

/// The last to close folds the journal into the file, so that one file remains, fit to be copied. Nothing is lost where
/// that does not happen: the next to open does it.
impl Drop for Store {
    fn drop(&mut self) {
        let connection = self.connection.get_mut().ok().and_then(Option::take);
        // Waiting is not allowed inside a task.
        if let (Some(connection), Err(_)) = (connection, Handle::try_current()) {
            let _ = self.runtime.block_on(connection.close());
        }
    }
}
