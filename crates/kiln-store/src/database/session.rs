//! A turn at the store's connection: sqlx's asynchronous calls, waited for. In: statements. Out: rows, or sqlx's errors.

use futures_util::StreamExt;
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

    /// Every row, in turn; none for one that holds text which is not UTF-8. The others are read all the same.
    pub(crate) fn each(
        &mut self,
        statement: Statement<'_>,
        mut taken: impl FnMut(Option<AnyRow>),
    ) -> Result<(), sqlx::Error> {
        self.runtime.block_on(async {
            let mut rows = statement.fetch(&mut *self.connection);
            while let Some(row) = rows.next().await {
                match row {
                    Ok(row) => taken(Some(row)),
                    Err(sqlx::Error::Decode(_) | sqlx::Error::ColumnDecode { .. }) => taken(None),
                    Err(error) => return Err(error),
                }
            }
            Ok(())
        })
    }

    /// Every row.
    pub(crate) fn rows(&mut self, statement: Statement<'_>) -> Result<Vec<AnyRow>, sqlx::Error> {
        self.runtime.block_on(statement.fetch_all(&mut *self.connection))
    }
}
