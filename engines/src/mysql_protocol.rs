//! What MySQL and MariaDB share: one wire protocol, databases as sandboxes, the same session frame.
//!
//! What differs (statements, codes, how a wait is seen) stays in their own files.

use std::collections::BTreeMap;
use std::sync::Arc;

use async_trait::async_trait;
use sqlx::ConnectOptions;
use sqlx::mysql::{MySqlConnectOptions, MySqlConnection, MySqlDatabaseError};

use crate::driver::{Cells, Codes, Value, Wire, WireError};
use crate::engine::{Engine, Identity};
use crate::error::{EngineError, ErrorKind};
use crate::instruments::{Counter, Instruments, Look, Wait};
use crate::lease::Clock;
use crate::pooled::{PooledWire, statement_cache};
use crate::sandbox::{Roster, sandbox_name};
use crate::servers::{Address, Endpoint};
use crate::session::{Compilation, SqlSession, compile_all};
use crate::statement::Placeholder;
use crate::store::{
    Isolation, Observer, Result, Session, SessionId, SessionOptions, Store, StoreOptions, Waiting,
};

use self::instruments::{InnodbInstruments, Place};

pub(crate) mod instruments;

/// What one of the two engines brings to the shared code.
#[async_trait]
pub(crate) trait Flavour: Send + Sync + 'static {
    /// Its codes.
    fn codes(&self) -> &'static Codes;
    /// The session variable that holds the isolation level.
    fn isolation_variable(&self) -> &'static str;
    /// Variables that decide whether a commit survives a crash.
    fn durability(&self) -> &'static [&'static str];
    /// Other variables that change how leases behave.
    fn settings(&self) -> &'static [&'static str];
    /// Whether a connection waits for a lock.
    async fn waiting(&self, link: &mut Link, session: SessionId) -> Result<Waiting>;
    /// The query for names and values of the counters of InnoDB that are on.
    fn metrics_query(&self) -> &'static str;
    /// Where each counter is kept.
    fn places(&self) -> &'static [(Counter, Place)];
    /// Who waits for whom.
    async fn waits(
        &self,
        link: &mut Link,
        statements: &Compilation,
        look: Look,
    ) -> Result<Vec<Wait>>;
    /// The plan of a statement without parameters, and its fingerprint.
    async fn explain(&self, link: &mut Link, text: &str) -> Result<(String, String)>;
}

/// A connection that knows whose errors it reports.
pub(crate) struct Link {
    pub(crate) connection: MySqlConnection,
    pub(crate) codes: &'static Codes,
}

impl Link {
    async fn open(options: &MySqlConnectOptions, codes: &'static Codes) -> Result<Self> {
        let connection = options.connect().await.map_err(|error| {
            let database = error.as_database_error();
            let database =
                database.and_then(|error| error.try_downcast_ref::<MySqlDatabaseError>());
            let code = database.map(|error| error.number().to_string());
            codes.classify("connect", WireError::from_sqlx(&error, code))
        })?;
        Ok(Self { connection, codes })
    }

    pub(crate) async fn one(
        &mut self,
        operation: &'static str,
        text: &str,
        values: &[Value],
    ) -> Result<Vec<Value>> {
        let rows = self.connection.fetch(text, values).await;
        let rows = rows.map_err(|error| self.codes.classify(operation, error))?;
        Ok(rows.into_iter().next().unwrap_or_default())
    }

    pub(crate) async fn batch(&mut self, operation: &'static str, text: &str) -> Result<()> {
        let outcome = self.connection.batch(text).await;
        outcome.map_err(|error| self.codes.classify(operation, error))
    }

    pub(crate) fn cells<'row>(
        &self,
        operation: &'static str,
        row: &'row Vec<Value>,
    ) -> Cells<'row> {
        Cells { engine: self.codes.engine, operation, row }
    }

    async fn variable(&mut self, name: &str) -> Result<Option<String>> {
        let text = format!("SHOW VARIABLES LIKE '{name}'");
        let row = self.one("read a setting", &text, &[]).await?;
        match row.is_empty() {
            true => Ok(None),
            false => self.cells("read a setting", &row).text(1).map(Some),
        }
    }

    async fn close(self) {
        Box::new(self.connection).close().await;
    }
}

fn connect_options(endpoint: &Endpoint, codes: &'static Codes) -> Result<MySqlConnectOptions> {
    let fatal =
        |message: String| EngineError::new(codes.engine, "connect", ErrorKind::Fatal, message);
    let Address::Server(url) = &endpoint.address else {
        return Err(fatal("the endpoint is not a server".to_owned()));
    };
    let options = MySqlConnectOptions::from_url(url).map_err(|error| fatal(error.to_string()))?;
    // The driver would otherwise change `sql_mode`, and with it what is tested.
    Ok(options.pipes_as_concat(false).no_engine_substitution(false).disable_statement_logging())
}

/// Connects once and asks the server who it is.
pub(crate) async fn identify(flavour: &dyn Flavour, endpoint: &Endpoint) -> Result<Identity> {
    let mut link =
        Link::open(&connect_options(endpoint, flavour.codes())?, flavour.codes()).await?;
    let version = link.variable("version").await?.unwrap_or_default();
    let isolation = link.variable(flavour.isolation_variable()).await?;
    let row = link.one("read a setting", "SHOW SESSION STATUS LIKE 'Ssl_cipher'", &[]).await?;
    let cipher = link.cells("read a setting", &row).text(1)?;
    let identity = Identity {
        version,
        isolation: isolation.unwrap_or_default().to_lowercase().replace('-', " "),
        tls: Some(!cipher.is_empty()),
        durability: variables(&mut link, flavour.durability()).await?,
        settings: variables(&mut link, flavour.settings()).await?,
    };
    link.close().await;
    Ok(identity)
}

async fn variables(link: &mut Link, names: &[&str]) -> Result<BTreeMap<String, String>> {
    let mut found = BTreeMap::new();
    for name in names {
        // A variable that this version does not have is left out, not guessed.
        if let Some(value) = link.variable(name).await? {
            found.insert((*name).to_owned(), value);
        }
    }
    Ok(found)
}

/// Creates a database of its own.
pub(crate) async fn open(
    engine: &dyn Engine,
    flavour: &'static dyn Flavour,
    endpoint: &Endpoint,
    options: StoreOptions,
) -> Result<Box<dyn Store>> {
    let connect = connect_options(endpoint, flavour.codes())?;
    let name = sandbox_name();
    let mut link = Link::open(&connect, flavour.codes()).await?;
    let created = link.batch("create a database", &format!("CREATE DATABASE {name}")).await;
    created.map_err(cannot_create)?;
    let epoch = match options.clock {
        Clock::Logical => 0,
        Clock::Database => {
            let row = link.one("read the clock", &engine.database_clock().query(), &[]).await?;
            link.cells("read the clock", &row).int(0)?
        }
    };
    let store = MySqlStore {
        epoch,
        flavour,
        admin: connect.clone(),
        connect: connect.database(&name),
        name,
        isolation: options.isolation,
        session: options.session,
        statements: compile_all(engine, &options, Placeholder::Question),
        roster: Arc::default(),
    };
    let schema = store.statements.get("schema").map(|schema| schema.text.clone());
    let text = format!("USE {}; {}", store.name, schema.unwrap_or_default());
    let created = link.batch("create the tables", &text).await;
    link.close().await;
    if let Err(error) = created {
        store.close().await?;
        return Err(error);
    }
    Ok(Box::new(store))
}

/// A database that another process has created.
pub(crate) fn attach(
    engine: &dyn Engine,
    flavour: &'static dyn Flavour,
    endpoint: &Endpoint,
    name: &str,
    options: &StoreOptions,
) -> Result<Box<dyn Store>> {
    let connect = connect_options(endpoint, flavour.codes())?;
    Ok(Box::new(MySqlStore {
        epoch: 0,
        flavour,
        admin: connect.clone(),
        connect: connect.database(name),
        name: name.to_owned(),
        isolation: options.isolation,
        session: options.session,
        statements: compile_all(engine, options, Placeholder::Question),
        roster: Arc::default(),
    }))
}

/// Adds the remedy to the refusal of a right.
fn cannot_create(mut error: EngineError) -> EngineError {
    if matches!(error.code.as_deref(), Some("1044" | "1227")) {
        error.message.push_str(
            "; grant the user `ALL` on `leaseproof\\_%`.*, since every case runs in a database of its own",
        );
    }
    error
}

struct MySqlStore {
    flavour: &'static dyn Flavour,
    admin: MySqlConnectOptions,
    connect: MySqlConnectOptions,
    name: String,
    isolation: Option<Isolation>,
    session: &'static str,
    statements: Compilation,
    epoch: i64,
    roster: Arc<Roster>,
}

impl MySqlStore {
    fn set_up(&self, options: &SessionOptions) -> String {
        // Whole seconds are all that the server takes, at least one.
        let seconds = options.lock_timeout.as_millis().div_ceil(1000).max(1);
        let mut text = format!(
            "SET SESSION innodb_lock_wait_timeout = {seconds}; SET SESSION lock_wait_timeout = {seconds};"
        );
        if let Some(zone) = options.time_zone {
            text.push_str(&format!("SET SESSION time_zone = '{zone}';"));
        }
        if let Some(isolation) = options.isolation.or(self.isolation) {
            let level = isolation.as_sql();
            text.push_str(&format!("SET SESSION TRANSACTION ISOLATION LEVEL {level};"));
        }
        text.push_str(self.session);
        if options.read_only {
            text.push_str("SET SESSION TRANSACTION READ ONLY;");
        }
        text
    }

    async fn wire(&self, options: &SessionOptions) -> Result<(Box<dyn Wire>, SessionId)> {
        let connect = self.connect.clone().statement_cache_capacity(statement_cache(options));
        let mut link = Link::open(&connect, self.flavour.codes()).await?;
        link.batch("set up a session", &self.set_up(options)).await?;
        let row = link.one("set up a session", "SELECT CONNECTION_ID()", &[]).await?;
        let id = link.cells("set up a session", &row).int(0)?;
        self.roster.add(id);
        Ok((Box::new(link.connection), id))
    }
}

#[async_trait]
impl Store for MySqlStore {
    fn name(&self) -> String {
        self.name.clone()
    }

    async fn session(&self, options: &SessionOptions) -> Result<Box<dyn Session>> {
        let (mut wire, id) = self.wire(options).await?;
        if options.pooled {
            wire = Box::new(PooledWire::new([wire, self.wire(options).await?.0]));
        }
        let codes = self.flavour.codes();
        let session = SqlSession::new(wire, id, codes, self.statements.clone(), self.epoch);
        Ok(Box::new(session.skewed(options.clock_skew)))
    }

    async fn observer(&self) -> Result<Box<dyn Observer>> {
        Ok(Box::new(MySqlObserver {
            flavour: self.flavour,
            link: Link::open(&self.connect, self.flavour.codes()).await?,
            statements: self.statements.clone(),
        }))
    }

    async fn instruments(&self) -> Result<Box<dyn Instruments>> {
        let mut instruments = InnodbInstruments {
            flavour: self.flavour,
            link: Link::open(&self.connect, self.flavour.codes()).await?,
            statements: self.statements.clone(),
            roster: Arc::clone(&self.roster),
        };
        instruments.enable().await?;
        Ok(Box::new(instruments))
    }

    async fn close(&self) -> Result<()> {
        let mut link = Link::open(&self.admin, self.flavour.codes()).await?;
        for session in self.roster.take() {
            end(&mut link, session).await?;
        }
        let dropped =
            link.batch("drop the database", &format!("DROP DATABASE {}", self.name)).await;
        link.close().await;
        dropped
    }
}

/// Ends a connection; one that has ended by itself is as good.
async fn end(link: &mut Link, session: SessionId) -> Result<()> {
    match link.batch("end a session", &format!("KILL CONNECTION {session}")).await {
        Err(error) if error.code.as_deref() != Some("1094") => Err(error),
        _ => Ok(()),
    }
}

struct MySqlObserver {
    flavour: &'static dyn Flavour,
    link: Link,
    statements: Compilation,
}

#[async_trait]
impl Observer for MySqlObserver {
    async fn waiting(&mut self, session: SessionId) -> Result<Waiting> {
        match self.flavour.waiting(&mut self.link, session).await {
            // A user without the right to look has seen nothing, which is not the same as no wait.
            Err(error) if error.is_no_right() => Ok(Waiting::NotObservable),
            outcome => outcome,
        }
    }

    async fn terminate(&mut self, session: SessionId) -> Result<()> {
        end(&mut self.link, session).await
    }

    async fn mislead_planner(&mut self) -> Result<()> {
        let text = self.statements.get("mislead_planner").map(|statement| statement.text.clone());
        self.link.batch("mislead the planner", &text.unwrap_or_default()).await
    }
}
