//! The engines' words as the history writes them.

use leaseproof_engines::lease::{
    Acked, Backlog, Claim, ClaimBatch, Claimed, Confirmed, EventId, EventRow, EventState,
    FencingToken, Released, Renewed, Reserved,
};
use leaseproof_engines::{EngineError, ErrorKind};
use leaseproof_reports::history::{Answer, Call, Ending, ErrorClass, Held, Settled};

/// What an operation returned, as data.
pub trait Told {
    /// The answer that the history holds.
    fn answer(&self) -> Answer;

    /// How this call with this answer ended. A claim that got nothing was refused; a read was not.
    fn ending(&self, call: &Call) -> Ending {
        match self.answer() {
            Answer::Settled { settled: Settled::Refused } => Ending::Refused,
            Answer::Events { events } if call.is_claim() && events.is_empty() => Ending::Refused,
            _ => Ending::Ok,
        }
    }
}

impl Told for () {
    fn answer(&self) -> Answer {
        Answer::Done
    }
}

impl Told for u64 {
    fn answer(&self) -> Answer {
        Answer::Count { count: i64::try_from(*self).unwrap_or(i64::MAX) }
    }
}

impl Told for i64 {
    fn answer(&self) -> Answer {
        Answer::Count { count: *self }
    }
}

impl Told for Vec<EventId> {
    fn answer(&self) -> Answer {
        Answer::Events { events: self.iter().map(event).collect() }
    }
}

impl Told for Option<EventRow> {
    fn answer(&self) -> Answer {
        Answer::Held { held: self.as_ref().map(held) }
    }
}

impl Told for Backlog {
    fn answer(&self) -> Answer {
        let Self { claimable, active, expired, age_us } = *self;
        Answer::Backlog { claimable, active, expired, age_us }
    }
}

impl Told for Acked {
    fn answer(&self) -> Answer {
        Answer::Settled {
            settled: match self {
                Self::Acked => Settled::Took,
                Self::AlreadyAcked => Settled::Already,
                Self::Refused => Settled::Refused,
            },
        }
    }
}

/// An answer of two values: it took effect or was refused.
macro_rules! told {
    ($($kind:ident: $took:ident),+ $(,)?) => {
        $(impl Told for $kind {
            fn answer(&self) -> Answer {
                let settled = if *self == Self::$took { Settled::Took } else { Settled::Refused };
                Answer::Settled { settled }
            }
        })+
    };
}

told! {
    Claimed: Claimed,
    Confirmed: Confirmed,
    Released: Released,
    Renewed: Renewed,
    Reserved: Reserved,
}

/// An event's id, whole.
#[must_use]
pub fn event(event: &EventId) -> String {
    event.0.clone()
}

/// A token as text that tells any two tokens apart.
#[must_use]
pub fn token(token: &FencingToken) -> String {
    token.to_string()
}

fn held(row: &EventRow) -> Held {
    Held {
        state: match row.state {
            EventState::Pending => "PENDING",
            EventState::Done => "DONE",
            EventState::Dead => "DEAD",
        }
        .to_owned(),
        token: row.token.as_ref().map(token),
        until: row.until.map(|until| until.0),
        due: row.due.0,
        attempt: row.attempt,
    }
}

/// A claim of one event.
#[must_use]
pub fn claim(claim: &Claim) -> Call {
    Call::Claim {
        event: event(&claim.event),
        token: token(&claim.token),
        now: claim.now.0,
        until: claim.until.0,
    }
}

/// A claim of a batch.
#[must_use]
pub fn claim_batch(batch: &ClaimBatch) -> Call {
    Call::ClaimBatch {
        limit: batch.limit,
        token: token(&batch.token),
        now: batch.now.0,
        until: batch.until.0,
        strategy: batch.strategy.as_str().to_owned(),
    }
}

/// An error.
#[must_use]
pub fn error(error: &EngineError) -> Answer {
    Answer::Error {
        class: match error.kind {
            ErrorKind::Retryable => ErrorClass::Retryable,
            ErrorKind::Fenced => ErrorClass::Fenced,
            ErrorKind::Unavailable => ErrorClass::Unavailable,
            _ => ErrorClass::Fatal,
        },
        code: error.code.clone(),
        message: error.message.clone(),
    }
}
