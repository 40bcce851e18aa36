//! The seam that contracts speak to: an isolated store, the sessions of its workers, an observer.
//!
//! Nothing here assumes our table or our statements. A session is one physical connection of its
//! own. Outside `begin` … `commit` every operation is a transaction of its own.

use std::time::Duration;

use async_trait::async_trait;

use crate::capability::StoreCapability;
use crate::error::{EngineError, ErrorKind};
use crate::instruments::Instruments;
use crate::lease::{
    Acked, Backlog, Claim, ClaimBatch, Claimed, Clock, Confirmed, EventId, EventRow, FencingToken,
    Instant, NewEvent, Released, Renewed, Reserved,
};
use crate::statement::Statements;

/// The result of an operation on an engine.
pub type Result<T> = std::result::Result<T, EngineError>;

/// Names one session to an observer: the server's connection id.
pub type SessionId = i64;

/// An isolation level of the SQL standard.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Isolation {
    /// READ COMMITTED.
    ReadCommitted,
    /// REPEATABLE READ.
    RepeatableRead,
    /// SERIALIZABLE.
    Serializable,
}

impl Isolation {
    /// The level as the standard spells it.
    #[must_use]
    pub fn as_sql(self) -> &'static str {
        match self {
            Self::ReadCommitted => "READ COMMITTED",
            Self::RepeatableRead => "REPEATABLE READ",
            Self::Serializable => "SERIALIZABLE",
        }
    }
}

/// How SQLite keeps its journal; other engines ignore it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Journal {
    /// Write-ahead log.
    #[default]
    Wal,
    /// Rollback journal.
    Delete,
}

/// How a store is opened.
#[derive(Clone, Debug)]
pub struct StoreOptions {
    /// Statements to use in place of the reference ones; how a negative control gets in.
    pub statements: Option<Statements>,
    /// The isolation of every session; `None` leaves the engine's default.
    pub isolation: Option<Isolation>,
    /// SQLite's journal.
    pub journal: Journal,
    /// Whose clock decides when a lease is over.
    pub clock: Clock,
    /// Statements that every session runs first; empty for none.
    pub session: &'static str,
    /// How often an event may be claimed before it is given up as `DEAD`.
    pub max_attempts: u32,
    /// Whether sessions let through what follows an aborted transaction, as a driver does. Only who measures
    /// what the engine makes of it wants that.
    pub unguarded: bool,
}

impl Default for StoreOptions {
    fn default() -> Self {
        Self {
            statements: None,
            isolation: None,
            journal: Journal::default(),
            clock: Clock::default(),
            session: "",
            max_attempts: u32::MAX,
            unguarded: false,
        }
    }
}

/// How one session is opened.
#[derive(Clone, Debug)]
pub struct SessionOptions {
    /// The longest wait for a lock before the engine gives up; MySQL and MariaDB round up to 1 s.
    pub lock_timeout: Duration,
    /// The session's time zone as an offset such as `+05:00`; SQLite has none.
    pub time_zone: Option<&'static str>,
    /// Whether the server is to refuse writes on this session, as a demoted node does.
    pub read_only: bool,
    /// The isolation of this session, in place of the store's.
    pub isolation: Option<Isolation>,
    /// Whether it is to work as behind a pooler in transaction mode: every transaction, and every statement
    /// outside of one, is run by another connection than the one before, and none is prepared by name.
    pub pooled: bool,
    /// By how much the worker's own clock is ahead of the host's, in microseconds. The reference
    /// statements never look at that clock; a negative control may, as `:caller`.
    pub clock_skew: i64,
}

impl Default for SessionOptions {
    fn default() -> Self {
        Self {
            lock_timeout: Duration::from_secs(10),
            time_zone: None,
            read_only: false,
            isolation: None,
            pooled: false,
            clock_skew: 0,
        }
    }
}

/// What happens when a row to be locked is locked already.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LockWait {
    /// Wait until it is free, at most for the session's lock timeout.
    Block,
    /// Fail at once.
    NoWait,
}

/// Whether a session waits for a lock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Waiting {
    /// It was seen waiting.
    Waiting,
    /// It was seen not waiting.
    NotWaiting,
    /// The engine does not show it, or not to this user.
    NotObservable,
}

/// An isolated schema, database or file; what it holds is seen by nobody else.
#[async_trait]
pub trait Store: Send + Sync {
    /// What the engine calls it, for [`Engine::attach`](crate::Engine::attach); empty where it cannot
    /// be attached.
    fn name(&self) -> String {
        String::new()
    }

    /// What it lets its callers do or see, beyond enqueue, claim and ack.
    fn capabilities(&self) -> &'static [StoreCapability] {
        &StoreCapability::ALL
    }

    /// Opens a connection of its own.
    ///
    /// # Errors
    /// When the server refuses the connection or the options.
    async fn session(&self, options: &SessionOptions) -> Result<Box<dyn Session>>;

    /// Opens the connection through which waits are seen and sessions ended.
    ///
    /// # Errors
    /// When the server refuses the connection.
    async fn observer(&self) -> Result<Box<dyn Observer>>;

    /// Opens the connection through which its costs are measured.
    ///
    /// # Errors
    /// When the server refuses the connection, or the store has no instruments.
    async fn instruments(&self) -> Result<Box<dyn Instruments>> {
        let message = "this store has no instruments";
        Err(EngineError::new("store", "open instruments", ErrorKind::Fatal, message))
    }

    /// Ends what is left of its sessions and removes it from the server.
    ///
    /// # Errors
    /// When the server cannot be reached or something still holds it.
    async fn close(&self) -> Result<()>;
}

/// Sees what sessions do, from a connection of its own.
#[async_trait]
pub trait Observer: Send {
    /// Whether the session waits for a lock now.
    ///
    /// # Errors
    /// When the server cannot be asked.
    async fn waiting(&mut self, session: SessionId) -> Result<Waiting>;

    /// Ends the session's connection from outside, as a failing network would.
    ///
    /// # Errors
    /// When the server cannot do it, or the user may not.
    async fn terminate(&mut self, session: SessionId) -> Result<()>;

    /// Lets the planner believe that no row is `PENDING`, as statistics from an idle hour would.
    ///
    /// # Errors
    /// When the server refuses it.
    async fn mislead_planner(&mut self) -> Result<()>;
}

/// One worker's own connection.
///
/// # Errors
/// Every operation fails with the engine's own error, sorted by [`crate::error::ErrorKind`]. After a
/// retryable error inside a transaction the session refuses everything but `rollback`, whatever the
/// server would accept, so that no tail of a transaction survives its head. After a `begin` that failed it
/// refuses everything but `begin` and `rollback`, for the same reason.
#[async_trait]
pub trait Session: Send {
    /// What an observer calls this session.
    fn id(&self) -> SessionId;

    /// Begins a transaction that will write.
    async fn begin(&mut self) -> Result<()>;
    /// Begins a transaction that reads first and thereby fixes its snapshot where the engine has one.
    async fn begin_snapshot(&mut self) -> Result<()>;
    /// Commits the transaction. An error means that nothing of it may be relied on.
    async fn commit(&mut self) -> Result<()>;
    /// Undoes the transaction.
    async fn rollback(&mut self) -> Result<()>;

    /// Inserts events; returns how many were new.
    async fn enqueue(&mut self, events: &[NewEvent]) -> Result<u64>;
    /// Reads the events that could be claimed now, locking and granting nothing.
    async fn candidates(&mut self, limit: u32, now: Instant) -> Result<Vec<EventId>>;
    /// Claims one event.
    async fn claim(&mut self, claim: &Claim) -> Result<Claimed>;
    /// Claims up to `limit` events, returned in order of due instant and event id.
    async fn claim_batch(&mut self, batch: &ClaimBatch) -> Result<Vec<EventId>>;
    /// Moves the deadline of an owned event to a later one.
    async fn renew(
        &mut self,
        event: &EventId,
        token: &FencingToken,
        now: Instant,
        until: Instant,
    ) -> Result<Renewed>;
    /// Asks whether an event is still owned and live, changing nothing. Inside a transaction it also keeps
    /// the event until the transaction ends, so that what is written beside it is written by the owner.
    async fn confirm(
        &mut self,
        event: &EventId,
        token: &FencingToken,
        now: Instant,
    ) -> Result<Confirmed>;
    /// Marks an owned event as done.
    async fn ack(&mut self, event: &EventId, token: &FencingToken, now: Instant) -> Result<Acked>;
    /// Gives an owned event back before its deadline.
    async fn release(&mut self, event: &EventId, token: &FencingToken) -> Result<Released>;
    /// Gives up events that were claimed as often as the store allows, and whose last lease is over;
    /// returns those that this call gave up, at most `limit`, in order of due instant and event id.
    async fn dead_letter(&mut self, limit: u32, now: Instant) -> Result<Vec<EventId>>;
    /// Locks an event's row and changes nothing; needs an open transaction.
    async fn lock(&mut self, event: &EventId, wait: LockWait) -> Result<()>;

    /// Reserves an event in a consumer's ledger.
    async fn reserve(&mut self, consumer: &str, event: &EventId) -> Result<Reserved>;
    /// Performs the consumer's effect of an event once more.
    async fn apply_effect(&mut self, consumer: &str, event: &EventId) -> Result<()>;

    /// The event's row as it is stored.
    async fn event(&mut self, event: &EventId) -> Result<Option<EventRow>>;
    /// How often the consumer's effect of an event was applied.
    async fn effects(&mut self, consumer: &str, event: &EventId) -> Result<i64>;
    /// What is waiting, held and overdue.
    async fn backlog(&mut self, now: Instant) -> Result<Backlog>;

    /// Closes the connection.
    async fn close(self: Box<Self>);
}
