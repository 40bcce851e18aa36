//! The thin layer between named statements and a native connection.
//!
//! It binds values and reads cells; it holds no SQL of its own and hides no difference between
//! engines. Rows are always read to the end, because an engine may fail after it has handed one out.

use async_trait::async_trait;

use crate::error::{EngineError, ErrorKind};
use crate::store::Result;

mod mysql;
mod postgres;
mod sqlite;

/// A value to bind, or a cell that was read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Value {
    Null,
    Int(i64),
    Text(String),
    Bytes(Vec<u8>),
}

/// A row that was read.
pub(crate) type Row = Vec<Value>;

/// A driver's error together with the engine's own code for it.
#[derive(Debug)]
pub(crate) struct WireError {
    pub(crate) code: Option<String>,
    pub(crate) message: String,
    /// Whether the connection, not the statement, failed.
    pub(crate) connection: bool,
}

impl WireError {
    pub(crate) fn from_sqlx(error: &sqlx::Error, code: Option<String>) -> Self {
        let connection = matches!(
            error,
            sqlx::Error::Io(_)
                | sqlx::Error::Tls(_)
                | sqlx::Error::Protocol(_)
                | sqlx::Error::PoolClosed
                | sqlx::Error::WorkerCrashed
        );
        Self { code, message: plain_message(error), connection }
    }
}

/// The engine's own words without the driver's preamble.
fn plain_message(error: &sqlx::Error) -> String {
    match error {
        sqlx::Error::Database(error) => error.message().to_owned(),
        other => other.to_string(),
    }
}

/// Which codes of an engine mean what; everything else is fatal.
pub(crate) struct Codes {
    pub(crate) engine: &'static str,
    pub(crate) retryable: &'static [&'static str],
    pub(crate) fenced: &'static [&'static str],
    pub(crate) unavailable: &'static [&'static str],
    /// What a plain insert reports for an existing key.
    pub(crate) duplicate: &'static [&'static str],
    /// Whether any error ends the open transaction, as PostgreSQL does.
    pub(crate) aborts_on_any_error: bool,
}

impl Codes {
    pub(crate) fn is_duplicate(&self, error: &WireError) -> bool {
        let code = error.code.as_deref();
        code.is_some_and(|code| self.duplicate.contains(&code))
    }

    pub(crate) fn classify(&self, operation: &'static str, error: WireError) -> EngineError {
        let listed =
            |codes: &[&str]| error.code.as_deref().is_some_and(|code| codes.contains(&code));
        let kind = if listed(self.retryable) {
            ErrorKind::Retryable
        } else if listed(self.fenced) {
            ErrorKind::Fenced
        } else if error.connection || listed(self.unavailable) {
            ErrorKind::Unavailable
        } else {
            ErrorKind::Fatal
        };
        let mut classified = EngineError::new(self.engine, operation, kind, error.message);
        classified.code = error.code;
        classified
    }
}

/// A native connection.
#[async_trait]
pub(crate) trait Wire: Send {
    /// Runs one or more statements without parameters.
    async fn batch(&mut self, text: &str) -> std::result::Result<(), WireError>;
    /// Runs one statement; returns the affected rows as the driver counts them.
    async fn execute(
        &mut self,
        text: &str,
        values: &[Value],
    ) -> std::result::Result<u64, WireError>;
    /// Runs one statement and reads every row of it.
    async fn fetch(
        &mut self,
        text: &str,
        values: &[Value],
    ) -> std::result::Result<Vec<Row>, WireError>;
    /// Tells that no transaction is open any more: the moment at which a pooler takes the connection back.
    fn unit_ended(&mut self) {}
    /// Says goodbye to the server.
    async fn close(self: Box<Self>);
}

/// Reads cells by position, with an error that names the statement when the shape is wrong.
pub(crate) struct Cells<'row> {
    pub(crate) engine: &'static str,
    pub(crate) operation: &'static str,
    pub(crate) row: &'row Row,
}

impl Cells<'_> {
    pub(crate) fn int(&self, index: usize) -> Result<i64> {
        match self.row.get(index) {
            Some(Value::Int(value)) => Ok(*value),
            other => Err(self.unexpected(index, "an integer", other)),
        }
    }

    pub(crate) fn int_or_null(&self, index: usize) -> Result<Option<i64>> {
        match self.row.get(index) {
            Some(Value::Null) => Ok(None),
            _ => self.int(index).map(Some),
        }
    }

    pub(crate) fn text(&self, index: usize) -> Result<String> {
        match self.row.get(index) {
            Some(Value::Text(value)) => Ok(value.clone()),
            Some(Value::Bytes(value)) => String::from_utf8(value.clone())
                .map_err(|_| self.unexpected(index, "UTF-8 text", self.row.get(index))),
            other => Err(self.unexpected(index, "text", other)),
        }
    }

    pub(crate) fn bytes_or_null(&self, index: usize) -> Result<Option<Vec<u8>>> {
        match self.row.get(index) {
            Some(Value::Null) => Ok(None),
            Some(Value::Bytes(value)) => Ok(Some(value.clone())),
            Some(Value::Text(value)) => Ok(Some(value.clone().into_bytes())),
            other => Err(self.unexpected(index, "bytes", other)),
        }
    }

    fn unexpected(&self, index: usize, wanted: &str, found: Option<&Value>) -> EngineError {
        let message = format!("column {index} is {found:?} where {wanted} was expected");
        EngineError::new(self.engine, self.operation, ErrorKind::Fatal, message)
    }
}

/// Implements [`Wire`] for one driver's connection: the three drivers share no type to do it once.
macro_rules! impl_wire {
    ($connection:ty, $bind:path, $read:path, $error:path) => {
        #[async_trait::async_trait]
        impl crate::driver::Wire for $connection {
            async fn batch(&mut self, text: &str) -> Result<(), crate::driver::WireError> {
                let text = sqlx::AssertSqlSafe(text);
                let outcome = sqlx::Executor::execute(&mut *self, sqlx::raw_sql(text)).await;
                outcome.map(|_| ()).map_err(|error| $error(&error))
            }

            async fn execute(
                &mut self,
                text: &str,
                values: &[crate::driver::Value],
            ) -> Result<u64, crate::driver::WireError> {
                let query = sqlx::query(sqlx::AssertSqlSafe(text));
                let query = values.iter().fold(query, $bind);
                let outcome = query.execute(&mut *self).await;
                outcome.map(|done| done.rows_affected()).map_err(|error| $error(&error))
            }

            async fn fetch(
                &mut self,
                text: &str,
                values: &[crate::driver::Value],
            ) -> Result<Vec<crate::driver::Row>, crate::driver::WireError> {
                use futures::TryStreamExt as _;

                let query = sqlx::query(sqlx::AssertSqlSafe(text));
                let query = values.iter().fold(query, $bind);
                let mut steps = sqlx::Executor::fetch_many(&mut *self, query);
                let mut rows = Ok(Vec::new());
                while let Some(step) = steps.try_next().await.map_err(|error| $error(&error))? {
                    // What cannot be read is told when the statement has run to its end.
                    if let (sqlx::Either::Right(row), Ok(read)) = (step, &mut rows) {
                        match $read(&row) {
                            Ok(row) => read.push(row),
                            Err(error) => rows = Err($error(&error)),
                        }
                    }
                }
                rows
            }

            async fn close(self: Box<Self>) {
                // The server drops the session either way; a failed goodbye changes nothing.
                drop(sqlx::Connection::close(*self).await);
            }
        }
    };
}
pub(crate) use impl_wire;
