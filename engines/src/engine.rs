//! A database under test: its name, what it claims to be able to do, and how a store is opened on it.

use std::collections::BTreeMap;

use async_trait::async_trait;

use crate::capability::Capability;
use crate::error::EngineError;
use crate::faults::{self, CannotPlant, Fault};
use crate::lease::{Clock, Strategy};
use crate::servers::{Endpoint, ServerSpec};
use crate::statement::Statements;
use crate::store::{Isolation, Journal, Store, StoreOptions};

/// What a server says about itself; read from it, never assumed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Identity {
    /// The version string in the server's own words.
    pub version: String,
    /// The default isolation level of a new session.
    pub isolation: String,
    /// Whether the connection is encrypted; `None` where there is no connection.
    pub tls: Option<bool>,
    /// Settings that decide whether a commit survives a crash, by the engine's own names.
    pub durability: BTreeMap<String, String>,
    /// Other settings that change how leases behave, by the engine's own names.
    pub settings: BTreeMap<String, String>,
}

/// A way to use an engine that a team may have chosen in place of its defaults.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Setup {
    /// The stable name that reports use; empty for the engine's defaults.
    pub name: &'static str,
    /// The isolation of every session.
    pub isolation: Option<Isolation>,
    /// SQLite's journal.
    pub journal: Journal,
    /// Statements that every session runs first.
    pub session: &'static str,
}

impl Setup {
    /// A set-up at another isolation.
    #[must_use]
    pub const fn isolated(name: &'static str, isolation: Isolation) -> Self {
        Self { name, isolation: Some(isolation), journal: Journal::Wal, session: "" }
    }
}

/// The words that an engine has for what the standard leaves open.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Dialect {
    /// MySQL's and MariaDB's.
    InnoDb,
    /// PostgreSQL's.
    Postgres,
    /// SQLite's.
    Sqlite,
}

/// How an engine's own clock is read.
pub struct DatabaseClock {
    /// The statements that read it, by the names of those that they replace.
    pub statements: Statements,
    /// Every expression by which they read it, in microseconds since the Unix epoch; the first one is
    /// current even inside a transaction that has waited.
    pub readings: &'static [&'static str],
}

impl DatabaseClock {
    /// A query of one row and column for the current instant.
    #[must_use]
    pub fn query(&self) -> String {
        format!("SELECT {}", self.readings[0])
    }
}

/// A database under test.
///
/// An engine names no contract; contracts ask for capabilities and speak to [`Store`].
#[async_trait]
pub trait Engine: Send + Sync + 'static {
    /// The stable name used on the command line and in reports.
    fn name(&self) -> &'static str;

    /// The name its makers write.
    fn title(&self) -> &'static str;

    /// The version taken when a selection names none.
    fn default_version(&self) -> &'static str;

    /// The words that its statements are written in.
    fn dialect(&self) -> Dialect;

    /// How a server of it is provided; `None` for an engine that is embedded in this program.
    fn server(&self) -> Option<&'static ServerSpec>;

    /// What the engine declares to be able to do.
    fn capabilities(&self) -> &'static [Capability];

    /// The claim strategies it has, in report order.
    fn strategies(&self) -> &'static [Strategy];

    /// The set-ups in which the engine may be used, beside its own defaults.
    fn setups(&self) -> &'static [Setup];

    /// The reference statements, which take the caller's instant.
    fn statements(&self) -> Statements;

    /// Those of them that read the engine's own clock instead.
    fn database_clock(&self) -> DatabaseClock;

    /// The reference statements on a clock.
    fn statements_on(&self, clock: Clock) -> Statements {
        match clock {
            Clock::Logical => self.statements(),
            Clock::Database => self.statements().overridden_by(self.database_clock().statements),
        }
    }

    /// Plants a fault in reference statements of this engine.
    ///
    /// # Errors
    /// [`CannotPlant`], when the engine cannot have the fault, or an edit finds nothing to change.
    fn plant(&self, fault: Fault, statements: &mut Statements) -> Result<(), CannotPlant> {
        faults::plant(fault, self.dialect(), statements, self.database_clock().readings)
    }

    /// What a session runs first so that the engine tells of each of its waits, for
    /// [`StoreOptions::session`]; empty where nothing is needed or nothing helps.
    fn telling_session(&self) -> &'static str {
        ""
    }

    /// Whether dead versions of rows stay until somebody cleans up the table, and not only as long as a
    /// snapshot needs them.
    fn keeps_dead_rows(&self) -> bool {
        false
    }

    /// Connects once and asks the server who it is.
    ///
    /// # Errors
    /// When the server cannot be reached or refuses the credentials.
    async fn identify(&self, endpoint: &Endpoint) -> Result<Identity, EngineError>;

    /// Creates a store of its own (database, schema or file) that no other store shares.
    ///
    /// # Errors
    /// When the server cannot be reached, or the user may not create one.
    async fn open(
        &self,
        endpoint: &Endpoint,
        options: StoreOptions,
    ) -> Result<Box<dyn Store>, EngineError>;

    /// The store of that [`Store::name`], which another process has opened on the endpoint. It must
    /// not be closed through this one.
    ///
    /// # Errors
    /// When the endpoint is none of the engine's.
    fn attach(
        &self,
        endpoint: &Endpoint,
        name: &str,
        options: StoreOptions,
    ) -> Result<Box<dyn Store>, EngineError>;
}
