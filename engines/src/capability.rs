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
