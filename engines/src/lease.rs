//! The words of the lease protocol as types: events, tokens, instants and what an operation returns.

use std::fmt;
use std::time::Duration;

use serde::{Deserialize, Serialize};

/// The identity of an event, compared byte for byte.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct EventId(pub String);

impl fmt::Debug for EventId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{self}")
    }
}

impl EventId {
    /// An identity from any text.
    pub fn new(id: impl Into<String>) -> Self {
        Self(id.into())
    }
}

impl fmt::Display for EventId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}", self.0.escape_debug())
    }
}

/// A fencing token: new for every acquisition, compared byte for byte, at most 64 bytes.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct FencingToken(pub Vec<u8>);

impl fmt::Debug for FencingToken {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{self}")
    }
}

impl FencingToken {
    /// A token from text.
    pub fn new(token: impl Into<String>) -> Self {
        Self(token.into().into_bytes())
    }
}

impl fmt::Display for FencingToken {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}", self.0.escape_ascii())
    }
}

/// A point in time: microseconds since the Unix epoch, or since any origin a caller chooses.
///
/// It is shown in whole minutes and what is left in microseconds, as in `150min` or `150min-1µs`.
#[derive(Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Instant(pub i64);

impl fmt::Debug for Instant {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{self}")
    }
}

impl Instant {
    /// The instant `duration` later.
    ///
    /// # Panics
    /// If the sum does not fit 64 bits of microseconds (about 292,000 years).
    #[must_use]
    pub fn after(self, duration: Duration) -> Self {
        let micros =
            i64::try_from(duration.as_micros()).expect("a lease shorter than 292,000 years");
        Self(self.0 + micros)
    }
}

impl fmt::Display for Instant {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        const MINUTE: i64 = 60_000_000;
        // The nearest minute, so that an instant just before one is shown as just before it.
        let minutes = self.0.div_euclid(MINUTE) + i64::from(self.0.rem_euclid(MINUTE) > MINUTE / 2);
        let left = i128::from(self.0) - i128::from(minutes) * i128::from(MINUTE);
        match left {
            0 => write!(formatter, "{minutes}min"),
            left => write!(formatter, "{minutes}min{left:+}µs"),
        }
    }
}

/// Whose clock decides when a lease is over.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(rename_all = "lowercase")]
pub enum Clock {
    /// The caller's: every operation carries its own instant.
    #[default]
    Logical,
    /// The engine's own. The caller's instant is then only added to it, as an offset, so that a
    /// test can move on without waiting; a caller in production passes none.
    Database,
}

impl Clock {
    /// The stable name that reports use.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Logical => "logical",
            Self::Database => "database",
        }
    }
}

impl fmt::Display for Clock {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.as_str())
    }
}

/// The state of an event's row.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum EventState {
    /// Not acked yet; claimable when due and free.
    Pending,
    /// Acked; never claimed again.
    Done,
    /// Given up after too many attempts; never claimed again.
    Dead,
}

/// How a batch is claimed. A strategy that an engine lacks is unsupported, never replaced.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Strategy {
    /// Read candidates, then one guarded `UPDATE` each; works everywhere.
    ConditionalUpdate,
    /// Lock free rows past those others hold, then update them.
    SkipLocked,
    /// One `UPDATE … RETURNING` that picks, marks and returns.
    UpdateReturning,
}

impl Strategy {
    /// Every strategy, in report order.
    pub const ALL: [Self; 3] = [Self::ConditionalUpdate, Self::SkipLocked, Self::UpdateReturning];

    /// The stable name that reports and variants use.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::ConditionalUpdate => "conditional-update",
            Self::SkipLocked => "skip-locked",
            Self::UpdateReturning => "update-returning",
        }
    }
}

impl fmt::Display for Strategy {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.as_str())
    }
}

/// An event to be enqueued.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NewEvent {
    /// Its identity.
    pub event: EventId,
    /// When it may first be claimed.
    pub due: Instant,
    /// When it was enqueued, from which backlog age is counted.
    pub enqueued: Instant,
}

/// A claim of one event.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Claim {
    /// The event wanted.
    pub event: EventId,
    /// The token of this acquisition.
    pub token: FencingToken,
    /// The caller's instant.
    pub now: Instant,
    /// The deadline wanted.
    pub until: Instant,
}

/// A claim of up to `limit` events.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClaimBatch {
    /// The most rows to take.
    pub limit: u32,
    /// The token of this acquisition, shared by the batch.
    pub token: FencingToken,
    /// The caller's instant.
    pub now: Instant,
    /// The deadline wanted.
    pub until: Instant,
    /// How the rows are taken.
    pub strategy: Strategy,
}

/// What a claim of one event returned.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Claimed {
    /// The caller owns the event until its deadline.
    Claimed,
    /// Somebody else does, or the event is not claimable.
    NotClaimed,
}

/// What a renewal returned.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Renewed {
    /// The deadline moved to the one asked for.
    Renewed,
    /// Nothing changed: stale token, expired lease, or not a later deadline.
    Refused,
}

/// What a confirmation returned.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Confirmed {
    /// The caller still owns the event, and its lease is live.
    Confirmed,
    /// It does not: stale token, expired lease, or an event that is done.
    Refused,
}

/// What an ack returned.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Acked {
    /// The event is done.
    Acked,
    /// This token had acked it before.
    AlreadyAcked,
    /// Nothing changed: stale token or expired lease.
    Refused,
}

/// What a release returned.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Released {
    /// The event is claimable at once.
    Released,
    /// Nothing changed: stale token.
    Refused,
}

/// What a reservation in the consumer's ledger returned.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Reserved {
    /// The event is new to this consumer.
    Reserved,
    /// The consumer has seen the event.
    Duplicate,
}

/// An event's row as it is stored.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct EventRow {
    /// Its identity.
    pub event: EventId,
    /// Its state.
    pub state: EventState,
    /// The token of the last acquisition, if it was not released.
    pub token: Option<FencingToken>,
    /// The deadline of the last acquisition, if it was not released.
    pub until: Option<Instant>,
    /// When it may be claimed.
    pub due: Instant,
    /// How often it was claimed.
    pub attempt: i64,
}

/// What is waiting, held and overdue at an instant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Backlog {
    /// Events claimable at the instant, expired leases included.
    pub claimable: i64,
    /// Pending events whose lease is live.
    pub active: i64,
    /// Pending events whose lease is over.
    pub expired: i64,
    /// Microseconds since the oldest pending event was enqueued; 0 when nothing is pending.
    pub age_us: i64,
}
