//! Several workers that drain a queue at once deliver every event exactly once.
//!
//! # Promise
//! Each event is in exactly one of the batches that the workers are given: none is lost, none is in
//! two of them or twice in one, none was never enqueued. Each is acked once by whoever was given it,
//! and is nobody's to claim at the end; where claims are counted, each was claimed once.
//!
//! # Steps
//! 1. One of two events is locked. A worker that soon gives up waiting claims both in one batch: its token
//!    acks what it was told of, and nothing else.
//! 2. 120 events are enqueued. Six workers start together. Each claims batches of one to eight events, whose sizes are drawn
//!    from the case's seed, and acks what it is given, until nothing is claimable. A transaction that fails
//!    with a retryable error is run again from its start.
//! 3. What went in and what was delivered are compared as multisets; then a batch long after every lease
//!    finds nothing, and the backlog, where the store reports one, is empty.
//!
//! The leases outlive the case, so no event may come back. Polls of different workers must have been
//! under way at one moment, by their recorded times; otherwise nothing was shown.
//!
//! # How a violation looks
//! An event is published by two workers; or it is held by a worker that was never told of it, until its
//! lease is over; or a worker publishes an event that does not exist.
//!
//! # Source
//! Lost updates between reading and marking, and locking clauses that an engine accepts and ignores:
//! `hangfire-postgres/Hangfire.PostgreSql#130`, `akeneo/pim-community-dev#7998`, `pingcap/tidb#69720`.

use std::time::Duration;

use futures::future::join_all;
use leaseproof_engines::EngineError;
use leaseproof_engines::capability::StoreCapability;
use leaseproof_engines::lease::{
    Acked, Backlog, Claimed, EventId, FencingToken, Instant, NewEvent,
};
use leaseproof_engines::store::{LockWait, SessionOptions};
use leaseproof_reports::Level;
use leaseproof_reports::history::{Call, Operation};

use crate::checker::drain::Difference;
use crate::contract::{Clocks, Contract, Scope};
use crate::harness::actor::Actor;
use crate::harness::context::Context;
use crate::harness::finding::{Finding, Judged, check, check_eq};
use crate::harness::standing::check_attempts;

mod controls;

/// See the module's documentation.
pub static CONTRACT: Contract = Contract {
    id: "claim/drains-exactly-once",
    promise: "workers that drain a queue at once deliver each event once: none lost, doubled or invented",
    level: Level::Core,
    requires: &[],
    offers: &[StoreCapability::ConcurrentSessions],
    scope: Scope::EachStrategy,
    clocks: Clocks::Any,
    source: "hangfire-postgres/Hangfire.PostgreSql#130, akeneo/pim-community-dev#7998, pingcap/tidb#69720",
    controls: controls::CONTROLS,
    doc: include_str!("drains_exactly_once.rs"),
    run: |context| Box::pin(run(context)),
};

const WORKERS: usize = 6;
const EVENTS: usize = 120;

/// Above what any worker needs, so that one which is never done ends all the same.
const POLLS: usize = 200;

async fn run(context: &Context) -> Judged {
    let mut producer = context.actor("producer").await?;
    let half = match context.offers(StoreCapability::CallerTransactions) {
        true => Some(half_way(context, &mut producer).await?),
        false => None,
    };
    let new: Vec<NewEvent> =
        (1..=EVENTS).map(|number| context.new_event(&format!("EVENT-{number:03}"))).collect();
    let begun = context.recorder().elapsed();
    producer.enqueue(&new).await?;
    let enqueued: Vec<EventId> = new.into_iter().map(|new| new.event).collect();

    let mut workers = context.actors("worker", WORKERS).await?;
    let draws = |_: &Actor| (0..16).map(|_| 1 + context.below(8)).collect::<Vec<_>>();
    let sizes: Vec<_> = workers.iter().map(draws).collect();
    let drains =
        workers.iter_mut().zip(&sizes).map(|(worker, sizes)| drain(context, worker, sizes));
    let drained = join_all(drains).await.into_iter().collect::<Result<Vec<_>, _>>()?;

    let delivered = drained.iter().flat_map(|drain| &drain.delivered);
    let difference = Difference::between(&enqueued, delivered);
    check(difference.is_none(), || {
        format!("{WORKERS} workers drained {EVENTS} events: {difference}")
    })?;
    let mut history = context.recorder().operations()?;
    history.retain(|one| u128::from(one.invoked_us) >= begun.as_micros());
    let by_history = Difference::of_history(&history);
    check(by_history.is_none(), || {
        format!(
            "by the answers to their acks, {WORKERS} workers drained {EVENTS} events: {by_history}"
        )
    })?;
    let refused: Vec<_> = drained.iter().flat_map(|drain| &drain.not_acked).collect();
    check(refused.is_empty(), || {
        format!("events were delivered once, and their acks said {refused:?}")
    })?;
    all_done(context, &mut producer, &enqueued).await?;
    let mut evidence = evidence(context, &drained)?;
    evidence.extend(half);
    Ok(evidence)
}

/// A batch that fails on one event has not silently kept another.
async fn half_way(context: &Context, gatekeeper: &mut Actor) -> Result<String, Finding> {
    let first = context.enqueued(gatekeeper, "EVENT-first").await?;
    let second = context.enqueued(gatekeeper, "EVENT-second").await?;
    let lock_timeout = Duration::from_millis(60);
    let options = SessionOptions { lock_timeout, ..SessionOptions::default() };
    let mut worker = context.actor_with("impatient", &options).await?;
    let batch = context.batch(worker.name(), 2, context.at(100), context.at(900));
    gatekeeper.begin().await?;
    gatekeeper.lock(&second, LockWait::Block).await?;
    let answer = worker.claim_batch(&batch).await;
    gatekeeper.rollback().await?;
    let told = match &answer {
        Ok(events) => events.clone(),
        Err(error) if error.is_retryable() => Vec::new(),
        Err(error) => return Err(Finding::Errored(error.clone())),
    };
    for event in [&first, &second] {
        let acked = gatekeeper.ack(event, &batch.token, context.at(110)).await?;
        let holds = acked == Acked::Acked;
        check(holds == told.contains(event), || {
            let answer = match &answer {
                Ok(events) => format!("was given {events:?}"),
                Err(error) => format!("failed ({})", error.kind),
            };
            format!(
                "a claim of two events, of which another session had locked {second}, {answer}; then an ack \
                 of {event} by its token was told {acked:?}"
            )
        })?;
        if !holds {
            let token = context.token("gatekeeper");
            let (now, until) = (context.at(100), context.at(900));
            let claimed = gatekeeper.claim(event, &token, now, until).await?;
            check_eq("an event that was not claimed is claimed", claimed, Claimed::Claimed)?;
            let acked = gatekeeper.ack(event, &token, context.at(110)).await?;
            check_eq("the gatekeeper acks what it has claimed", acked, Acked::Acked)?;
        }
    }
    Ok(match answer {
        Ok(_) => format!("a batch of two, one of them locked, was given {}", told.len()),
        Err(_) => "a batch of two that failed on a lock had claimed nothing".to_owned(),
    })
}

/// What one worker was given and told.
#[derive(Default)]
struct Drained {
    delivered: Vec<EventId>,
    not_acked: Vec<(EventId, Acked)>,
    restarts: usize,
}

async fn drain(
    context: &Context,
    worker: &mut Actor,
    sizes: &[u32],
) -> Result<Drained, EngineError> {
    let mut drained = Drained::default();
    for limit in sizes.iter().cycle().take(POLLS) {
        let batch = context.batch(worker.name(), *limit, context.at(100), context.at(900));
        match worker.claim_batch(&batch).await {
            Ok(events) if events.is_empty() => {
                // Others may hold what is left; only a look at the queue tells that it is over.
                match is_drained(worker, batch.now).await {
                    Ok(true) => return Ok(drained),
                    Ok(false) => {}
                    Err(error) if error.is_retryable() => drained.restarts += 1,
                    Err(error) => return Err(error),
                }
            }
            Ok(events) => {
                for event in events {
                    ack(context, worker, event, &batch.token, &mut drained).await?;
                }
            }
            Err(error) if error.is_retryable() => drained.restarts += 1,
            Err(error) => return Err(error),
        }
    }
    Ok(drained)
}

async fn ack(
    context: &Context,
    worker: &mut Actor,
    event: EventId,
    token: &FencingToken,
    drained: &mut Drained,
) -> Result<(), EngineError> {
    let acked = loop {
        match worker.ack(&event, token, context.at(110)).await {
            Err(error) if error.is_retryable() && drained.restarts < POLLS => drained.restarts += 1,
            answer => break answer?,
        }
    };
    if acked != Acked::Acked {
        drained.not_acked.push((event.clone(), acked));
    }
    drained.delivered.push(event);
    Ok(())
}

/// Whether nothing could be claimed at that instant.
async fn is_drained(worker: &mut Actor, now: Instant) -> Result<bool, EngineError> {
    Ok(match worker.has(StoreCapability::Backlog) {
        true => worker.backlog(now).await?.claimable == 0,
        false => worker.candidates(1, now).await?.is_empty(),
    })
}

async fn all_done(
    context: &Context,
    reader: &mut Actor,
    enqueued: &[EventId],
) -> Result<(), Finding> {
    for event in enqueued {
        check_attempts("the queue was drained", reader, event, 1).await?;
    }
    if reader.has(StoreCapability::Backlog) {
        let nothing = Backlog { claimable: 0, active: 0, expired: 0, age_us: 0 };
        let backlog = reader.backlog(context.at(900)).await?;
        check_eq("the backlog of a drained queue", backlog, nothing)?;
    }
    let late = context.batch("late", 999, context.at(10_000), context.at(10_900));
    let left = reader.claim_batch(&late).await?;
    check(left.is_empty(), || {
        format!("every event was acked, and a batch long after every lease is given {left:?}")
    })
}

fn evidence(context: &Context, drained: &[Drained]) -> Judged {
    let operations = context.recorder().operations()?;
    let is_poll = |one: &&Operation| matches!(one.call(), Call::ClaimBatch { .. });
    let polls: Vec<_> = operations.iter().filter(is_poll).collect();
    let overlaps = |one: &&&Operation| {
        polls.iter().any(|other| other.actor() != one.actor() && one.overlaps(other))
    };
    let overlapping = polls.iter().filter(overlaps).count();
    if overlapping == 0 {
        let seen = "no proof of overlap: no two workers polled at one moment";
        return Err(Finding::Inconclusive(seen.to_owned()));
    }
    let shares: Vec<_> = drained.iter().map(|drain| drain.delivered.len().to_string()).collect();
    let restarts: usize = drained.iter().map(|drain| drain.restarts).sum();
    Ok(vec![
        format!(
            "{EVENTS} events were delivered and acked once each; the workers got {}",
            shares.join(", ")
        ),
        format!(
            "{overlapping} of {} polls overlapped another worker's; {restarts} transactions were run again",
            polls.len()
        ),
    ])
}
