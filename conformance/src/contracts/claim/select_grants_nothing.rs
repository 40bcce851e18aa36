//! Reading an event's id grants nothing: of two workers that read it, only the one whose update took
//! effect may publish.
//!
//! # Promise
//! A worker that has read an event as free owns nothing yet. Two workers may read the same id before
//! either writes; still one of them wins, by the guards of the statement that writes. The other sees
//! zero rows and publishes nothing. A claim of a batch returns the events whose updates took effect,
//! not those it had read.
//!
//! # Steps
//! 1. A and B read the candidates; both see the event. A claims, B claims: one wins. B can neither
//!    renew nor ack nor release by the token it tried.
//! 2. The same inside two transactions, which both read first and then claim at once.
//! 3. A gatekeeper locks the row. A and B claim a batch: both have read the id and are seen waiting to
//!    write. The gatekeeper rolls back: one of them is given the event, the other one nothing.
//!
//! Whoever is told that it owns an event publishes it. Each event must end up published once.
//!
//! # How a violation looks
//! An event is published twice, since both workers took what they had read for what they owned.
//!
//! # Source
//! The race example: a preceding `SELECT` does not grant ownership. Locking reads that an adapter drops
//! where the engine lacks them: `xorbitsai/xagent#1944`, `go-gorm/sqlite#20`.

use futures::future::join;
use leaseproof_engines::EngineError;
use leaseproof_engines::capability::StoreCapability;
use leaseproof_engines::lease::{
    Acked, ClaimBatch, Claimed, EventId, FencingToken, Released, Renewed, Strategy,
};
use leaseproof_reports::Level;

use crate::contract::{Clocks, Contract, Scope};
use crate::harness::actor::Actor;
use crate::harness::context::Context;
use crate::harness::finding::{Finding, Judged, check, check_eq};
use crate::harness::latch::{Arrival, Attempt, released};
use crate::harness::standing::{Standing, check_attempts, check_standing};

mod controls;

/// See the module's documentation.
pub static CONTRACT: Contract = Contract {
    id: "claim/select-grants-nothing",
    promise: "of two workers that both read an event's id before either writes, exactly one owns it",
    level: Level::Core,
    requires: &[],
    offers: &[StoreCapability::CallerTransactions, StoreCapability::ConcurrentSessions],
    scope: Scope::Once,
    clocks: Clocks::Any,
    source: "the race example; xorbitsai/xagent#1944, go-gorm/sqlite#20",
    controls: controls::CONTROLS,
    doc: include_str!("select_grants_nothing.rs"),
    run: |context| Box::pin(run(context)),
};

/// Where an event is published.
const BROKER: &str = "broker";

async fn run(context: &Context) -> Judged {
    let mut a = context.actor("A").await?;
    let mut b = context.actor("B").await?;
    let mut gatekeeper = context.actor("gatekeeper").await?;
    one_after_the_other(context, &mut a, &mut b).await?;
    let refused_by = in_two_units(context, &mut a, &mut b).await?;
    for round in 1..=3 {
        behind_a_gate(context, &mut gatekeeper, &mut a, &mut b, round).await?;
    }
    Ok(vec![
        "5 events were read by two workers and published once each; in 3 races both had read and were seen waiting to write".to_owned(),
        format!("of two transactions that had read, the one that lost was told so by {refused_by}"),
    ])
}

async fn one_after_the_other(
    context: &Context,
    a: &mut Actor,
    b: &mut Actor,
) -> Result<(), Finding> {
    let event = context.enqueued(a, "EVENT-1").await?;
    let at = |step| context.at(step);
    both_read(context, a, b, &event).await?;
    let (token_a, token_b) = (context.token("A"), context.token("B"));
    let won = a.claim(&event, &token_a, at(100), at(150)).await?;
    check_eq("A claims first", won, Claimed::Claimed)?;
    publish(a, &event).await?;
    let lost = b.claim(&event, &token_b, at(100), at(150)).await?;
    if lost == Claimed::Claimed {
        publish(b, &event).await?;
    }
    published_once(context, a, &event, &token_a).await?;

    let renewed = b.renew(&event, &token_b, at(110), at(190)).await?;
    check_eq("B renews what it has only read", renewed, Renewed::Refused)?;
    let acked = b.ack(&event, &token_b, at(110)).await?;
    check_eq("B acks what it has only read", acked, Acked::Refused)?;
    if b.has(StoreCapability::Release) {
        let released = b.release(&event, &token_b).await?;
        check_eq("B releases what it has only read", released, Released::Refused)?;
    }
    published_once(context, a, &event, &token_a).await?;
    check_eq("A acks", a.ack(&event, &token_a, at(120)).await?, Acked::Acked)
}

/// Two transactions that have both read claim at once; returns in words what the loser saw.
async fn in_two_units(context: &Context, a: &mut Actor, b: &mut Actor) -> Result<String, Finding> {
    let event = context.enqueued(a, "EVENT-2").await?;
    a.begin_snapshot().await?;
    b.begin_snapshot().await?;
    both_read(context, a, b, &event).await?;
    let (token_a, token_b) = (context.token("A"), context.token("B"));
    let claims = join(
        claim_and_end(context, a, &event, &token_a),
        claim_and_end(context, b, &event, &token_b),
    );
    let (for_a, for_b) = claims.await;
    let (winner, token, loser) = match (won(&for_a), won(&for_b)) {
        (Ok(true), Ok(false)) => (a, token_a, for_b),
        (Ok(false), Ok(true)) => (b, token_b, for_a),
        (Err(error), _) | (_, Err(error)) => return Err(error),
        (Ok(for_a), Ok(_)) => {
            let told = if for_a { "both were" } else { "neither was" };
            let seen = format!(
                "the transactions of A and B had both read {event} and claimed it, and {told} told to own it"
            );
            return Err(Finding::Broken(seen));
        }
    };
    context.loser_saw(&loser);
    publish(winner, &event).await?;
    published_once(context, winner, &event, &token).await?;
    let acked = winner.ack(&event, &token, context.at(120)).await?;
    check_eq("the winner acks", acked, Acked::Acked)?;
    Ok(match loser {
        Ok(_) => "zero rows".to_owned(),
        Err(error) => format!("a retryable error ({})", error.code.unwrap_or_default()),
    })
}

/// Claims in the open transaction and ends it.
async fn claim_and_end(
    context: &Context,
    actor: &mut Actor,
    event: &EventId,
    token: &FencingToken,
) -> Result<Claimed, EngineError> {
    let claimed = actor.claim(event, token, context.at(100), context.at(150)).await;
    match claimed {
        Ok(claimed) => actor.commit().await.map(|()| claimed),
        Err(error) => {
            actor.rollback().await?;
            Err(error)
        }
    }
}

/// Whether a claim was won; a retryable error is a loser's right.
fn won(claimed: &Result<Claimed, EngineError>) -> Result<bool, Finding> {
    match claimed {
        Ok(claimed) => Ok(*claimed == Claimed::Claimed),
        Err(error) if error.is_retryable() => Ok(false),
        Err(error) => Err(Finding::Errored(error.clone())),
    }
}

/// Two batches that have read the same id are held back right before they write.
async fn behind_a_gate(
    context: &Context,
    gatekeeper: &mut Actor,
    a: &mut Actor,
    b: &mut Actor,
    round: usize,
) -> Result<(), Finding> {
    let event = context.enqueued(gatekeeper, &format!("EVENT-{}", 2 + round)).await?;
    let (batch_a, batch_b) = (read_then_update(context, "A"), read_then_update(context, "B"));
    let attempts = (
        Attempt { session: a.id(), waits: true, operation: a.claim_batch(&batch_a) },
        Attempt { session: b.id(), waits: true, operation: b.claim_batch(&batch_b) },
    );
    let raced = released(context, gatekeeper, &event, Arrival::AsGiven, attempts);
    let ((for_a, for_b), proof) = raced.await?;
    let mut winners = Vec::new();
    for given in [&for_a, &for_b] {
        if !matches!(given, Ok(events) if events.contains(&event)) {
            context.loser_saw(given);
        }
    }
    let mut failed = None;
    for (actor, batch, given) in [(a, batch_a, for_a), (b, batch_b, for_b)] {
        match given_one(given, &event) {
            Ok(true) => {
                publish(actor, &event).await?;
                winners.push((actor, batch.token));
            }
            Ok(false) => {}
            Err(error) => failed = Some(error),
        }
    }
    let told =
        |count| format!("the batches of A and B had both read {event}, and {count} were given it");
    check(winners.len() < 2, || told(2))?;
    failed.map_or(Ok(()), Err)?;
    check(winners.len() == 1, || told(winners.len()))?;
    let (winner, token) = &mut winners[0];
    published_once(context, gatekeeper, &event, token).await?;
    let acked = winner.ack(&event, token, context.at(120)).await?;
    check_eq("the winner acks", acked, Acked::Acked)?;
    proof.demand()
}

fn read_then_update(context: &Context, actor: &str) -> ClaimBatch {
    let batch = context.batch(actor, 1, context.at(100), context.at(150));
    ClaimBatch { strategy: Strategy::ConditionalUpdate, ..batch }
}

/// Whether a batch consists of the event; a retryable error is a loser's right.
fn given_one(given: Result<Vec<EventId>, EngineError>, event: &EventId) -> Result<bool, Finding> {
    match given {
        Ok(events) => Ok(events.contains(event)),
        Err(error) if error.is_retryable() => Ok(false),
        Err(error) => Err(Finding::Errored(error)),
    }
}

async fn both_read(
    context: &Context,
    a: &mut Actor,
    b: &mut Actor,
    event: &EventId,
) -> Result<(), Finding> {
    for actor in [a, b] {
        let read = actor.candidates(10, context.at(100)).await?;
        let step = format!("{} reads the candidates", actor.name());
        check_eq(&step, read, vec![event.clone()])?;
    }
    Ok(())
}

async fn publish(actor: &mut Actor, event: &EventId) -> Result<(), Finding> {
    Ok(actor.apply_effect(BROKER, event).await?)
}

/// The event was published once, and is held by the token of the worker that did.
async fn published_once(
    context: &Context,
    reader: &mut Actor,
    event: &EventId,
    token: &FencingToken,
) -> Result<(), Finding> {
    let published = reader.effects(BROKER, event).await?;
    check(published == 1, || {
        format!("two workers had read {event}, and it was published {published} times")
    })?;
    let step = format!("{event} was published with `{token}`");
    check_standing(&step, reader, event, &Standing::held(token, context.at(150))).await?;
    check_attempts(&step, reader, event, 1).await
}
