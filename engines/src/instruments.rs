//! What an engine can tell about the cost of a lease, behind one interface: waits, deadlocks, rows
//! skipped, pages touched, bytes logged, and the plans of its statements.
//!
//! Invariants: a number that an engine does not show is [`Observed::NotObservable`] with the reason,
//! never 0; totals only grow while a server lives, so two readings can be subtracted; what sessions
//! that are still open have done may be missing from a total, so read it after they were closed.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::time::Duration;

use async_trait::async_trait;

use crate::store::{Result, SessionId};

mod text;

pub(crate) use text::{name_of, with_literals};

/// Something that an engine may count.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Counter {
    /// Lock waits that have ended, or begun, as the engine counts.
    LockWaits,
    /// The time spent in lock waits.
    LockWaitMs,
    /// The longest lock wait.
    LockWaitMaxMs,
    /// Deadlocks that the engine resolved.
    Deadlocks,
    /// Record locks that were asked for.
    LockRequests,
    /// Rows that a claim stepped over because others held them.
    SkippedRows,
    /// Rows or index entries that were read.
    RowsRead,
    /// Pages that were touched, in memory or not.
    PagesTouched,
    /// Bytes written to the log that makes commits durable.
    WalBytes,
    /// Dead versions of rows that nobody has cleaned up yet.
    DeadRows,
    /// Transactions whose old versions are still kept.
    HistoryLength,
    /// Steps of SQLite's virtual machine.
    VmSteps,
}

/// How two readings of a counter become one number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// It only grows: the later reading less the earlier one.
    Total,
    /// It is a state: the later reading.
    State,
    /// The greatest since the server started: known only when it has grown.
    Peak,
}

impl Counter {
    /// Every counter, in report order.
    pub const ALL: [Self; 12] = [
        Self::LockWaits,
        Self::LockWaitMs,
        Self::LockWaitMaxMs,
        Self::Deadlocks,
        Self::LockRequests,
        Self::SkippedRows,
        Self::RowsRead,
        Self::PagesTouched,
        Self::WalBytes,
        Self::DeadRows,
        Self::HistoryLength,
        Self::VmSteps,
    ];

    /// The stable name that reports use, with its unit last.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::LockWaits => "lock_waits",
            Self::LockWaitMs => "lock_wait_ms",
            Self::LockWaitMaxMs => "lock_wait_max_ms",
            Self::Deadlocks => "deadlocks",
            Self::LockRequests => "lock_requests",
            Self::SkippedRows => "skipped_rows",
            Self::RowsRead => "rows_read",
            Self::PagesTouched => "pages_touched",
            Self::WalBytes => "wal_bytes",
            Self::DeadRows => "dead_rows",
            Self::HistoryLength => "history_length",
            Self::VmSteps => "vm_steps",
        }
    }

    /// How its readings are compared.
    #[must_use]
    pub fn shape(self) -> Shape {
        match self {
            Self::DeadRows | Self::HistoryLength => Shape::State,
            Self::LockWaitMaxMs => Shape::Peak,
            _ => Shape::Total,
        }
    }
}

/// A number that was read, or why there is none.
#[derive(Clone, Debug, PartialEq)]
pub enum Observed {
    /// What was read.
    Value(f64),
    /// The engine does not show it; why.
    NotObservable(Cow<'static, str>),
}

impl Observed {
    /// The number, where there is one.
    #[must_use]
    pub fn value(&self) -> Option<f64> {
        match self {
            Self::Value(value) => Some(*value),
            Self::NotObservable(_) => None,
        }
    }

    /// A reason that is known beforehand.
    #[must_use]
    pub const fn hidden(reason: &'static str) -> Self {
        Self::NotObservable(Cow::Borrowed(reason))
    }
}

/// One reading of every counter.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Counters(pub BTreeMap<Counter, Observed>);

impl Counters {
    /// What happened since an earlier reading.
    #[must_use]
    pub fn since(&self, earlier: &Self) -> Self {
        let change = |(counter, now): (&Counter, &Observed)| {
            let before = earlier.0.get(counter).and_then(Observed::value);
            let change = match (counter.shape(), now, before) {
                (Shape::Total, Observed::Value(now), Some(before)) => Observed::Value(now - before),
                (Shape::Peak, Observed::Value(now), Some(before)) if *now <= before => {
                    Observed::hidden("an earlier wait on this server was as long")
                }
                _ => now.clone(),
            };
            (*counter, change)
        };
        Self(self.0.iter().map(change).collect())
    }

    /// The number of a counter, where there is one.
    #[must_use]
    pub fn value(&self, counter: Counter) -> Option<f64> {
        self.0.get(&counter).and_then(Observed::value)
    }
}

/// A session that was seen waiting.
#[derive(Clone, Debug, PartialEq)]
pub struct Wait {
    /// The session that waits.
    pub session: SessionId,
    /// The statement that waits, by its name.
    pub waiter: String,
    /// What the session that holds the lock has run last, by its name; `None` where it is not shown.
    pub blocker: Option<String>,
    /// How long the wait has lasted by the server's clock, where it says so, in milliseconds.
    pub waited_ms: Option<f64>,
}

/// How closely an engine is looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Look {
    /// While others are timed: only what does not disturb them.
    Timed,
    /// In a probe of its own: everything there is.
    Probe,
}

/// How an engine executes one statement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StatementPlan {
    /// The statement's name.
    pub statement: String,
    /// Its text as the driver sends it.
    pub sql: String,
    /// The plan as the engine prints it.
    pub plan: String,
    /// Node types and indexes in order, without costs.
    pub fingerprint: String,
}

/// What the event table holds, for checking that nothing was lost or doubled.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Audit {
    /// How many events there are.
    pub events: i64,
    /// How many acquisitions they have seen in all.
    pub attempts: i64,
    /// How many of them carry a token.
    pub held: i64,
    /// How many of them are done.
    pub done: i64,
}

/// How often effects were applied.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Effects {
    /// How many were applied in all.
    pub applied: i64,
    /// To how many different events.
    pub events: i64,
}

impl Effects {
    /// The query that all engines understand.
    pub(crate) const QUERY: &str = "SELECT CAST(COUNT(*) AS {int}), \
        CAST(COUNT(DISTINCT event_id) AS {int}) FROM lease_effect";
}

impl Audit {
    /// The query that all engines understand.
    pub(crate) const QUERY: &str = "SELECT CAST(COUNT(*) AS {int}), \
        CAST(COALESCE(SUM(attempt), 0) AS {int}), CAST(COUNT(claim_token) AS {int}), \
        CAST(COALESCE(SUM(CASE WHEN state = 'DONE' THEN 1 ELSE 0 END), 0) AS {int}) FROM lease_event";
}

/// Looks into the engine from a connection of its own, and prepares its table for a measurement.
#[async_trait]
pub trait Instruments: Send {
    /// Enqueues that many events at once, due one instant after another from 0.
    async fn fill(&mut self, events: u64) -> Result<()>;
    /// Brings the table into a state that is to be measured, by a statement that all engines understand.
    async fn alter(&mut self, statement: &str) -> Result<()>;
    /// Takes statistics and flushes what the filling left, so that it is not measured.
    async fn settle(&mut self) -> Result<()>;
    /// Waits until the server has done with all sessions but `open` of them, and counted their work.
    async fn await_closed(&mut self, open: i64) -> Result<()>;
    /// Reads every counter.
    async fn counters(&mut self) -> Result<Counters>;
    /// The shortest time between two looks of [`Look::Timed`] that see two different things.
    fn shortest_interval(&self) -> Duration {
        Duration::ZERO
    }
    /// Who waits for whom now.
    async fn waits(&mut self, look: Look) -> Result<Vec<Wait>>;
    /// When a hold that should last `ms` must end for a waiter to notice at once: a waiter that looks
    /// again and again only notices when it looks, and its wait is longer than the hold.
    fn look_after_ms(&self, ms: u64) -> u64 {
        ms
    }
    /// How many row locks the session's open unit holds.
    async fn locks_held(&mut self, session: SessionId) -> Result<Observed>;
    /// The rows that one claim of `limit` steps over now, by the engine's own account of it; the
    /// claim itself is undone.
    async fn skips_of_one_claim(&mut self, limit: u32) -> Result<Observed>;
    /// The plans of the statements that claim.
    async fn plans(&mut self) -> Result<Vec<StatementPlan>>;
    /// What the event table holds.
    async fn audit(&mut self) -> Result<Audit>;
    /// How often the effects of events were applied.
    async fn effects(&mut self) -> Result<Effects>;
    /// Takes away the index that claims use: the fault that a measurement must show.
    async fn drop_claim_index(&mut self) -> Result<()>;
    /// The counters in which the server's own housekeeping is counted beside the work of sessions: it
    /// comes when it comes, so that they vary by themselves.
    fn with_housekeeping(&self) -> &'static [Counter];
    /// Closes the connection.
    async fn close(self: Box<Self>);
}

/// The statements whose plans are worth keeping: those that a claim, and its end, consist of.
pub(crate) const PLANNED: [&str; 7] = [
    "ack",
    "candidates",
    "claim",
    "claim_batch",
    "claim_batch_lock",
    "claim_batch_mark",
    "release",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_peak_that_did_not_grow_is_not_ours() {
        let read = |value| {
            let value = Observed::Value(value);
            Counters(BTreeMap::from([
                (Counter::LockWaitMaxMs, value.clone()),
                (Counter::Deadlocks, value.clone()),
                (Counter::DeadRows, value),
            ]))
        };
        let change = read(5.0).since(&read(5.0));
        assert_eq!(change.value(Counter::LockWaitMaxMs), None);
        assert_eq!(change.value(Counter::Deadlocks), Some(0.0));
        assert_eq!(change.value(Counter::DeadRows), Some(5.0));
        assert_eq!(read(7.0).since(&read(5.0)).value(Counter::LockWaitMaxMs), Some(7.0));
    }
}
