//! A producer's insert does not wait for an open claim.
//!
//! # Promise
//! While a worker's claim is open, events can be enqueued at once, wherever they stand in the order in
//! which the claim looked: before what it took, between, behind, and behind the end of the queue that the
//! claim has run into. It holds for a claim that found nothing, too.
//!
//! # Steps
//! 1. Of ten free events A claims up to 20 in an open transaction, and has looked past the last one. B enqueues
//!    an event that is due before them, one between, one behind, one that is due later, and with ids
//!    before and behind theirs: none of it is seen waiting. A commits.
//! 2. A claims again in an open transaction, and is given the events that came meanwhile.
//! 3. A claims once more and finds nothing. B enqueues beside that open transaction, too; A commits.
//! 4. Every event that was enqueued is there, once: long after all leases they are the candidates.
//!
//! # How a violation looks
//! Producers wait for the longest claim, and time out or deadlock with the next one, while the queue is
//! almost empty: just when nobody would expect contention.
//!
//! # Source
//! A claim that runs off the end of the index locks the gap up to its end: `rails/solid_queue#240`,
//! `rails/solid_queue#531`, `RotherOSS/otobo#143`. More gaps than the rows that are taken:
//! `MariaDB/server#4682`.

use std::pin::pin;

use leaseproof_engines::Capability;
use leaseproof_engines::capability::StoreCapability;
use leaseproof_engines::lease::{EventId, NewEvent};
use leaseproof_reports::Level;

use crate::contract::{Clocks, Contract, Scope};
use crate::harness::actor::Actor;
use crate::harness::context::{Context, Progress};
use crate::harness::finding::{Finding, Judged, check, check_eq};

mod controls;

/// See the module's documentation.
pub static CONTRACT: Contract = Contract {
    id: "claim/leaves-enqueue-unblocked",
    promise: "a producer's insert does not wait for an open claim",
    level: Level::Extended,
    requires: &[Capability::ConcurrentWriters, Capability::WaitObservation],
    offers: &[StoreCapability::CallerTransactions, StoreCapability::ConcurrentSessions],
    scope: Scope::EachStrategy,
    clocks: Clocks::Any,
    source: "rails/solid_queue#240, rails/solid_queue#531, RotherOSS/otobo#143, MariaDB/server#4682",
    controls: controls::CONTROLS,
    doc: include_str!("leaves_enqueue_unblocked.rs"),
    run: |context| Box::pin(run(context)),
};

async fn run(context: &Context) -> Judged {
    let at = |step| context.at(step);
    let (mut a, mut b) = (context.actor("A").await?, context.actor("B").await?);
    let first: Vec<NewEvent> =
        (1..=10).map(|number| new(context, &format!("EVENT-{number:02}"), 10 * number)).collect();
    b.enqueue(&first).await?;

    a.begin().await?;
    let claimed = a.claim_batch(&context.batch("A", 20, at(200), at(300))).await?;
    check_eq("A claims up to 20 of ten events", claimed, ids(&first))?;
    let beside = [
        new(context, "EVENT-00", 1),
        new(context, "EVENT-05-between", 55),
        new(context, "EVENT-99", 150),
        new(context, "EVENT-98-later", 700),
        new(context, "A-EVENT", 5),
    ];
    enqueue_beside(context, &mut b, &beside, "a claim of all that was there").await?;
    a.commit().await?;

    a.begin().await?;
    let claimed = a.claim_batch(&context.batch("A", 20, at(210), at(300))).await?;
    let mut due: Vec<_> = beside.iter().filter(|new| new.due < at(210)).collect();
    due.sort_by_key(|new| (new.due, new.event.clone()));
    let due: Vec<EventId> = due.iter().map(|new| new.event.clone()).collect();
    check_eq("A claims what was enqueued beside its open claim", claimed, due)?;
    a.commit().await?;

    a.begin().await?;
    let claimed = a.claim_batch(&context.batch("A", 20, at(220), at(300))).await?;
    check(claimed.is_empty(), || format!("A claims from an empty queue: {claimed:?}"))?;
    let late = [new(context, "EVENT-97", 215), new(context, "EVENT-96-later", 800)];
    enqueue_beside(context, &mut b, &late, "a claim that found nothing").await?;
    a.commit().await?;
    let mut there = b.candidates(99, at(900)).await?;
    there.sort();
    let mut all = ids(&[&first[..], &beside, &late].concat());
    all.sort();
    check_eq("the candidates at 900, when every event is due and every lease over", there, all)?;
    Ok(vec![format!(
        "{} events were enqueued beside open claims, without a wait",
        beside.len() + late.len()
    )])
}

fn new(context: &Context, id: &str, due: i64) -> NewEvent {
    NewEvent { due: context.at(due), ..context.new_event(id) }
}

fn ids(events: &[NewEvent]) -> Vec<EventId> {
    events.iter().map(|new| new.event.clone()).collect()
}

/// Enqueues one after the other, each in a transaction of its own; nothing of it may be seen waiting.
async fn enqueue_beside(
    context: &Context,
    producer: &mut Actor,
    events: &[NewEvent],
    claim: &str,
) -> Result<(), Finding> {
    let session = producer.id();
    for new in events {
        let insert = pin!(producer.enqueue(std::slice::from_ref(new)));
        match context.until_stuck(session, insert).await? {
            Progress::Finished(count) => check_eq("a new event is enqueued", count?, 1)?,
            Progress::Waiting => {
                let event = &new.event;
                return Err(Finding::Broken(format!(
                    "the insert of {event} was seen waiting for {claim} that is still open"
                )));
            }
        }
    }
    Ok(())
}
