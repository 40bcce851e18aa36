//! How an event stands, told by what workers can observe: who may claim it, and whose token counts.
//!
//! How a store writes that down is its own affair. One may keep the row of an event that was acked,
//! delete it, or move it; one may keep a released token or clear it. So a step is judged by attempts
//! that are rolled back: they show what a worker would be told, and leave the event as it was. Where
//! callers have no transactions, only what should be refused is tried; the candidates tell the rest.

use std::fmt;

use leaseproof_engines::EngineError;
use leaseproof_engines::capability::StoreCapability;
use leaseproof_engines::lease::{
    Acked, Claimed, Confirmed, EventId, FencingToken, Instant, Released, Renewed,
};

use crate::harness::actor::{Actor, STEP_US};
use crate::harness::finding::{Finding, check};
use crate::harness::retries::Retries;

/// Later than the deadline of any lease that a contract asks for, in microseconds.
const LATER_US: i64 = 1_000_000 * STEP_US;

/// More than any contract enqueues.
const ALL: u32 = 1_000_000;

/// What a step promises to leave.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Standing {
    /// Not to be had at `now` by anybody new, for whatever reason: it never was there, or it is done.
    Unclaimable {
        /// When nobody can claim it.
        now: Instant,
    },
    /// Not acked, and anybody's at `now`.
    Free {
        /// From when on it can be claimed.
        now: Instant,
    },
    /// Not acked, and claimed with this token until this deadline, be it over or not.
    Held {
        /// Whose it is.
        token: FencingToken,
        /// From when on others can claim it.
        until: Instant,
    },
    /// Acked with this token, whose deadline was this one; nobody's ever again.
    Done {
        /// Whose ack it was.
        token: FencingToken,
        /// Until when it was held.
        until: Instant,
    },
    /// Given up after its last claim, which was made with this token; nobody's ever again.
    GivenUp {
        /// Whose claim was the last.
        token: FencingToken,
        /// Until when it was held.
        until: Instant,
    },
}

impl Standing {
    /// Not acked, and claimed with this token until this deadline, be it over or not.
    #[must_use]
    pub fn held(token: &FencingToken, until: Instant) -> Self {
        Self::Held { token: token.clone(), until }
    }

    /// Acked with this token, whose deadline was this one.
    #[must_use]
    pub fn done(token: &FencingToken, until: Instant) -> Self {
        Self::Done { token: token.clone(), until }
    }

    /// Given up after its last claim, which was made with this token until this deadline.
    #[must_use]
    pub fn given_up(token: &FencingToken, until: Instant) -> Self {
        Self::GivenUp { token: token.clone(), until }
    }

    /// Not acked, and claimable by anybody from this instant on.
    #[must_use]
    pub fn free(now: Instant) -> Self {
        Self::Free { now }
    }

    /// Not to be had at this instant by anybody new.
    #[must_use]
    pub fn unclaimable(now: Instant) -> Self {
        Self::Unclaimable { now }
    }
}

/// Goes on when the event stands as the step promised to leave it.
///
/// `probe` is any actor without an open transaction; no other session may hold the event.
///
/// # Errors
/// [`Finding::Broken`] that names the step, what was tried, what was promised and what came back;
/// the engine's.
pub async fn check_standing(
    step: &str,
    probe: &mut Actor,
    event: &EventId,
    promised: &Standing,
) -> Result<(), Finding> {
    let mut probed = Probed { step, probe, event };
    match promised {
        Standing::Unclaimable { now } => probed.claimable(*now, false).await,
        Standing::Free { now } => probed.claimable(*now, true).await,
        Standing::Held { token, until } => probed.held(token, *until).await,
        Standing::Done { token, until } => {
            probed.is_over("acked", token, *until).await?;
            probed.knows_its_ack(token, *until).await
        }
        Standing::GivenUp { token, until } => {
            probed.is_over("claimed for the last time", token, *until).await?;
            let late = Attempt::Ack(token.clone(), probed.probe.just_before(*until));
            probed.is_told("given up", &late, Told::Acked(Acked::Refused)).await
        }
    }
}

/// Goes on when an operation was refused and has left the event as it stood.
///
/// # Errors
/// [`Finding::Broken`] that names the step and what came back or changed; the operation's own.
pub async fn check_refused<T: std::fmt::Debug + PartialEq>(
    step: &str,
    probe: &mut Actor,
    event: &EventId,
    before: &Standing,
    answer: Result<T, EngineError>,
    refusal: T,
) -> Result<(), Finding> {
    let answer = answer?;
    check(answer == refusal, || format!("{step}: {answer:?} where {refusal:?} was promised"))?;
    check_standing(&format!("{step}: refused, and then"), probe, event, before).await
}

/// Goes on when the event was claimed this often, or when the store does not count.
///
/// # Errors
/// [`Finding::Broken`] that names the step and both counts; the engine's.
pub async fn check_attempts(
    step: &str,
    reader: &mut Actor,
    event: &EventId,
    promised: i64,
) -> Result<(), Finding> {
    if !reader.has(StoreCapability::AttemptCount) {
        return Ok(());
    }
    let seen = reader.event(event).await?.map(|row| row.attempt);
    check(seen == Some(promised), || {
        let seen = seen.map_or("nothing".to_owned(), |count| format!("{count} attempts"));
        format!("{step}: the store shows {seen} of {event} where {promised} were promised")
    })
}

/// One event that stands as a step left it, and who tries it.
struct Probed<'step> {
    step: &'step str,
    probe: &'step mut Actor,
    event: &'step EventId,
}

impl Probed<'_> {
    /// Others are kept out before the deadline and let in at it, and the owner's token counts until then.
    async fn held(&mut self, token: &FencingToken, until: Instant) -> Result<(), Finding> {
        let before = self.probe.just_before(until);
        self.counts(token, before, until).await?;
        self.claimable(before, false).await?;
        self.claimable(until, true).await
    }

    /// The token is the owner's right before the deadline, and at the deadline it is nobody's.
    async fn counts(
        &mut self,
        token: &FencingToken,
        before: Instant,
        until: Instant,
    ) -> Result<(), Finding> {
        let Self { step, event, .. } = *self;
        let told = |now, told: &dyn std::fmt::Debug| {
            format!(
                "{step}: at {now} the store says {told:?} of `{token}`, whose lease of {event} was to last \
                 until {until}"
            )
        };
        if self.probe.has(StoreCapability::Confirm) {
            for (now, promised) in [(before, Confirmed::Confirmed), (until, Confirmed::Refused)] {
                let answer = self.probe.confirm(event, token, now).await?;
                check(answer == promised, || told(now, &answer))?;
            }
        } else if self.probe.has(StoreCapability::CallerTransactions) {
            for (now, promised) in [(before, Acked::Acked), (until, Acked::Refused)] {
                let answer = self.undone(&Attempt::Ack(token.clone(), now)).await?;
                check(answer == Told::Acked(promised), || told(now, &answer))?;
            }
        }
        Ok(())
    }

    /// Nobody can claim it at any later time, and its last owner can do nothing about it any more.
    async fn is_over(
        &mut self,
        how: &str,
        token: &FencingToken,
        until: Instant,
    ) -> Result<(), Finding> {
        let before = self.probe.just_before(until);
        let later = Instant(until.0.saturating_add(LATER_US).min(i64::MAX - STEP_US));
        let stranger = self.probe.probing_token();
        self.claimable(later, false).await?;
        let how = format!("{how} by `{token}`");
        let renew = Attempt::Renew(token.clone(), before, later);
        self.is_told(&how, &renew, Told::Renewed(Renewed::Refused)).await?;
        let ack = Attempt::Ack(stranger, before);
        self.is_told(&how, &ack, Told::Acked(Acked::Refused)).await?;
        if self.probe.has(StoreCapability::Release) {
            let release = Attempt::Release(token.clone());
            self.is_told(&how, &release, Told::Released(Released::Refused)).await?;
        }
        Ok(())
    }

    /// The token that acked learns so.
    async fn knows_its_ack(&mut self, token: &FencingToken, until: Instant) -> Result<(), Finding> {
        if !self.probe.has(StoreCapability::IdempotentAck) {
            return Ok(());
        }
        let again = Attempt::Ack(token.clone(), self.probe.just_before(until));
        let how = format!("acked by `{token}`");
        self.is_told(&how, &again, Told::Acked(Acked::AlreadyAcked)).await
    }

    /// What an attempt is told that changes nothing if the promise holds.
    async fn is_told(
        &mut self,
        how: &str,
        attempt: &Attempt,
        promised: Told,
    ) -> Result<(), Finding> {
        let told = self.tried(attempt).await?;
        let Self { step, event, .. } = self;
        check(told == promised, || {
            format!(
                "{step}: {event} was {how}; then {attempt} is told {told:?} where {promised:?} was promised"
            )
        })
    }

    /// Whether somebody new could claim the event at that instant.
    async fn claimable(&mut self, now: Instant, promised: bool) -> Result<(), Finding> {
        // A lease has to end after it begins, and there is nothing after the last instant.
        if now.0 == i64::MAX {
            return Ok(());
        }
        let until = Instant(now.0.saturating_add(STEP_US));
        let can = if promised && !self.probe.has(StoreCapability::CallerTransactions) {
            self.probe.candidates(ALL, now).await?.contains(self.event)
        } else {
            let attempt = Attempt::Claim(self.probe.probing_token(), now, until);
            self.tried(&attempt).await? == Told::Claimed(Claimed::Claimed)
        };
        let Self { step, event, .. } = self;
        check(can == promised, || {
            let words = |can: bool| if can { "can" } else { "cannot" };
            format!(
                "{step}: at {now} a new worker {} claim {event}, where it was promised that it {}",
                words(can),
                words(promised)
            )
        })
    }

    /// What an attempt is told, which is rolled back where callers can do that.
    async fn tried(&mut self, attempt: &Attempt) -> Result<Told, EngineError> {
        match self.probe.has(StoreCapability::CallerTransactions) {
            true => self.undone(attempt).await,
            false => self.told(attempt).await,
        }
    }

    /// What an attempt is told in a transaction that is rolled back, run again as the engine asks.
    async fn undone(&mut self, attempt: &Attempt) -> Result<Told, EngineError> {
        let mut retries = Retries::default();
        loop {
            self.probe.begin().await?;
            let told = self.told(attempt).await;
            let undone = self.probe.rollback().await;
            if !retries.rerun(&told) {
                let told = told?;
                return undone.map(|()| told);
            }
        }
    }

    async fn told(&mut self, attempt: &Attempt) -> Result<Told, EngineError> {
        let Self { probe, event, .. } = self;
        Ok(match attempt {
            Attempt::Claim(token, now, until) => {
                Told::Claimed(probe.claim(event, token, *now, *until).await?)
            }
            Attempt::Renew(token, now, until) => {
                Told::Renewed(probe.renew(event, token, *now, *until).await?)
            }
            Attempt::Ack(token, now) => Told::Acked(probe.ack(event, token, *now).await?),
            Attempt::Release(token) => Told::Released(probe.release(event, token).await?),
        })
    }
}

/// What is tried on an event.
enum Attempt {
    Claim(FencingToken, Instant, Instant),
    Renew(FencingToken, Instant, Instant),
    Ack(FencingToken, Instant),
    Release(FencingToken),
}

impl fmt::Display for Attempt {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Claim(token, now, until) => {
                write!(formatter, "a claim with `{token}` at {now} until {until}")
            }
            Self::Renew(token, now, until) => {
                write!(formatter, "a renewal by `{token}` at {now} to {until}")
            }
            Self::Ack(token, now) => write!(formatter, "an ack by `{token}` at {now}"),
            Self::Release(token) => write!(formatter, "a release by `{token}`"),
        }
    }
}

/// What an attempt is told.
#[derive(PartialEq, Eq)]
enum Told {
    Claimed(Claimed),
    Renewed(Renewed),
    Acked(Acked),
    Released(Released),
}

impl fmt::Debug for Told {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Claimed(told) => told.fmt(formatter),
            Self::Renewed(told) => told.fmt(formatter),
            Self::Acked(told) => told.fmt(formatter),
            Self::Released(told) => told.fmt(formatter),
        }
    }
}
