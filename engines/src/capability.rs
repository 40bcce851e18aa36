//! What an engine declares to be able to do, so that a contract can ask for it.

use std::fmt;

use serde::{Deserialize, Serialize};

/// A property of an engine that some contracts need.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Capability {
    /// Two transactions may write different rows at the same time.
    ConcurrentWriters,
    /// `FOR UPDATE NOWAIT` refuses at once what another transaction has locked.
    NoWait,
    /// `UPDATE … RETURNING` hands back the rows it changed.
    Returning,
    /// A commit may fail because of what concurrent transactions read or wrote.
    Serializable,
    /// A session has a time zone of its own, in which local times are read and written.
    SessionTimeZone,
    /// `FOR UPDATE SKIP LOCKED` passes over what another transaction has locked.
    SkipLocked,
    /// The engine's clock tells instants apart that lie within one second.
    SubSecondInstants,
    /// One session may end another one's connection.
    Terminate,
    /// A table that was created in a transaction is gone when the transaction is rolled back.
    TransactionalDdl,
    /// A locking read keeps no lock on rows that it has passed over.
    UnlocksPassedRows,
    /// An observer can tell whether a session waits for a lock.
    WaitObservation,
}

impl Capability {
    /// Every capability, in report order.
    pub const ALL: [Self; 11] = [
        Self::ConcurrentWriters,
        Self::NoWait,
        Self::Returning,
        Self::Serializable,
        Self::SessionTimeZone,
        Self::SkipLocked,
        Self::SubSecondInstants,
        Self::Terminate,
        Self::TransactionalDdl,
        Self::UnlocksPassedRows,
        Self::WaitObservation,
    ];

    /// The stable name that reports use.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::ConcurrentWriters => "concurrent-writers",
            Self::NoWait => "nowait",
            Self::Returning => "returning",
            Self::Serializable => "serializable",
            Self::SessionTimeZone => "session-time-zone",
            Self::SkipLocked => "skip-locked",
            Self::SubSecondInstants => "sub-second-instants",
            Self::Terminate => "terminate",
            Self::TransactionalDdl => "transactional-ddl",
            Self::UnlocksPassedRows => "unlocks-passed-rows",
            Self::WaitObservation => "wait-observation",
        }
    }
}

impl fmt::Display for Capability {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.as_str())
    }
}

/// Something that a store lets its callers do or see, beyond enqueue, claim and ack.
///
/// An engine has capabilities, and so has what a team built on it: two stores on one engine may differ in
/// all of these and both be right. A contract that needs one says so, and is unsupported without it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum StoreCapability {
    /// It counts how often an event was claimed, and gives it up after a maximum.
    AttemptCount,
    /// It says what is waiting, held and overdue.
    Backlog,
    /// The token of an acquisition is the caller's own choice, and is kept byte for byte.
    CallerTokens,
    /// Callers put several operations into one transaction.
    CallerTransactions,
    /// Two sessions work at the same time.
    ConcurrentSessions,
    /// An owner can ask whether it still is one.
    Confirm,
    /// A foreign key leads from a consumer's row to the event.
    EffectReferences,
    /// Every instant of 64 bits of microseconds can be stored.
    EveryInstant,
    /// The token that acked an event learns so when it acks it again.
    IdempotentAck,
    /// Instants are exact to the microsecond.
    MicrosecondInstants,
    /// An owner can give an event back before its deadline.
    Release,
}

impl StoreCapability {
    /// Every capability of a store, in report order.
    pub const ALL: [Self; 11] = [
        Self::AttemptCount,
        Self::Backlog,
        Self::CallerTokens,
        Self::CallerTransactions,
        Self::ConcurrentSessions,
        Self::Confirm,
        Self::EffectReferences,
        Self::EveryInstant,
        Self::IdempotentAck,
        Self::MicrosecondInstants,
        Self::Release,
    ];

    /// The stable name that reports use.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::AttemptCount => "attempt-count",
            Self::Backlog => "backlog",
            Self::CallerTokens => "caller-tokens",
            Self::CallerTransactions => "caller-transactions",
            Self::ConcurrentSessions => "concurrent-sessions",
            Self::Confirm => "confirm",
            Self::EffectReferences => "effect-references",
            Self::EveryInstant => "every-instant",
            Self::IdempotentAck => "idempotent-ack",
            Self::MicrosecondInstants => "microsecond-instants",
            Self::Release => "release",
        }
    }
}

impl fmt::Display for StoreCapability {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.as_str())
    }
}
