//! How an event stands, told by what workers can observe: who may claim it, and whose token counts.
//!
//! How a store writes that down is its own affair. One may keep the row of an event that was acked,
//! delete it, or move it; one may keep a released token or clear it. So a step is judged by attempts
//! that are rolled back: they show what a worker would be told, and leave the event as it was.

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

/// What a step promises to leave.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Standing {
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

    /// Not acked, and claimable by anybody from this instant on.
    #[must_use]
    pub fn free(now: Instant) -> Self {
        Self::Free { now }
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
    match promised {
        Standing::Free { now } => claimable(step, probe, event, *now, true).await,
        Standing::Held { token, until } => held(step, probe, event, token, *until).await,
        Standing::Done { token, until } => done(step, probe, event, token, *until).await,
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

/// Others are kept out before the deadline and let in at it, and the owner's token counts until then.
async fn held(
    step: &str,
    probe: &mut Actor,
    event: &EventId,
    token: &FencingToken,
    until: Instant,
) -> Result<(), Finding> {
    let before = probe.just_before(until);
    if probe.has(StoreCapability::Confirm) {
        for (now, promised) in [(before, Confirmed::Confirmed), (until, Confirmed::Refused)] {
            let told = probe.confirm(event, token, now).await?;
            check(told == promised, || {
                format!(
                    "{step}: at {now} the store says {told:?} of `{token}`, whose lease of {event} was to \
                     last until {until}"
                )
            })?;
        }
    }
    claimable(step, probe, event, before, false).await?;
    claimable(step, probe, event, until, true).await
}

/// Nobody can claim it at any later time, the token that acked it learns so, and no other token does.
async fn done(
    step: &str,
    probe: &mut Actor,
    event: &EventId,
    token: &FencingToken,
    until: Instant,
) -> Result<(), Finding> {
    let before = probe.just_before(until);
    let later = Instant(until.0.saturating_add(LATER_US).min(i64::MAX - STEP_US));
    let stranger = probe.probing_token();
    claimable(step, probe, event, later, false).await?;
    let mut tried = vec![
        (Attempt::Renew(token.clone(), before, later), Told::Renewed(Renewed::Refused)),
        (Attempt::Ack(stranger, before), Told::Acked(Acked::Refused)),
    ];
    if probe.has(StoreCapability::IdempotentAck) {
        let again = Attempt::Ack(token.clone(), before);
        tried.push((again, Told::Acked(Acked::AlreadyAcked)));
    }
    if probe.has(StoreCapability::Release) {
        let release = Attempt::Release(token.clone());
        tried.push((release, Told::Released(Released::Refused)));
    }
    for (attempt, promised) in tried {
        let told = undone(probe, event, &attempt).await?;
        check(told == promised, || {
            format!(
                "{step}: {event} was acked by `{token}`; then {attempt:?} is told {told:?} where \
                 {promised:?} was promised"
            )
        })?;
    }
    Ok(())
}

/// Whether somebody new could claim the event at that instant.
async fn claimable(
    step: &str,
    probe: &mut Actor,
    event: &EventId,
    now: Instant,
    promised: bool,
) -> Result<(), Finding> {
    // A lease has to end after it begins, and there is nothing after the last instant.
    if now.0 == i64::MAX {
        return Ok(());
    }
    let until = Instant(now.0.saturating_add(STEP_US));
    let attempt = Attempt::Claim(probe.probing_token(), now, until);
    let told = undone(probe, event, &attempt).await?;
    check((told == Told::Claimed(Claimed::Claimed)) == promised, || {
        let words = |can: bool| if can { "can" } else { "cannot" };
        format!(
            "{step}: at {now} a new worker {} claim {event}, where it was promised that it {}",
            words(!promised),
            words(promised)
        )
    })
}

/// What is tried on an event and rolled back.
#[derive(Debug)]
enum Attempt {
    Claim(FencingToken, Instant, Instant),
    Renew(FencingToken, Instant, Instant),
    Ack(FencingToken, Instant),
    Release(FencingToken),
}

/// What an attempt is told.
#[derive(Debug, PartialEq, Eq)]
enum Told {
    Claimed(Claimed),
    Renewed(Renewed),
    Acked(Acked),
    Released(Released),
}

/// What an attempt is told in a transaction that is rolled back, run again as the engine asks.
async fn undone(
    probe: &mut Actor,
    event: &EventId,
    attempt: &Attempt,
) -> Result<Told, EngineError> {
    let mut retries = Retries::default();
    loop {
        probe.begin().await?;
        let told = told(probe, event, attempt).await;
        let undone = probe.rollback().await;
        if !retries.rerun(&told) {
            let told = told?;
            return undone.map(|()| told);
        }
    }
}

async fn told(probe: &mut Actor, event: &EventId, attempt: &Attempt) -> Result<Told, EngineError> {
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
