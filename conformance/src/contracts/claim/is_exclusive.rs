//! Of several connections that race for one free row exactly one wins.
//!
//! # Promise
//! N workers claim one free event at once, each with a token of its own. Exactly one is told that it
//! owns the event; the others see zero rows or a classified retryable error. The event is held by the
//! winner's token. Exactly one: no winner breaks the contract as two do, and a worker that is alone with a
//! free event wins it.
//!
//! # Steps
//! For N = 2, 4, 8 and 16:
//! 1. A gatekeeper locks the row and changes nothing.
//! 2. The N workers claim. Each is seen waiting, so that all N attempts are under way at once.
//! 3. The gatekeeper rolls back. All N return, within a bound. One that returned before is judged like the
//!    others; without a wrong answer such a round proves nothing.
//! 4. The winners are counted. Others are kept out until the winner's deadline, and its token counts.
//!
//! Then rounds without a gate follow, in which the workers start together and whoever is first wins. At last
//! workers claim events that nobody else wants, at the same time where they can: they get every one.
//!
//! # How a violation looks
//! Two workers are told `Claimed` (both publish the event), nobody is (the event is stuck), or the event
//! is held by the token of a worker that was told `NotClaimed`.
//!
//! # Source
//! The race example: two connections, one latch, one guarded update each.

use futures::future::join_all;
use leaseproof_engines::capability::StoreCapability;
use leaseproof_engines::lease::{Claimed, EventId, FencingToken, NewEvent};
use leaseproof_engines::{Capability, EngineError};
use leaseproof_reports::Level;
use leaseproof_reports::history::{Call, Operation};

use crate::contract::{Clocks, Contract, Scope};
use crate::harness::actor::Actor;
use crate::harness::context::Context;
use crate::harness::finding::{Finding, Judged, check};
use crate::harness::latch::all_released;
use crate::harness::retries::Retries;
use crate::harness::standing::{Standing, check_standing};

mod controls;

/// See the module's documentation.
pub static CONTRACT: Contract = Contract {
    id: "claim/is-exclusive",
    promise: "of N connections racing for one free row exactly one wins, and holds it by its token",
    level: Level::Core,
    requires: &[],
    offers: &[StoreCapability::CallerTransactions, StoreCapability::ConcurrentSessions],
    scope: Scope::Once,
    clocks: Clocks::Any,
    source: "the race example",
    controls: controls::CONTROLS,
    doc: include_str!("is_exclusive.rs"),
    run: |context| Box::pin(run(context)),
};

/// Rounds without a gate for each number of workers.
const FREE_ROUNDS: usize = 5;

/// How many workers claim events that nobody else wants, and how many each: enough that one claim of sixty
/// which gives up is there, in each session and in all of them.
const ALONE: (usize, usize) = (4, 120);

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
            let claims = workers[..count].iter_mut().map(|worker| claim(context, worker, &event));
            one_winner(context, &mut gatekeeper, &event, join_all(claims).await).await?;
            overlapping += usize::from(claims_overlap(context, &event)?);
        }
    }
    alone(context, &mut gatekeeper, &mut workers[..ALONE.0]).await?;
    Ok(vec![
        format!(
            "4 gated races of 2 to 16 workers, all seen waiting at once; {overlapping} of {} free races overlapped",
            4 * FREE_ROUNDS
        ),
        format!("{} claims of events that nobody else wanted were all won", ALONE.0 * ALONE.1),
    ])
}

/// A race in which every attempt is under way before any can win.
async fn gated_round(
    context: &Context,
    gatekeeper: &mut Actor,
    workers: &mut [Actor],
    event: &EventId,
) -> Result<(), Finding> {
    let claims =
        workers.iter_mut().map(|worker| (worker.id(), claim(context, worker, event))).collect();
    let (attempts, proof) = all_released(context, gatekeeper, event, claims).await?;
    one_winner(context, gatekeeper, event, attempts).await?;
    proof.demand()
}

/// Workers that are all at work, each on events of its own: none of them has to give way.
async fn alone(
    context: &Context,
    producer: &mut Actor,
    workers: &mut [Actor],
) -> Result<(), Finding> {
    let named = |worker: &Actor| -> Vec<NewEvent> {
        let id = |number| format!("of-{}-{number}", worker.name());
        (0..ALONE.1).map(|number| context.new_event(&id(number))).collect()
    };
    let events: Vec<Vec<NewEvent>> = workers.iter().map(named).collect();
    producer.enqueue(&events.concat()).await?;
    let work =
        workers.iter_mut().zip(&events).map(|(worker, events)| wins_each(context, worker, events));
    if context.has(Capability::ConcurrentWriters) {
        return join_all(work).await.into_iter().collect();
    }
    for worker in work {
        worker.await?;
    }
    Ok(())
}

async fn wins_each(
    context: &Context,
    worker: &mut Actor,
    events: &[NewEvent],
) -> Result<(), Finding> {
    for new in events {
        wins_alone(context, worker, &new.event).await?;
    }
    Ok(())
}

/// One claim, run again as the engine asks for what others do beside it.
async fn wins_alone(context: &Context, worker: &mut Actor, event: &EventId) -> Result<(), Finding> {
    let mut retries = Retries::default();
    loop {
        let (token, claimed) = claim(context, worker, event).await;
        if !retries.rerun(&claimed) {
            let claimed = claimed?;
            return check(claimed == Claimed::Claimed, || {
                format!(
                    "{} claimed {event} with `{token}`, which was free and which nobody else claimed, and was \
                     told {claimed:?}",
                    worker.name()
                )
            });
        }
    }
}

/// A worker's token and what it was told.
type Attempt = (FencingToken, Result<Claimed, EngineError>);

async fn claim(context: &Context, worker: &mut Actor, event: &EventId) -> Attempt {
    let token = context.token(worker.name());
    let claimed = worker.claim(event, &token, context.at(100), context.at(150)).await;
    (token, claimed)
}

async fn one_winner(
    context: &Context,
    reader: &mut Actor,
    event: &EventId,
    attempts: Vec<Attempt>,
) -> Result<(), Finding> {
    let mut winners = Vec::new();
    let mut failed = None;
    for (token, outcome) in &attempts {
        match outcome {
            Ok(Claimed::Claimed) => winners.push(token.clone()),
            Ok(Claimed::NotClaimed) => context.loser_saw(outcome),
            Err(error) if error.is_retryable() => context.loser_saw(outcome),
            Err(error) => failed = Some(error.clone()),
        }
    }
    let told = || {
        let (workers, won) = (attempts.len(), winners.len());
        let answers = describe(&attempts);
        format!("{workers} workers raced for {event}, {won} were told that they own it: {answers}")
    };
    // Two owners are two owners, whatever happened to a third.
    check(winners.len() < 2, told)?;
    if let Some(error) = failed {
        return Err(Finding::Errored(error));
    }
    check(winners.len() == 1, told)?;
    let step = format!("{} won {event} until {}", winners[0], context.at(150));
    check_standing(&step, reader, event, &Standing::held(&winners[0], context.at(150))).await
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
