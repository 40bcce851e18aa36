//! What may be invoked, and what may come back.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// An operation with its arguments. Instants and deadlines are microseconds on the case's own clock.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Call {
    /// Begins a transaction.
    Begin {
        /// Whether it reads first and fixes its snapshot by that.
        reads_first: bool,
    },
    /// Commits the transaction.
    Commit,
    /// Undoes the transaction.
    Rollback,
    /// Inserts events.
    Enqueue {
        /// Their ids.
        events: Vec<String>,
    },
    /// Reads what could be claimed.
    Candidates {
        /// The most that are wanted.
        limit: u32,
        /// The caller's instant.
        now: i64,
    },
    /// Claims one event.
    Claim {
        /// Which one.
        event: String,
        /// The token of the acquisition.
        token: String,
        /// The caller's instant.
        now: i64,
        /// The deadline wanted.
        until: i64,
    },
    /// Claims a batch.
    ClaimBatch {
        /// The most that are wanted.
        limit: u32,
        /// The token of the acquisition.
        token: String,
        /// The caller's instant.
        now: i64,
        /// The deadline wanted.
        until: i64,
        /// How the rows are taken.
        strategy: String,
    },
    /// Moves a deadline to a later one.
    Renew {
        /// Of which event.
        event: String,
        /// By whose token.
        token: String,
        /// The caller's instant.
        now: i64,
        /// The deadline wanted.
        until: i64,
    },
    /// Asks whether an event is still owned.
    Confirm {
        /// Which event.
        event: String,
        /// By whose token.
        token: String,
        /// The caller's instant.
        now: i64,
    },
    /// Marks an event as done.
    Ack {
        /// Which event.
        event: String,
        /// By whose token.
        token: String,
        /// The caller's instant.
        now: i64,
    },
    /// Gives an event back.
    Release {
        /// Which event.
        event: String,
        /// By whose token.
        token: String,
    },
    /// Gives up what was claimed as often as the store allows.
    DeadLetter {
        /// The most that are wanted.
        limit: u32,
        /// The caller's instant.
        now: i64,
    },
    /// Locks an event's row.
    Lock {
        /// Which event.
        event: String,
        /// Whether it waits for whoever has it locked.
        waits: bool,
    },
    /// Reserves an event in a consumer's ledger.
    Reserve {
        /// The consumer.
        consumer: String,
        /// The event.
        event: String,
    },
    /// Applies a consumer's effect once more.
    ApplyEffect {
        /// The consumer.
        consumer: String,
        /// The event.
        event: String,
    },
    /// Reads an event as it is stored.
    Inspect {
        /// Which event.
        event: String,
    },
    /// Counts a consumer's effects.
    Effects {
        /// The consumer.
        consumer: String,
        /// The event.
        event: String,
    },
    /// Reads the backlog.
    Backlog {
        /// The caller's instant.
        now: i64,
    },
}

impl Call {
    /// Whether it is a claim that may take this event: of it by id, or of a batch.
    #[must_use]
    pub fn may_claim(&self, wanted: &str) -> bool {
        match self {
            Self::Claim { event, .. } => event == wanted,
            Self::ClaimBatch { .. } => true,
            _ => false,
        }
    }

    /// Whether it is a claim of any kind.
    #[must_use]
    pub fn is_claim(&self) -> bool {
        matches!(self, Self::Claim { .. } | Self::ClaimBatch { .. })
    }

    /// Whether it only reads: without an answer, it has still changed nothing.
    #[must_use]
    pub fn only_reads(&self) -> bool {
        matches!(
            self,
            Self::Candidates { .. }
                | Self::Inspect { .. }
                | Self::Effects { .. }
                | Self::Backlog { .. }
                | Self::Lock { .. }
                | Self::Begin { .. }
        )
    }
}

/// What an operation returned.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Answer {
    /// It was done; there is nothing more to say.
    Done,
    /// It took effect or was refused, with what is known beside that.
    Settled {
        /// Which of the two.
        settled: Settled,
    },
    /// Some events.
    Events {
        /// Their ids, in the order in which they came.
        events: Vec<String>,
    },
    /// A number.
    Count {
        /// The number.
        count: i64,
    },
    /// An event as it is stored; absent where there is none.
    Held {
        /// The event.
        held: Option<Held>,
    },
    /// A backlog.
    Backlog {
        /// Events that could be claimed.
        claimable: i64,
        /// Events with a live lease.
        active: i64,
        /// Events whose lease has expired.
        expired: i64,
        /// Microseconds since the oldest of them was enqueued.
        age_us: i64,
    },
    /// An error.
    Error {
        /// What the caller may do about it.
        class: ErrorClass,
        /// The engine's own code.
        code: Option<String>,
        /// The engine's own words.
        message: String,
    },
    /// Nothing: it was given up while it waited.
    GivenUp,
}

/// Whether something took effect.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Settled {
    /// It did.
    Took,
    /// It had before, by the same token.
    Already,
    /// It did not.
    Refused,
}

/// An event as it is stored.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Held {
    /// Its state.
    pub state: String,
    /// The token in its row.
    pub token: Option<String>,
    /// The deadline in its row.
    pub until: Option<i64>,
    /// When it may be claimed.
    pub due: i64,
    /// How often it was claimed.
    pub attempt: i64,
}

/// What the caller may do about an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum ErrorClass {
    /// Run the whole transaction again.
    Retryable,
    /// Conclude nothing: the server refuses writes on this connection.
    Fenced,
    /// Connect again: the server or the connection cannot be reached.
    Unavailable,
    /// Nothing: repeating it cannot help.
    Fatal,
}

impl ErrorClass {
    /// The stable word that reports use.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Retryable => "retryable",
            Self::Fenced => "fenced",
            Self::Unavailable => "unavailable",
            Self::Fatal => "fatal",
        }
    }
}
