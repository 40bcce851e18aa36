//! A poll on a connection that was used before sees the rows committed since.
//!
//! # Promise
//! What a poll finds is decided when it is made: a poll that found nothing, a transaction that was committed
//! or rolled back, or a transaction that had read the empty queue leave nothing behind on their connection
//! that hides what was committed after them. It holds at the engine's default isolation and at
//! REPEATABLE READ.
//!
//! # Steps
//! A poller keeps one connection throughout. Before each poll its connection was used in another way:
//! 1. It polled and found nothing.
//! 2. It polled in a transaction, found nothing, and committed; the same, and rolled back.
//! 3. It began a transaction by reading the queue, and committed; the same, and rolled back.
//!
//! Then a producer commits an event. The poll returns that event and nothing else, and the poller acks
//! it. At last an event that somebody else held is given back, where the store takes it: the poll returns it
//! too.
//!
//! # How a violation looks
//! The first read fixed what the connection will ever see: the poller finds an empty queue until it is
//! restarted, while events pile up.
//!
//! # Source
//! Pooled connections that came back inside an old snapshot: `nextgenhealthcare/connect#3098`,
//! `MariaDB/mcp#52`, `benborla/mcp-server-mysql#149`, `microsoft/data-formulator#381`.

use leaseproof_engines::capability::StoreCapability;
use leaseproof_engines::lease::{Acked, ClaimBatch, Claimed, EventId, Released};
use leaseproof_engines::store::{Isolation, StoreOptions};
use leaseproof_reports::Level;

use crate::contract::{Clocks, Contract, Scope};
use crate::harness::actor::Actor;
use crate::harness::context::Context;
use crate::harness::finding::{Finding, Judged, check_eq};

mod controls;

/// See the module's documentation.
pub static CONTRACT: Contract = Contract {
    id: "claim/sees-new-work",
    promise: "a poll on a reused connection sees the rows committed since",
    level: Level::Core,
    requires: &[],
    offers: &[],
    scope: Scope::EachStrategy,
    clocks: Clocks::Any,
    source: "nextgenhealthcare/connect#3098, MariaDB/mcp#52, benborla/mcp-server-mysql#149, \
             microsoft/data-formulator#381",
    controls: controls::CONTROLS,
    doc: include_str!("sees_new_work.rs"),
    run: |context| Box::pin(run(context)),
};

async fn run(context: &Context) -> Judged {
    let mut polls = every_use(context).await?;
    let isolation = Some(Isolation::RepeatableRead);
    let options = StoreOptions { isolation, ..StoreOptions::default() };
    polls += every_use(&context.on_another_store(options).await?).await?;
    Ok(vec![format!("{polls} polls on two reused connections saw what was committed before them")])
}

/// What the poller's connection was used for right before the event was committed.
#[derive(Clone, Copy)]
enum Use {
    Poll,
    CommittedUnit,
    RolledBackUnit,
    CommittedRead,
    RolledBackRead,
}

const USES: [(Use, &str); 5] = [
    (Use::Poll, "a poll that found nothing"),
    (Use::CommittedUnit, "an empty poll in a transaction that was committed"),
    (Use::RolledBackUnit, "an empty poll in a transaction that was rolled back"),
    (Use::CommittedRead, "a read in a transaction that was committed"),
    (Use::RolledBackRead, "a read in a transaction that was rolled back"),
];

/// Polls after each use of the connection; returns how often.
async fn every_use(context: &Context) -> Result<usize, Finding> {
    let mut poller = context.actor("poller").await?;
    let mut producer = context.actor("producer").await?;
    let transactions = context.offers(StoreCapability::CallerTransactions);
    let uses = USES.iter().filter(|(before, _)| transactions || matches!(before, Use::Poll));
    let mut polls = 0;
    for (number, (before, words)) in uses.enumerate() {
        polls += 1;
        use_connection(context, &mut poller, *before).await?;
        let event = context.enqueued(&mut producer, &format!("EVENT-{number}")).await?;
        let step = format!("a poll after {words} and then the commit of {event}");
        finds(context, &mut poller, &step, &event).await?;
    }
    if !context.offers(StoreCapability::Release) {
        return Ok(polls);
    }
    let event = context.enqueued(&mut producer, "EVENT-9").await?;
    let token = context.token("producer");
    let claimed = producer.claim(&event, &token, context.at(100), context.at(900)).await?;
    check_eq("another worker claims", claimed, Claimed::Claimed)?;
    use_connection(context, &mut poller, Use::Poll).await?;
    let released = producer.release(&event, &token).await?;
    check_eq("the other worker gives its event back", released, Released::Released)?;
    finds(context, &mut poller, "a poll after an event was given back", &event).await?;
    Ok(polls + 1)
}

async fn use_connection(context: &Context, poller: &mut Actor, before: Use) -> Result<(), Finding> {
    match before {
        Use::Poll => {}
        Use::CommittedUnit | Use::RolledBackUnit => poller.begin().await?,
        Use::CommittedRead | Use::RolledBackRead => poller.begin_snapshot().await?,
    }
    if matches!(before, Use::Poll | Use::CommittedUnit | Use::RolledBackUnit) {
        let events = poll(context, poller).await?.1;
        check_eq("a poll of an empty queue", events, Vec::new())?;
    }
    match before {
        Use::Poll => {}
        Use::CommittedUnit | Use::CommittedRead => poller.commit().await?,
        Use::RolledBackUnit | Use::RolledBackRead => poller.rollback().await?,
    }
    Ok(())
}

/// The poll returns just this event, which the poller then owns and acks.
async fn finds(
    context: &Context,
    poller: &mut Actor,
    step: &str,
    event: &EventId,
) -> Result<(), Finding> {
    let (batch, events) = poll(context, poller).await?;
    check_eq(step, events, vec![event.clone()])?;
    let acked = poller.ack(event, &batch.token, context.at(110)).await?;
    check_eq("the poller acks", acked, Acked::Acked)
}

async fn poll(
    context: &Context,
    poller: &mut Actor,
) -> Result<(ClaimBatch, Vec<EventId>), Finding> {
    let batch = context.batch("poller", 10, context.at(100), context.at(200));
    let events = poller.claim_batch(&batch).await?;
    Ok((batch, events))
}
