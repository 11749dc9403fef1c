//! What the database says, as a fault with a hint. In: an error of sqlx. Out: a [`Fault`] in words for users.

use kiln_core::Fault;

/// SQLite's primary result codes (the low byte of the extended ones) that deserve a hint of their own.
const BUSY: i32 = 5;
const READONLY: i32 = 8;
const CORRUPT: i32 = 11;
const FULL: i32 = 13;
const CANTOPEN: i32 = 14;
const NOTADB: i32 = 26;

pub(crate) fn fault(what: &str, error: &sqlx::Error) -> Fault {
    let Some(database) = error.as_database_error() else {
        let fault = Fault::new(what, error);
        return match error {
            sqlx::Error::Decode(_) | sqlx::Error::ColumnDecode { .. } => fault.hint(
                "a record is damaged: `kiln doctor` examines the store; move the file away, and kiln makes a new one",
            ),
            _ => fault,
        };
    };
    let fault = Fault::new(what, database.message());
    match primary(error) {
        Some(BUSY) => fault.hint("another process holds the store; wait for it to end, or end it"),
        Some(READONLY | CANTOPEN) => {
            fault.hint("the file and its folder must be writable: journals lie beside the file")
        }
        Some(FULL) => fault.hint("free some disk space; what was recorded before is safe"),
        Some(CORRUPT | NOTADB) => {
            fault.hint("the file is damaged or is not a kiln store; move it away, and kiln makes a new one")
        }
        _ => fault,
    }
}

/// True when the store was held by someone else for too long.
pub(crate) fn is_busy(error: &sqlx::Error) -> bool {
    primary(error) == Some(BUSY)
}

/// True when a row of that key is already there.
pub(crate) fn is_double(error: &sqlx::Error) -> bool {
    error.as_database_error().is_some_and(|e| e.is_unique_violation())
}

fn primary(error: &sqlx::Error) -> Option<i32> {
    let code: i32 = error.as_database_error()?.code()?.parse().ok()?;
    Some(code & 0xff)
}
