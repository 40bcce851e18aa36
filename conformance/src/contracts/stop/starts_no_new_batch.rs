//! After the stop decision a worker claims nothing more.
//!
//! # Promise
//! A stop is a promise to whoever waits for it: what the worker owns does not grow any more. Its timer may
//! fire again and work may be due, but no claim reaches the store, by no way: no batch, no prefetch on
//! another operation.
//!
//! # Steps
//! 1. Six events are due. A polls two at 100, handles one, and takes the decision to stop at 120.
//! 2. More events are enqueued. A's timer fires at 120, 130 and 300, after leases have ended too: no claim.
//! 3. A handles and acks what it had claimed before.
//! 4. The history has no claim by A after the decision, and the events that A did not claim before are
//!    untouched: anybody's, without an attempt where those are counted.
//! 5. B claims at once all that A has left alone.
//!
//! # How a violation looks
//! A claim by A in the history after the decision, or an event that nobody can have, or an attempt that
//! nobody has a record of: work that starts during a shutdown and is cut off by its end.
//!
//! # Source
//! The worker-shutdown example: release admission before a lease expires; graphile/worker#204.

use std::collections::BTreeSet;
use std::time::Duration;

use leaseproof_engines::EngineError;
use leaseproof_engines::lease::{Acked, EventId, NewEvent};
use leaseproof_reports::Level;
use leaseproof_reports::history::{Operation, words};

use crate::contract::{Clocks, Contract, Scope};
use crate::harness::actor::Actor;
use crate::harness::context::Context;
use crate::harness::finding::{Finding, Judged, check, check_eq};
use crate::harness::standing::{Standing, check_attempts, check_standing};
use crate::worker::Worker;

mod controls;

/// See the module's documentation.
pub static CONTRACT: Contract = Contract {
    id: "stop/starts-no-new-batch",
    promise: "after the stop decision no claim is issued, and no row comes to be owned",
    level: Level::Core,
    requires: &[],
    offers: &[],
    scope: Scope::EachStrategy,
    clocks: Clocks::Any,
    source: "the worker-shutdown example; graphile/worker#204",
    controls: controls::CONTROLS,
    doc: include_str!("starts_no_new_batch.rs"),
    run: |context| Box::pin(run(context)),
};

async fn run(context: &Context) -> Judged {
    let mut a = Worker::new(context, "A").await?;
    let mut b = context.actor("B").await?;
    let first = enqueue(context, &mut b, "before", 6).await?;
    let claimed = a.poll(context, 2, context.at(100), context.at(350)).await?;
    check_eq("A claims two of six", &claimed, &first[..2].to_vec())?;
    handled(context, &mut a, &claimed[0], 110).await?;

    a.stop();
    let decision = context.recorder().elapsed();
    let before: BTreeSet<_> = claimed.iter().cloned().collect();
    let second = enqueue(context, &mut b, "after", 2).await?;
    for tick in [120, 130, 300] {
        let more = a.poll(context, 2, context.at(tick), context.at(350)).await?;
        check(more.is_empty(), || format!("A claimed {more:?} after its stop decision"))?;
    }
    handled(context, &mut a, &claimed[1], 310).await?;

    let claims = claims_since(context, a.actor.name(), decision)?;
    check(claims.is_empty(), || {
        let claims: Vec<_> = claims.iter().map(words::line).collect();
        format!("after its stop decision A issued: {}", claims.join("; "))
    })?;
    let alone: Vec<_> =
        first.into_iter().chain(second).filter(|event| !before.contains(event)).collect();
    for event in &alone {
        let step = format!("{event}, which A has left alone");
        check_standing(&step, &mut b, event, &Standing::free(context.at(310))).await?;
        check_attempts(&step, &mut b, event, 0).await?;
    }
    let batch = context.batch("B", 8, context.at(310), context.at(400));
    let taken = b.claim_batch(&batch).await?;
    check_eq("B claims what A has left alone", &sorted(taken), &sorted(alone.clone()))?;
    Ok(vec![format!(
        "3 ticks after the stop decision issued no claim; {} rows were left alone",
        alone.len()
    )])
}

async fn enqueue(
    context: &Context,
    actor: &mut Actor,
    prefix: &str,
    count: usize,
) -> Result<Vec<EventId>, Finding> {
    let events: Vec<NewEvent> =
        (1..=count).map(|number| context.new_event(&format!("{prefix}-{number}"))).collect();
    actor.enqueue(&events).await?;
    Ok(events.into_iter().map(|new| new.event).collect())
}

async fn handled(
    context: &Context,
    worker: &mut Worker,
    event: &EventId,
    step: i64,
) -> Result<(), Finding> {
    let now = context.at(step);
    check(worker.start(event, now), || format!("A may not start {event} at {now}, which it owns"))?;
    let acked = worker.finish(event, now).await?;
    check_eq(&format!("A acks {event} at {now}, which it owns"), acked, Acked::Acked)
}

/// What the actor claimed, or tried to, after the decision.
fn claims_since(
    context: &Context,
    actor: &str,
    decision: Duration,
) -> Result<Vec<Operation>, EngineError> {
    let mut operations = context.recorder().operations()?;
    operations.retain(|one| {
        one.actor() == actor
            && one.call().is_claim()
            && u128::from(one.invoked_us) >= decision.as_micros()
    });
    Ok(operations)
}

fn sorted(mut events: Vec<EventId>) -> Vec<EventId> {
    events.sort();
    events
}
