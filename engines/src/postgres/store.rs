//! A schema of its own on a PostgreSQL server, its sessions and its observer.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use sqlx::postgres::{PgConnectOptions, PgConnection};

use super::instruments::PostgresInstruments;
use super::lock_log::TELLING;
use super::{CODES, cells, connect, one};
use crate::driver::{Value, Wire};
use crate::error::{EngineError, ErrorKind};
use crate::instruments::Instruments;
use crate::pooled::{PooledWire, statement_cache};
use crate::sandbox::Roster;
use crate::session::{Compilation, SqlSession};
use crate::store::{
    Isolation, Observer, Result, Session, SessionId, SessionOptions, Store, Waiting,
};

/// How often, and how many times, an observer looks whether a session has ended: 5 s in all.
const LOOK_EVERY: Duration = Duration::from_millis(2);
const LOOKS: usize = 2500;

pub(super) struct PostgresStore {
    pub(super) connect: PgConnectOptions,
    pub(super) schema: String,
    pub(super) isolation: Option<Isolation>,
    pub(super) session: &'static str,
    pub(super) statements: Compilation,
    pub(super) epoch: i64,
    pub(super) roster: Arc<Roster>,
}

impl PostgresStore {
    fn set_up(&self, options: &SessionOptions) -> String {
        let mut text = format!(
            "SET search_path TO {}; SET lock_timeout = {};",
            self.schema,
            options.lock_timeout.as_millis()
        );
        if let Some(zone) = options.time_zone {
            // As an interval: in the name `+05:00` PostgreSQL reads the POSIX sign, west of zero.
            text.push_str(&format!("SET TIME ZONE INTERVAL '{zone}' HOUR TO MINUTE;"));
        }
        if let Some(isolation) = options.isolation.or(self.isolation) {
            text.push_str(&format!(
                "SET default_transaction_isolation = '{}';",
                isolation.as_sql()
            ));
        }
        text.push_str(self.session);
        if options.read_only {
            text.push_str("SET default_transaction_read_only = on;");
        }
        text
    }

    async fn wire(&self, options: &SessionOptions) -> Result<(Box<dyn Wire>, SessionId)> {
        let cache = statement_cache(options);
        let mut connection = connect(&self.connect.clone().statement_cache_capacity(cache)).await?;
        let set_up = connection.batch(&self.set_up(options)).await;
        set_up.map_err(|error| CODES.classify("set up a session", error))?;
        let row = one(&mut connection, "set up a session", "SELECT pg_backend_pid()", &[]).await?;
        let id = cells("set up a session", &row).int(0)?;
        self.roster.add(id);
        Ok((Box::new(connection), id))
    }
}

#[async_trait]
impl Store for PostgresStore {
    fn name(&self) -> String {
        self.schema.clone()
    }

    async fn session(&self, options: &SessionOptions) -> Result<Box<dyn Session>> {
        let (mut wire, id) = self.wire(options).await?;
        if options.pooled {
            wire = Box::new(PooledWire::new([wire, self.wire(options).await?.0]));
        }
        let session = SqlSession::new(wire, id, &CODES, self.statements.clone(), self.epoch);
        Ok(Box::new(session.skewed(options.clock_skew)))
    }

    async fn observer(&self) -> Result<Box<dyn Observer>> {
        let mut connection = connect(&self.connect).await?;
        let text = format!("SET search_path TO {};", self.schema);
        let set_up = connection.batch(&text).await;
        set_up.map_err(|error| CODES.classify("set up an observer", error))?;
        Ok(Box::new(PostgresObserver { connection, statements: self.statements.clone() }))
    }

    async fn instruments(&self) -> Result<Box<dyn Instruments>> {
        let mut connection = connect(&self.connect).await?;
        let text = format!("SET search_path TO {};", self.schema);
        let set_up = connection.batch(&text).await;
        set_up.map_err(|error| CODES.classify("open instruments", error))?;
        Ok(Box::new(PostgresInstruments {
            connection,
            statements: self.statements.clone(),
            roster: Arc::clone(&self.roster),
            tells: self.session.contains(TELLING),
        }))
    }

    async fn close(&self) -> Result<()> {
        let mut connection = connect(&self.connect).await?;
        // A session whose client is gone may still hold locks on what is to be dropped.
        for session in self.roster.take() {
            let text = "SELECT pg_terminate_backend($1::int) FROM pg_stat_activity WHERE pid = $1::int AND application_name = 'leaseproof'";
            one(&mut connection, "end a session", text, &[Value::Int(session)]).await?;
        }
        let dropped = connection.batch(&format!("DROP SCHEMA {} CASCADE", self.schema)).await;
        Box::new(connection).close().await;
        dropped.map_err(|error| CODES.classify("drop the schema", error))
    }
}

struct PostgresObserver {
    connection: PgConnection,
    statements: Compilation,
}

#[async_trait]
impl Observer for PostgresObserver {
    async fn waiting(&mut self, session: SessionId) -> Result<Waiting> {
        let text = "SELECT wait_event_type IS NOT DISTINCT FROM 'Lock' FROM pg_stat_activity WHERE pid = $1::int";
        let row = one(&mut self.connection, "observe a wait", text, &[Value::Int(session)]).await?;
        Ok(match row.first() {
            Some(Value::Int(1)) => Waiting::Waiting,
            _ => Waiting::NotWaiting,
        })
    }

    async fn terminate(&mut self, session: SessionId) -> Result<()> {
        let text = "SELECT pg_terminate_backend($1::int)";
        one(&mut self.connection, "end a session", text, &[Value::Int(session)]).await?;
        // Not the server's own wait for the end, which looks only every 100 ms.
        let text = "SELECT count(*) FROM pg_stat_activity WHERE pid = $1::int";
        let mut interval = tokio::time::interval(LOOK_EVERY);
        for _ in 0..LOOKS {
            interval.tick().await;
            let row =
                one(&mut self.connection, "end a session", text, &[Value::Int(session)]).await?;
            if cells("end a session", &row).int(0)? == 0 {
                return Ok(());
            }
        }
        let message = format!("session {session} was told to end and is still there");
        Err(EngineError::new("postgres", "end a session", ErrorKind::Unavailable, message))
    }

    async fn mislead_planner(&mut self) -> Result<()> {
        let text = self.statements.get("mislead_planner").map(|statement| statement.text.clone());
        let outcome = self.connection.batch(&text.unwrap_or_default()).await;
        outcome.map_err(|error| CODES.classify("mislead the planner", error))
    }
}
