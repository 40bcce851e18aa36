//! When a worker stops, every event it had claimed is acked, released, or left to expire; none is lost.
//!
//! # Promise
//! A worker that stops owns rows of every kind: new ones, ones that became due later, second attempts,
//! ones that somebody released or renewed before. What it finished is acked with its current token. What
//! it never started is released and claimable at once. What it gives up on the way is claimable when its
//! lease is over. A worker of another name gets every one of them, and none twice.
//!
//! # Steps
//! 1. Rows of five kinds are prepared, four of each. A claims all at 200 until 250.
//! 2. A handles one of each kind and starts two more. At 220 it stops, gives back what it has not started,
//!    gives up one of each kind, and goes on renewing and working on the last.
//! 3. B claims at 220: it gets exactly what was given back. Right before 250 it gets nothing. At 250 it gets
//!    exactly what was given up.
//! 4. A acks the last of each kind at 260, under its renewed lease, and closes its connection.
//! 5. Events that were not due yet come when they are. In the end nobody can claim anything, and each event
//!    had one effect.
//!
//! # How a violation looks
//! A kind of row that B never gets (it stays claimed by nobody alive), gets only after the lease although
//! it was given back, or gets although A still works on it; or an event that is done without its effect.
//!
//! # Source
//! The worker-shutdown example; graphile/worker#241 and #204, hangfire-postgres/Hangfire.PostgreSql#352,
//! janbjorge/pgqueuer#475, kodustech/kodus-ai#1589, rails/solid_queue#748.

use std::collections::BTreeMap;

use leaseproof_engines::capability::StoreCapability;
use leaseproof_engines::lease::{Acked, EventId, NewEvent, Released, Reserved};
use leaseproof_reports::Level;

use crate::contract::{Clocks, Contract, Scope};
use crate::harness::actor::Actor;
use crate::harness::context::Context;
use crate::harness::finding::{Finding, Judged, check_eq};
use crate::worker::{CONSUMER, Delivered, Step, Worker};

mod controls;

/// See the module's documentation.
pub static CONTRACT: Contract = Contract {
    id: "stop/leaves-unacked-recoverable",
    promise: "every claimed event is acked with its current token, released, or left to expire and claimed again; none is lost",
    level: Level::Core,
    requires: &[],
    offers: &[StoreCapability::CallerTransactions, StoreCapability::Release],
    scope: Scope::EachStrategy,
    clocks: Clocks::Any,
    source: "the worker-shutdown example; graphile/worker#241, #204, hangfire-postgres/Hangfire.PostgreSql#352, janbjorge/pgqueuer#475, kodustech/kodus-ai#1589, rails/solid_queue#748",
    controls: controls::CONTROLS,
    doc: include_str!("leaves_unacked_recoverable.rs"),
    run: |context| Box::pin(run(context)),
};

/// In the order of claims: what became due later comes after what was due from the start.
const KINDS: [&str; 5] = ["expired", "fresh", "released", "renewed", "due-later"];
const FATES: [&str; 4] = ["abandoned", "handled", "running", "unstarted"];

/// The events of a fate, one of each kind.
fn of_fate(fate: &str) -> Vec<EventId> {
    KINDS.iter().map(|kind| EventId::new(format!("{kind}-{fate}"))).collect()
}

async fn run(context: &Context) -> Judged {
    let mut a = Worker::new(context, "A").await?;
    let mut b = Worker::new(context, "B").await?;
    prepare(context, &mut b.actor).await?;
    let claimed = a.poll(context, 50, context.at(200), context.at(250)).await?;
    check_eq("A claims one of each kind for each fate", claimed.len(), KINDS.len() * FATES.len())?;
    for event in of_fate("handled") {
        handled(context, &mut a, &event, 210).await?;
    }
    for event in of_fate("running").iter().chain(&of_fate("abandoned")) {
        a.start(event, context.at(215));
    }

    a.stop();
    let released: BTreeMap<_, _> =
        a.release_unstarted(context.at(220)).await?.into_iter().collect();
    let promised: BTreeMap<_, _> =
        of_fate("unstarted").into_iter().map(|event| (event, Released::Released)).collect();
    check_eq("A gives back what it has not started", &released, &promised)?;
    for event in of_fate("abandoned") {
        a.abandon(&event);
    }
    taken(context, &mut b, "what A gave back, at once", 220, &of_fate("unstarted")).await?;
    a.renew_all(context.at(225), context.at(300)).await;

    let early = b.poll(context, 50, context.just_before(250), context.at(300)).await?;
    check_eq("B claims right before the end of A's leases", &early, &Vec::new())?;
    taken(context, &mut b, "what A gave up, when its leases are over", 250, &of_fate("abandoned"))
        .await?;
    for event in of_fate("running") {
        handled(context, &mut a, &event, 260).await?;
    }
    a.actor.close().await;
    let later = EventId::new("not-due");
    taken(context, &mut b, "what was not due before", 1000, &[later]).await?;
    let left = b.poll(context, 50, context.at(10_000), context.at(10_060)).await?;
    check_eq("B claims long after every lease, when all was acked", &left, &Vec::new())?;
    nothing_lost(&mut b.actor).await?;
    Ok(vec![format!(
        "{} rows of {} kinds, each given back, given up, running or handled at the stop: all done, each with one effect",
        KINDS.len() * FATES.len(),
        KINDS.len()
    )])
}

/// Brings one row of each kind for each fate about, and one that is not due for long.
async fn prepare(context: &Context, actor: &mut Actor) -> Result<(), Finding> {
    let mut events = vec![NewEvent { due: context.at(1000), ..context.new_event("not-due") }];
    for kind in KINDS {
        let due = context.at(if kind == "due-later" { 200 } else { 0 });
        let new = |fate| NewEvent { due, ..context.new_event(&format!("{kind}-{fate}")) };
        events.extend(FATES.iter().map(new));
    }
    actor.enqueue(&events).await?;
    for kind in ["expired", "released", "renewed"] {
        for fate in FATES {
            let (event, token) = (EventId::new(format!("{kind}-{fate}")), context.token("before"));
            actor.claim(&event, &token, context.at(100), context.at(150)).await?;
            if kind == "released" {
                actor.release(&event, &token).await?;
            } else if kind == "renewed" {
                actor.renew(&event, &token, context.at(110), context.at(190)).await?;
            }
        }
    }
    Ok(())
}

async fn handled(
    context: &Context,
    worker: &mut Worker,
    event: &EventId,
    step: i64,
) -> Result<(), Finding> {
    let delivered = worker.deliver(event, context.at(step), Step::Ack).await?;
    let what = format!("{} handles {event} and acks", worker.actor.name());
    check_eq(&what, delivered, Delivered::Handled(Reserved::Reserved, Acked::Acked))
}

/// The other worker claims exactly these, and handles them.
async fn taken(
    context: &Context,
    worker: &mut Worker,
    what: &str,
    step: i64,
    promised: &[EventId],
) -> Result<(), Finding> {
    let claimed = worker.poll(context, 50, context.at(step), context.at(step + 60)).await?;
    check_eq(&format!("B claims {what}"), claimed.as_slice(), promised)?;
    for event in promised {
        handled(context, worker, event, step + 10).await?;
    }
    Ok(())
}

async fn nothing_lost(reader: &mut Actor) -> Result<(), Finding> {
    for event in FATES.iter().flat_map(|fate| of_fate(fate)) {
        let effects = reader.effects(CONSUMER, &event).await?;
        check_eq(&format!("the effects of {event}"), effects, 1)?;
    }
    Ok(())
}
