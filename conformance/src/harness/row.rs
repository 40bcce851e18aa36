//! What a contract promises of a stored row, and the check that it is so.

use leaseproof_engines::EngineError;
use leaseproof_engines::lease::{EventId, EventRow, EventState, FencingToken, Instant};

use crate::harness::actor::Actor;
use crate::harness::finding::{Finding, check};

/// What a step leaves in the row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stored {
    state: EventState,
    token: Option<FencingToken>,
    until: Option<Instant>,
}

impl Stored {
    /// Not acked, and claimed with this token until this deadline, be it over or not.
    #[must_use]
    pub fn held(token: &FencingToken, until: Instant) -> Self {
        Self { state: EventState::Pending, token: Some(token.clone()), until: Some(until) }
    }

    /// Acked with this token, whose deadline was this one.
    #[must_use]
    pub fn done(token: &FencingToken, until: Instant) -> Self {
        Self { state: EventState::Done, ..Self::held(token, until) }
    }

    /// Not acked, and nobody's.
    #[must_use]
    pub fn free() -> Self {
        Self { state: EventState::Pending, token: None, until: None }
    }

    fn of(row: &EventRow) -> Self {
        Self { state: row.state, token: row.token.clone(), until: row.until }
    }

    fn describe(&self) -> String {
        let token =
            self.token.as_ref().map_or("no token".to_owned(), |token| format!("token `{token}`"));
        let until =
            self.until.map_or("no deadline".to_owned(), |until| format!("deadline {until}"));
        format!("{:?} with {token} and {until}", self.state)
    }
}

/// The row of an event that must be there.
///
/// # Errors
/// [`Finding::Broken`] when it is not; the engine's.
pub async fn row(reader: &mut Actor, event: &EventId) -> Result<EventRow, Finding> {
    let lost = || Finding::Broken(format!("the row of {event} is gone"));
    reader.event(event).await?.ok_or_else(lost)
}

/// Goes on when the row is what the step promised to leave.
///
/// # Errors
/// [`Finding::Broken`] that names the step, what was promised and what is stored.
pub async fn check_row(
    step: &str,
    reader: &mut Actor,
    event: &EventId,
    promised: &Stored,
) -> Result<(), Finding> {
    let seen = Stored::of(&row(reader, event).await?);
    check(seen == *promised, || {
        format!("{step}: the row is {} where {} was promised", seen.describe(), promised.describe())
    })
}

/// Goes on when an operation was refused and has left the row as it was, in every column.
///
/// # Errors
/// [`Finding::Broken`] that names the step and what came back or changed; the operation's own.
pub async fn check_refused<T: std::fmt::Debug + PartialEq>(
    step: &str,
    reader: &mut Actor,
    before: &EventRow,
    answer: Result<T, EngineError>,
    refusal: T,
) -> Result<(), Finding> {
    let answer = answer?;
    check(answer == refusal, || format!("{step}: {answer:?} where {refusal:?} was promised"))?;
    let after = row(reader, &before.event).await?;
    check(after == *before, || {
        let (before, after) = (Stored::of(before).describe(), Stored::of(&after).describe());
        format!("{step}: refused, but the row went from {before} to {after}")
    })
}
