//! A turn at the store's connection: sqlx's asynchronous calls, waited for. In: statements. Out: rows, or sqlx's errors.

use sqlx::any::{Any, AnyArguments, AnyRow};
use sqlx::query::Query;
use sqlx::{AnyConnection, Executor};
use tokio::runtime::Runtime;

pub(crate) type Statement<'q> = Query<'q, Any, AnyArguments>;

pub(crate) struct Session<'s> {
    pub(crate) runtime: &'s Runtime,
    pub(crate) connection: &'s mut AnyConnection,
}

impl Session<'_> {
    /// Runs statements without parameters, separated by semicolons.
    pub(crate) fn script(&mut self, sql: &'static str) -> Result<(), sqlx::Error> {
        self.runtime.block_on(self.connection.execute(sqlx::raw_sql(sql))).map(|_| ())
    }

    /// Runs one statement; how many rows it changed.
    pub(crate) fn change(&mut self, statement: Statement<'_>) -> Result<u64, sqlx::Error> {
        self.runtime.block_on(statement.execute(&mut *self.connection)).map(|done| done.rows_affected())
    }

    /// The first row, if there is one.
    pub(crate) fn row(&mut self, statement: Statement<'_>) -> Result<Option<AnyRow>, sqlx::Error> {
        self.runtime.block_on(statement.fetch_optional(&mut *self.connection))
    }

    /// Every row.
    pub(crate) fn rows(&mut self, statement: Statement<'_>) -> Result<Vec<AnyRow>, sqlx::Error> {
        self.runtime.block_on(statement.fetch_all(&mut *self.connection))
    }
}
