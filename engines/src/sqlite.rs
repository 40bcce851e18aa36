//! SQLite, as it is linked into this program.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use sqlx::ConnectOptions;
use sqlx::sqlite::{SqliteConnectOptions, SqliteConnection};

use crate::busy::{self, Busy};
use crate::capability::Capability;
use crate::driver::{Codes, Value, Wire, WireError};
use crate::engine::{DatabaseClock, Dialect, Engine, Identity, Setup};
use crate::error::{EngineError, ErrorKind};
use crate::instruments::Instruments;
use crate::lease::{Clock, Strategy};
use crate::pooled::{PooledWire, statement_cache};
use crate::sandbox::sandbox_name;
use crate::servers::{Address, Endpoint, ServerSpec};
use crate::session::{Compilation, SqlSession, compile_all};
use crate::statement::{Placeholder, Statements};
use crate::store::{
    Journal, Observer, Result, Session, SessionId, SessionOptions, Store, StoreOptions,
};

use self::instruments::{SqliteInstruments, Works};
use self::observed::{ObservedWire, SqliteObserver};

mod instruments;
mod observed;
pub mod plain;

/// The engine's one instance.
pub static ENGINE: SqliteEngine = SqliteEngine;

/// SQLite 3.35 and later.
pub struct SqliteEngine;

/// Extended result codes by class, from SQLite's list of result codes.
static CODES: Codes = Codes {
    engine: "sqlite",
    // BUSY, LOCKED, BUSY_RECOVERY, LOCKED_SHAREDCACHE, BUSY_SNAPSHOT, BUSY_TIMEOUT
    retryable: &["5", "6", "261", "262", "517", "773"],
    // READONLY, and its extended forms
    fenced: &["8", "264", "520", "776", "1032", "1288", "1544"],
    // FULL, CANTOPEN, PROTOCOL, and the extended forms of IOERR and CANTOPEN; an I/O error leaves the
    // state of the file unknown
    unavailable: &[
        "10", "13", "14", "15", "266", "270", "522", "526", "778", "782", "1034", "1038", "1290",
        "1546", "1550", "1802", "2058", "2314", "2570", "3338", "3594", "3850", "4106", "4874",
        "5130", "5386", "5642", "6154", "6410", "6666",
    ],
    // CONSTRAINT_UNIQUE, CONSTRAINT_PRIMARYKEY
    duplicate: &["2067", "1555"],
    aborts_on_any_error: false,
};

#[async_trait]
impl Engine for SqliteEngine {
    fn name(&self) -> &'static str {
        "sqlite"
    }

    fn title(&self) -> &'static str {
        "SQLite"
    }

    fn default_version(&self) -> &'static str {
        linked_version()
    }

    fn dialect(&self) -> Dialect {
        Dialect::Sqlite
    }

    fn server(&self) -> Option<&'static ServerSpec> {
        None
    }

    fn capabilities(&self) -> &'static [Capability] {
        &[
            Capability::Returning,
            Capability::SubSecondInstants,
            Capability::TransactionalDdl,
            Capability::WaitObservation,
        ]
    }

    fn strategies(&self) -> &'static [Strategy] {
        &[Strategy::ConditionalUpdate, Strategy::UpdateReturning]
    }

    fn setups(&self) -> &'static [Setup] {
        &[Setup { name: "journal-delete", isolation: None, journal: Journal::Delete, session: "" }]
    }

    fn statements(&self) -> Statements {
        crate::statements!(
            "sqlite",
            ack,
            acked_by,
            apply_effect,
            backlog,
            begin,
            begin_snapshot,
            dead_letter,
            candidates,
            claim,
            claim_batch,
            commit,
            confirm,
            effects,
            enqueue,
            event,
            exhausted,
            lock,
            mislead_planner,
            release,
            renew,
            reserve,
            rollback,
            schema,
        )
    }

    fn database_clock(&self) -> DatabaseClock {
        DatabaseClock {
            statements: crate::statements!(
                "sqlite/database_clock",
                ack,
                backlog,
                dead_letter,
                candidates,
                claim,
                claim_batch,
                confirm,
                enqueue,
                exhausted,
                renew,
            ),
            readings: &["CAST(unixepoch('subsec') * 1000000 AS INTEGER)"],
        }
    }

    async fn identify(&self, endpoint: &Endpoint) -> Result<Identity> {
        let store = SqliteStore::new(directory(endpoint)?, &StoreOptions::default());
        let mut connection = store.connect().await?;
        let mut identity = Identity {
            version: linked_version().to_owned(),
            // One writer at a time, and readers on a snapshot.
            isolation: "serializable".to_owned(),
            tls: None,
            durability: BTreeMap::new(),
            settings: BTreeMap::new(),
        };
        for pragma in ["journal_mode", "synchronous", "fullfsync"] {
            let value = self::pragma(&mut connection, pragma).await?;
            identity.durability.insert(pragma.to_owned(), value);
        }
        for pragma in ["locking_mode", "page_size", "wal_autocheckpoint"] {
            let value = self::pragma(&mut connection, pragma).await?;
            identity.settings.insert(pragma.to_owned(), value);
        }
        Box::new(connection).close().await;
        store.close().await?;
        Ok(identity)
    }

    async fn open(&self, endpoint: &Endpoint, options: StoreOptions) -> Result<Box<dyn Store>> {
        let mut store = SqliteStore::new(directory(endpoint)?, &options);
        let mut connection = store.connect().await?;
        if options.clock == Clock::Database {
            let rows = connection.fetch(&self.database_clock().query(), &[]).await;
            let rows = rows.map_err(|error| CODES.classify("read the clock", error))?;
            if let Some(Value::Int(epoch)) = rows.first().and_then(|row| row.first()) {
                store.epoch = *epoch;
            }
        }
        let schema = store.statements.get("schema").map(|schema| schema.text.clone());
        let created = connection.batch(&schema.unwrap_or_default()).await;
        Box::new(connection).close().await;
        if let Err(error) = created {
            store.close().await?;
            return Err(CODES.classify("create the tables", error));
        }
        Ok(Box::new(store))
    }

    fn attach(
        &self,
        endpoint: &Endpoint,
        name: &str,
        options: StoreOptions,
    ) -> Result<Box<dyn Store>> {
        let mut store = SqliteStore::new(directory(endpoint)?, &options);
        store.file = PathBuf::from(name);
        Ok(Box::new(store))
    }
}

/// The version of the library that is linked, such as `3.51.3`.
fn linked_version() -> &'static str {
    std::str::from_utf8(libsqlite3_sys::SQLITE_VERSION.to_bytes())
        .expect("SQLite's version is digits and dots")
}

fn directory(endpoint: &Endpoint) -> Result<&Path> {
    match &endpoint.address {
        Address::Directory(path) => Ok(path),
        Address::Server(_) => {
            let message = "the endpoint is not a directory";
            Err(EngineError::new("sqlite", "open", ErrorKind::Fatal, message))
        }
    }
}

async fn pragma(connection: &mut SqliteConnection, name: &str) -> Result<String> {
    let rows = connection.fetch(&format!("PRAGMA {name}"), &[]).await;
    let rows = rows.map_err(|error| CODES.classify("read a setting", error))?;
    Ok(match rows.first().and_then(|row| row.first()) {
        Some(Value::Int(value)) => value.to_string(),
        Some(Value::Text(value)) => value.clone(),
        _ => String::new(),
    })
}

type Waits = Arc<Mutex<BTreeMap<SessionId, Arc<Busy>>>>;

struct SqliteStore {
    file: PathBuf,
    journal: Journal,
    statements: Compilation,
    session: &'static str,
    epoch: i64,
    waits: Waits,
    works: Works,
    next: AtomicI64,
}

impl SqliteStore {
    fn new(directory: &Path, options: &StoreOptions) -> Self {
        Self {
            file: directory.join(sandbox_name()).with_extension("db"),
            journal: options.journal,
            statements: compile_all(&ENGINE, options, Placeholder::Numbered),
            session: options.session,
            epoch: 0,
            waits: Waits::default(),
            works: Works::default(),
            next: AtomicI64::new(1),
        }
    }

    async fn connect(&self) -> Result<SqliteConnection> {
        self.connect_with(statement_cache(&SessionOptions::default())).await
    }

    async fn connect_with(&self, cache: usize) -> Result<SqliteConnection> {
        let options = SqliteConnectOptions::new()
            .filename(&self.file)
            .create_if_missing(true)
            .statement_cache_capacity(cache)
            .journal_mode(match self.journal {
                Journal::Wal => sqlx::sqlite::SqliteJournalMode::Wal,
                Journal::Delete => sqlx::sqlite::SqliteJournalMode::Delete,
            })
            .disable_statement_logging();
        options.connect().await.map_err(|error| {
            let code = error.as_database_error().and_then(|error| error.code());
            let code = code.map(|code| code.into_owned());
            CODES.classify("connect", WireError::from_sqlx(&error, code))
        })
    }

    async fn wire(&self, options: &SessionOptions) -> Result<(Box<dyn Wire>, SessionId)> {
        let mut connection = self.connect_with(statement_cache(options)).await?;
        let read_only = if options.read_only { "PRAGMA query_only = 1" } else { "" };
        for statements in [self.session, read_only].into_iter().filter(|text| !text.is_empty()) {
            let outcome = connection.batch(statements).await;
            outcome.map_err(|error| CODES.classify("set up a session", error))?;
        }
        let installed = busy::install(&mut connection, options.lock_timeout).await;
        let installed = installed.map_err(|error| {
            CODES.classify("set up a session", WireError::from_sqlx(&error, None))
        })?;
        let id = self.next.fetch_add(1, Ordering::Relaxed);
        let mut waits = self.waits.lock().expect("nobody panics while holding the waits");
        waits.insert(id, Arc::clone(installed.busy()));
        drop(waits);
        let connection = Box::new(connection);
        let works = Arc::clone(&self.works);
        Ok((Box::new(ObservedWire { connection, installed, works }), id))
    }
}

#[async_trait]
impl Store for SqliteStore {
    fn name(&self) -> String {
        self.file.display().to_string()
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
        Ok(Box::new(SqliteObserver {
            connection: self.connect().await?,
            waits: Arc::clone(&self.waits),
            statements: self.statements.clone(),
        }))
    }

    async fn instruments(&self) -> Result<Box<dyn Instruments>> {
        Ok(Box::new(SqliteInstruments {
            connection: self.connect().await?,
            statements: self.statements.clone(),
            waits: Arc::clone(&self.waits),
            works: Arc::clone(&self.works),
        }))
    }

    async fn close(&self) -> Result<()> {
        for suffix in ["", "-wal", "-shm", "-journal"] {
            let mut path = self.file.clone().into_os_string();
            path.push(suffix);
            match std::fs::remove_file(&path) {
                Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                    let message = format!("could not remove `{}`: {error}", path.display());
                    return Err(EngineError::new(
                        "sqlite",
                        "drop the file",
                        ErrorKind::Fatal,
                        message,
                    ));
                }
                _ => {}
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    /// Up to 3.51.2 a commit that races the reset of the write-ahead log may be lost
    /// (`tursodatabase/libsql#2271`, `aaif-goose/goose#11157`), and with it a claim or an ack.
    #[test]
    fn the_linked_library_is_past_the_lost_commits_of_the_write_ahead_log() {
        let number = |text: &str| text.parse::<u32>().expect("SQLite's version is numbers");
        let version: Vec<_> = super::linked_version().split('.').map(number).collect();
        assert!(version >= vec![3, 51, 3], "{version:?}");
    }
}
