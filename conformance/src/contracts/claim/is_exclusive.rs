//! Of several connections that race for one free row exactly one wins.
//!
//! # Promise
//! N workers claim one free event at once, each with a token of its own. Exactly one is told that it
//! owns the event; the others see zero rows or a classified retryable error. The row holds the
//! winner's token. Exactly one: no winner breaks the contract as two do.
//!
//! # Steps
//! For N = 2, 4, 8 and 16:
//! 1. A gatekeeper locks the row and changes nothing.
//! 2. The N workers claim. Each is seen waiting, so that all N attempts are under way at once.
//! 3. The gatekeeper rolls back. All N return, within a bound.
//! 4. The winners are counted and the row is read.
//!
//! Then rounds without a gate follow, in which the workers start together and whoever is first wins.
//!
//! # How a violation looks
//! Two workers are told `Claimed` (both publish the event), nobody is (the event is stuck), or the row
//! holds the token of a worker that was told `NotClaimed`.
//!
//! # Source
//! The race example: two connections, one latch, one guarded update each.

use futures::future::join_all;
use leaseproof_engines::EngineError;
use leaseproof_engines::lease::{Claimed, EventId, FencingToken};
use leaseproof_engines::store::LockWait;
use leaseproof_reports::Level;
use leaseproof_reports::history::{Call, Operation};

use crate::contract::{Clocks, Contract, Scope};
use crate::harness::actor::Actor;
use crate::harness::context::{Context, Progress};
use crate::harness::finding::{Finding, Judged, check};

mod controls;

/// See the module's documentation.
pub static CONTRACT: Contract = Contract {
    id: "claim/is-exclusive",
    promise: "of N connections racing for one free row exactly one wins, and the row holds its token",
    level: Level::Core,
    requires: &[],
    offers: &[],
    scope: Scope::Once,
    clocks: Clocks::Any,
    source: "the race example",
    controls: controls::CONTROLS,
    doc: include_str!("is_exclusive.rs"),
    run: |context| Box::pin(run(context)),
};

/// Rounds without a gate for each number of workers.
const FREE_ROUNDS: usize = 5;

async fn run(context: &Context) -> Judged {
    let mut gatekeeper = context.actor("gatekeeper").await?;
    let mut workers = context.actors("worker", 16).await?;
    let mut overlapping = 0;
    for count in [2, 4, 8, 16] {
        let event = context.enqueued(&mut gatekeeper, &format!("gated-{count}")).await?;
        gated_round(context, &mut gatekeeper, &mut workers[..count], &event).await?;
        for round in 0..FREE_ROUNDS {
            let id = format!("free-{count}-{round}");
            let event = context.enqueued(&mut gatekeeper, &id).await?;
            let claims = claim_all(context, &mut workers[..count], &event);
            one_winner(context, &mut gatekeeper, &event, claims.await).await?;
            overlapping += usize::from(claims_overlap(context, &event)?);
        }
    }
    Ok(vec![format!(
        "4 gated races of 2 to 16 workers, all seen waiting at once; {overlapping} of {} free races overlapped",
        4 * FREE_ROUNDS
    )])
}

/// A race in which every attempt is under way before any can win.
async fn gated_round(
    context: &Context,
    gatekeeper: &mut Actor,
    workers: &mut [Actor],
    event: &EventId,
) -> Result<(), Finding> {
    gatekeeper.begin().await?;
    gatekeeper.lock(event, LockWait::Block).await?;
    let ids: Vec<_> = workers.iter().map(Actor::id).collect();
    let claims = claim_all(context, workers, event);
    let mut claims = std::pin::pin!(claims);
    match context.until_waiting(&ids, claims.as_mut()).await? {
        Progress::Waiting => {
            gatekeeper.rollback().await?;
            one_winner(context, gatekeeper, event, claims.await).await
        }
        Progress::Finished(attempts) => {
            gatekeeper.rollback().await?;
            Err(Finding::Inconclusive(format!(
                "no proof of overlap: claims returned although the row was locked: {}",
                describe(&attempts)
            )))
        }
    }
}

/// A worker's token and what it was told.
type Attempt = (FencingToken, Result<Claimed, EngineError>);

async fn claim_all(context: &Context, workers: &mut [Actor], event: &EventId) -> Vec<Attempt> {
    let claims = workers.iter_mut().map(|worker| async move {
        let token = context.token(worker.name());
        let claimed = worker.claim(event, &token, context.at(100), context.at(150)).await;
        (token, claimed)
    });
    join_all(claims).await
}

async fn one_winner(
    context: &Context,
    reader: &mut Actor,
    event: &EventId,
    attempts: Vec<Attempt>,
) -> Result<(), Finding> {
    let mut winners = Vec::new();
    for (token, outcome) in &attempts {
        match outcome {
            Ok(Claimed::Claimed) => winners.push(token.clone()),
            Ok(Claimed::NotClaimed) => context.loser_saw(outcome),
            Err(error) if error.is_retryable() => context.loser_saw(outcome),
            Err(error) => return Err(Finding::Errored(error.clone())),
        }
    }
    check(winners.len() == 1, || {
        format!(
            "{} workers raced for {event}, {} won: {}",
            attempts.len(),
            winners.len(),
            describe(&attempts)
        )
    })?;
    let row = reader.event(event).await?;
    let stored = row.and_then(|row| row.token);
    check(stored.as_ref() == winners.first(), || {
        format!("{} won {event}, but the row holds {stored:?}", winners[0])
    })
}

fn describe(attempts: &[Attempt]) -> String {
    let outcome = |(token, outcome): &Attempt| match outcome {
        Ok(claimed) => format!("{token}: {claimed:?}"),
        Err(error) => format!("{token}: {} error", error.kind),
    };
    attempts.iter().map(outcome).collect::<Vec<_>>().join(", ")
}

/// Whether at least two claims of the event were under way at one moment.
fn claims_overlap(context: &Context, event: &EventId) -> Result<bool, EngineError> {
    let operations = context.recorder().operations()?;
    let of_event =
        |one: &&Operation| matches!(one.call(), Call::Claim { event: of, .. } if *of == event.0);
    let claims: Vec<_> = operations.iter().filter(of_event).collect();
    let overlaps = |(index, one): (usize, &&Operation)| {
        claims[index + 1..].iter().any(|other| one.overlaps(other))
    };
    Ok(claims.iter().enumerate().any(overlaps))
}
