//! Three open reservations of one event, of which the first ends: one of the others decides, never both.
//!
//! # Promise
//! While a reservation is open, another one of the same event waits: it is too early to say `Reserved` or
//! `Duplicate`. If the first is rolled back, exactly one of the waiting ones is `Reserved`; the other is a
//! `Duplicate`, or an error that says to run the whole transaction again, which then is a `Duplicate`. If the
//! first commits, all others are duplicates.
//!
//! # Steps
//! In each of several rounds:
//! 1. A begins, reserves the event and applies the effect.
//! 2. B and C begin, reserve, apply the effect if told `Reserved`, and commit. Both are seen waiting: for
//!    A's reservation, or to begin, where an engine has one writer.
//! 3. A rolls back, or loses its connection where the engine can end it, or (in the last round) commits.
//! 4. B and C return. The transactions that were told to retry run again.
//! 5. The effect is there once, and one more reservation is a `Duplicate`.
//!
//! # How a violation looks
//! Two are told `Reserved` and the effect is there twice, or nobody is and the event is lost, or an error
//! nobody can sort reaches the caller.
//!
//! # Source
//! <https://bugs.mysql.com/bug.php?id=98324>, <https://bugs.mysql.com/bug.php?id=116459>.

use leaseproof_engines::capability::StoreCapability;
use leaseproof_engines::lease::{EventId, Reserved};
use leaseproof_engines::{Capability, EngineError};
use leaseproof_reports::Level;

use crate::contract::{Clocks, Contract, Scope};
use crate::harness::actor::Actor;
use crate::harness::context::Context;
use crate::harness::finding::{Finding, Judged, check, check_eq};
use crate::harness::latch::{Crowd, Proof};
use crate::worker::CONSUMER;

mod controls;

/// See the module's documentation.
pub static CONTRACT: Contract = Contract {
    id: "replay/three-way-race",
    promise: "of three open reservations the first rolls back: one of the others holds it, the last is a duplicate or a classified retry",
    level: Level::Core,
    requires: &[],
    offers: &[StoreCapability::CallerTransactions, StoreCapability::ConcurrentSessions],
    scope: Scope::Once,
    clocks: Clocks::Any,
    source: "https://bugs.mysql.com/bug.php?id=98324, https://bugs.mysql.com/bug.php?id=116459",
    controls: controls::CONTROLS,
    doc: include_str!("three_way_race.rs"),
    run: |context| Box::pin(run(context)),
};

/// How the first reservation ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum First {
    RollsBack,
    LosesConnection,
    Commits,
}

/// What the other two saw, over all rounds.
#[derive(Debug, Default)]
struct Seen {
    reserved: usize,
    duplicate: usize,
    retries: usize,
}

async fn run(context: &Context) -> Judged {
    let mut rounds = vec![First::RollsBack; 4];
    if context.has(Capability::Terminate) {
        rounds.push(First::LosesConnection);
    }
    rounds.push(First::Commits);
    let mut others = [context.actor("B").await?, context.actor("C").await?];
    let mut seen = Seen::default();
    let mut a = context.actor("A").await?;
    for (round, first) in rounds.iter().enumerate() {
        let event = EventId::new(format!("contended-{round}"));
        race(context, &mut a, *first, &mut others, &event, &mut seen).await?;
        if *first == First::LosesConnection {
            a = context.actor("A").await?;
        }
    }
    Ok(vec![format!(
        "{} races, both others seen waiting in each: {} reserved, {} duplicates, {} transactions run again after a retryable error",
        rounds.len(),
        seen.reserved,
        seen.duplicate,
        seen.retries
    )])
}

async fn race(
    context: &Context,
    a: &mut Actor,
    first: First,
    others: &mut [Actor; 2],
    event: &EventId,
    seen: &mut Seen,
) -> Result<(), Finding> {
    a.begin().await?;
    check_eq("A reserves a new event", a.reserve(CONSUMER, event).await?, Reserved::Reserved)?;
    a.apply_effect(CONSUMER, event).await?;
    let (proof, attempts) = contend(context, a, first, others, event).await?;
    let told = answers(context, others, event, attempts, seen).await?;

    let winners = told.iter().filter(|answer| **answer == Reserved::Reserved).count();
    let promised = usize::from(first != First::Commits);
    check_eq(&format!("A {first:?}: how many of B and C were told Reserved"), winners, promised)?;
    let effects = others[0].effects(CONSUMER, event).await?;
    check_eq(&format!("A {first:?}: the effects of the event"), effects, 1)?;
    let last = others[0].reserve(CONSUMER, event).await?;
    check_eq(&format!("A {first:?}: one more reservation"), last, Reserved::Duplicate)?;
    check(!proof.returned_early(), || {
        format!("B or C was answered while A's reservation of {event} was open: {told:?}")
    })?;
    proof.demand()
}

/// B and C reserve while A's reservation is open, and A ends. The proof that both waited, and what they were
/// told.
async fn contend(
    context: &Context,
    a: &mut Actor,
    first: First,
    others: &mut [Actor; 2],
    event: &EventId,
) -> Result<(Proof, Vec<Result<Reserved, EngineError>>), Finding> {
    let attempts = others.iter_mut().map(|actor| (actor.id(), unit(actor, event))).collect();
    let mut crowd = Crowd::new(attempts);
    let proof = crowd.queue(context).await;
    match first {
        First::RollsBack => a.rollback().await?,
        First::LosesConnection => context.terminate(a.id()).await?,
        First::Commits => a.commit().await?,
    }
    Ok((proof, crowd.answers().await))
}

/// Reservation and effect in one transaction.
async fn unit(actor: &mut Actor, event: &EventId) -> Result<Reserved, EngineError> {
    let outcome = async {
        actor.begin().await?;
        let reserved = actor.reserve(CONSUMER, event).await?;
        if reserved == Reserved::Reserved {
            actor.apply_effect(CONSUMER, event).await?;
        }
        actor.commit().await?;
        Ok(reserved)
    };
    let outcome = outcome.await;
    if outcome.is_err() {
        // The first error says what happened; that of the rollback would only hide it.
        drop(actor.rollback().await);
    }
    outcome
}

/// What B and C were told in the end; a transaction that was to be run again is.
async fn answers(
    context: &Context,
    others: &mut [Actor; 2],
    event: &EventId,
    attempts: Vec<Result<Reserved, EngineError>>,
    seen: &mut Seen,
) -> Result<Vec<Reserved>, Finding> {
    let mut told = Vec::new();
    for (actor, attempt) in others.iter_mut().zip(attempts) {
        let answer = match attempt {
            Err(error) if error.is_retryable() => {
                seen.retries += 1;
                context.loser_saw::<()>(&Err(error));
                unit(actor, event).await?
            }
            attempt => attempt?,
        };
        match answer {
            Reserved::Reserved => seen.reserved += 1,
            Reserved::Duplicate => seen.duplicate += 1,
        }
        told.push(answer);
    }
    Ok(told)
}
