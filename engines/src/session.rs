//! One session for every SQL engine: named statements in, protocol outcomes out.
//!
//! The differences between engines are in their statements and codes; the transaction is kept
//! here, once. After a retryable error inside a transaction nothing but `rollback` is let through, because
//! MySQL and MariaDB would run the rest of an aborted transaction in autocommit.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::driver::{Cells, Codes, Row, Value, Wire};
use crate::engine::Engine;
use crate::error::{EngineError, ErrorKind};
use crate::lease::{Clock, EventId};
use crate::statement::{Compiled, Placeholder, compile};
use crate::store::{Result, Session, SessionId, StoreOptions};

/// What the sessions of a store share, compiled once.
pub(crate) type Compilation = Arc<Shared>;

/// An engine's statements as its driver wants them, and what they are bound to for every caller.
pub(crate) struct Shared {
    statements: BTreeMap<String, Compiled>,
    max_attempts: u32,
    unguarded: bool,
}

impl Shared {
    pub(crate) fn get(&self, name: &str) -> Option<&Compiled> {
        self.statements.get(name)
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (&String, &Compiled)> {
        self.statements.iter()
    }
}

mod operations;

/// Compiles the statements that a store is opened with, once for all of its sessions.
pub(crate) fn compile_all(
    engine: &dyn Engine,
    options: &StoreOptions,
    placeholder: Placeholder,
) -> Compilation {
    let reference = || engine.statements_on(options.clock);
    let statements = options.statements.clone().unwrap_or_else(reference);
    let statements = match options.clock {
        Clock::Logical => statements,
        Clock::Database => statements.shifted(engine.database_clock().readings),
    };
    let compiled = |(name, text): (&str, &str)| (name.to_owned(), compile(text, placeholder));
    let statements = statements.iter().map(compiled).collect();
    let StoreOptions { max_attempts, unguarded, .. } = *options;
    Arc::new(Shared { statements, max_attempts, unguarded })
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Unit {
    None,
    /// The transaction could not be begun. What belongs to it must not run by itself.
    NotBegun,
    Open,
    Aborted,
}

/// A session over a native connection.
pub(crate) struct SqlSession {
    wire: Box<dyn Wire>,
    id: SessionId,
    codes: &'static Codes,
    statements: Compilation,
    /// The engine's clock when the store was opened; 0 on the caller's clock. Stored instants are
    /// shown from there, so that both clocks begin at 0.
    epoch: i64,
    /// By how much the worker's own clock is ahead of the host's, in microseconds.
    clock_skew: i64,
    unit: Unit,
}

type Parameters<'value> = [(&'value str, Value)];

fn int(parameters: &Parameters<'_>, name: &str) -> Option<i64> {
    match parameters.iter().find(|(parameter, _)| *parameter == name) {
        Some((_, Value::Int(value))) => Some(*value),
        _ => None,
    }
}

/// The time from `now` to `until`.
fn length(parameters: &Parameters<'_>) -> Option<Value> {
    Some(Value::Int(int(parameters, "until")? - int(parameters, "now")?))
}

/// The host's clock in microseconds since the Unix epoch.
#[expect(clippy::disallowed_methods, reason = "the worker's own clock is what is meant")]
fn wall_clock() -> i64 {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    let since = since.expect("the host's clock is set to after 1970");
    i64::try_from(since.as_micros()).expect("the host's clock is set to before the year 294,000")
}

impl SqlSession {
    pub(crate) fn new(
        wire: Box<dyn Wire>,
        id: SessionId,
        codes: &'static Codes,
        statements: Compilation,
        epoch: i64,
    ) -> Self {
        Self { wire, id, codes, statements, epoch, clock_skew: 0, unit: Unit::None }
    }

    /// The same session of a worker whose own clock is ahead of the host's.
    pub(crate) fn skewed(mut self, clock_skew: i64) -> Self {
        self.clock_skew = clock_skew;
        self
    }

    /// What the worker's own clock shows, moved on by the caller's instant like the engine's.
    fn caller(&self, parameters: &Parameters<'_>) -> Value {
        let offset = int(parameters, "now").unwrap_or(0);
        Value::Int(wall_clock() + self.clock_skew + offset)
    }

    fn fatal(&self, operation: &'static str, message: String) -> EngineError {
        EngineError::new(self.codes.engine, operation, ErrorKind::Fatal, message)
    }

    fn statement<'all>(
        &self,
        statements: &'all Shared,
        operation: &'static str,
        name: &str,
    ) -> Result<&'all Compiled> {
        let statement = statements.get(name);
        statement.ok_or_else(|| self.fatal(operation, format!("no statement `{name}`")))
    }

    /// The statement's text and its values in the order its driver binds them.
    fn bind<'all>(
        &self,
        statements: &'all Shared,
        operation: &'static str,
        name: &str,
        parameters: &Parameters<'_>,
    ) -> Result<(&'all str, Vec<Value>)> {
        if matches!(self.unit, Unit::Aborted | Unit::NotBegun) {
            return Err(self.aborted(operation));
        }
        let statement = self.statement(statements, operation, name)?;
        let value = |wanted: &String| {
            let found = parameters.iter().find(|(parameter, _)| parameter == wanted);
            let value = found.map(|(_, value)| value.clone()).or_else(|| match wanted.as_str() {
                // On the engine's clock a lease is asked for by its length.
                "ttl" => length(parameters),
                "max_attempts" => Some(Value::Int(statements.max_attempts.into())),
                "caller" => Some(self.caller(parameters)),
                _ => None,
            });
            value.ok_or_else(|| {
                self.fatal(operation, format!("statement `{name}` wants an unknown `:{wanted}`"))
            })
        };
        let values = statement.parameters.iter().map(value).collect::<Result<_>>()?;
        Ok((&statement.text, values))
    }

    fn aborted(&self, operation: &'static str) -> EngineError {
        let message = "the transaction was aborted; roll it back and run it again from its start";
        EngineError::new(self.codes.engine, operation, ErrorKind::Retryable, message)
    }

    /// Classifies an error and remembers that the open transaction is gone.
    fn failed(&mut self, operation: &'static str, error: crate::driver::WireError) -> EngineError {
        let error = self.codes.classify(operation, error);
        let survives = error.kind == ErrorKind::Fatal && !self.codes.aborts_on_any_error;
        if self.unit == Unit::Open && !survives && !self.statements.unguarded {
            self.unit = Unit::Aborted;
        }
        error
    }

    async fn run(
        &mut self,
        operation: &'static str,
        name: &str,
        parameters: &Parameters<'_>,
    ) -> Result<u64> {
        let statements = Arc::clone(&self.statements);
        let (text, values) = self.bind(&statements, operation, name, parameters)?;
        let outcome = self.wire.execute(text, &values).await;
        self.give_back();
        outcome.map_err(|error| self.failed(operation, error))
    }

    /// Outside of a transaction a pooler takes the connection back after each statement.
    fn give_back(&mut self) {
        if self.unit == Unit::None {
            self.wire.unit_ended();
        }
    }

    async fn rows(
        &mut self,
        operation: &'static str,
        name: &str,
        parameters: &Parameters<'_>,
    ) -> Result<Vec<Row>> {
        let statements = Arc::clone(&self.statements);
        let (text, values) = self.bind(&statements, operation, name, parameters)?;
        let outcome = self.wire.fetch(text, &values).await;
        self.give_back();
        outcome.map_err(|error| self.failed(operation, error))
    }

    /// Runs a statement of the transaction's frame, such as `begin`.
    async fn frame(&mut self, operation: &'static str, name: &str) -> Result<()> {
        let statements = Arc::clone(&self.statements);
        let statement = self.statement(&statements, operation, name)?;
        let outcome = self.wire.batch(&statement.text).await;
        outcome.map_err(|error| self.codes.classify(operation, error))
    }

    /// Opens a transaction by the named statement. One that could not be begun is poisoned like one that was
    /// aborted, or its statements would run in autocommit when the caller goes on.
    async fn open_unit(&mut self, name: &str) -> Result<()> {
        if !matches!(self.unit, Unit::None | Unit::NotBegun) {
            return Err(self.fatal("begin", "a transaction is open already".to_owned()));
        }
        let begun = self.frame("begin", name).await;
        self.unit = match begun {
            Ok(()) => Unit::Open,
            Err(_) => {
                // Of several statements the first may have opened a transaction.
                drop(self.frame("roll back", "rollback").await);
                self.wire.unit_ended();
                Unit::NotBegun
            }
        };
        begun
    }

    fn cells<'row>(&self, operation: &'static str, row: &'row Row) -> Cells<'row> {
        Cells { engine: self.codes.engine, operation, row }
    }

    /// The ids in the first column of each row.
    fn event_ids(&self, operation: &'static str, rows: Vec<Row>) -> Result<Vec<EventId>> {
        rows.into_iter().map(|row| self.event_id(operation, row)).collect()
    }

    fn event_id(&self, operation: &'static str, mut row: Row) -> Result<EventId> {
        match row.first_mut() {
            Some(Value::Text(text)) => Ok(EventId(std::mem::take(text))),
            _ => self.cells(operation, &row).text(0).map(EventId),
        }
    }

    /// Inserts a row whose key may exist; whether it was new.
    async fn insert(
        &mut self,
        operation: &'static str,
        name: &str,
        parameters: &Parameters<'_>,
    ) -> Result<bool> {
        let statements = Arc::clone(&self.statements);
        let (text, values) = self.bind(&statements, operation, name, parameters)?;
        let outcome = self.wire.execute(text, &values).await;
        self.give_back();
        match outcome {
            Ok(count) => Ok(count > 0),
            // A duplicate key is an answer, not a failure, where the engine reports it as an error.
            Err(error) if self.codes.is_duplicate(&error) => Ok(false),
            Err(error) => Err(self.failed(operation, error)),
        }
    }

    /// Wraps several statements in a transaction of their own, unless the caller opened one.
    async fn begin_own_unit(&mut self) -> Result<bool> {
        if self.unit != Unit::None {
            return Ok(false);
        }
        let begun = self.begin().await;
        if begun.is_err() {
            // The caller opened no transaction that would have to be rolled back.
            self.unit = Unit::None;
        }
        begun.map(|()| true)
    }

    async fn end_own_unit<T>(&mut self, own: bool, outcome: Result<T>) -> Result<T> {
        match outcome {
            Ok(value) if own => self.commit().await.map(|()| value),
            // The first error says what happened; that of the rollback would only hide it.
            Err(error) if own => {
                drop(self.rollback().await);
                Err(error)
            }
            outcome => outcome,
        }
    }
}
