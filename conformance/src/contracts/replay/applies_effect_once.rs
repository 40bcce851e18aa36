//! Wherever a worker dies, the effect of the event is there once in the end, and the event is acked.
//!
//! # Promise
//! A delivery reserves the event in the consumer's ledger, applies the effect, commits both, and acks.
//! When the worker dies after any of these steps, the redelivery finds the reservation if and only if
//! the effect is there: it applies what is missing and nothing twice, and then acks.
//!
//! # Steps
//! For each step of the delivery, and each way in which a connection can end without a goodbye:
//! 1. A claims at 100 until 150, delivers up to the step, and dies.
//! 2. B claims at 150 and delivers: the ledger says `Duplicate` if A had committed, else `Reserved`. If A
//!    had acked, B gets nothing.
//! 3. The effect is there once. C, with a claim at 300, when every lease is over, gets nothing.
//!
//! Then the slow worker: A's transaction is open when its lease runs out. B takes the event over, and its
//! delivery is seen waiting for A's transaction. A commits. B finds the reservation; A's late ack is refused.
//!
//! # How a violation looks
//! Two effects (the customer is charged twice), none (the event was acked without it), or an event that
//! stays pending for ever.
//!
//! # Source
//! The consumer-idempotency and scheduled-relay examples; hangfire-postgres/Hangfire.PostgreSql#130,
//! HangfireIO/Hangfire#514, Particular/NServiceBus#5648.

use leaseproof_engines::capability::StoreCapability;
use leaseproof_engines::lease::{Acked, Claimed, EventId, Reserved};
use leaseproof_reports::Level;

use crate::contract::{Clocks, Contract, Scope};
use crate::harness::context::Context;
use crate::harness::finding::{Finding, Judged, check_eq};
use crate::harness::latch::{End, behind};
use crate::worker::{CONSUMER, Death, Delivered, Step, Worker};

mod controls;

/// See the module's documentation.
pub static CONTRACT: Contract = Contract {
    id: "replay/applies-effect-once",
    promise: "wherever the worker dies, the redelivery leaves the effect there once and acks the event",
    level: Level::Core,
    requires: &[],
    offers: &[StoreCapability::CallerTransactions],
    scope: Scope::Once,
    clocks: Clocks::Any,
    source: "the consumer-idempotency example; hangfire-postgres/Hangfire.PostgreSql#130, HangfireIO/Hangfire#514, Particular/NServiceBus#5648",
    controls: controls::CONTROLS,
    doc: include_str!("applies_effect_once.rs"),
    run: |context| Box::pin(run(context)),
};

const STEPS: [Step; 4] = [Step::Reserve, Step::Effect, Step::Commit, Step::Ack];

async fn run(context: &Context) -> Judged {
    let deaths = Death::all(context);
    let mut b = Worker::new(context, "B").await?;
    for death in deaths {
        for last in STEPS {
            crashed(context, &mut b, *death, last).await?;
        }
    }
    let mut evidence = vec![format!(
        "{} deliveries cut short after each of {STEPS:?} by {deaths:?}",
        STEPS.len() * deaths.len()
    )];
    if context.offers(StoreCapability::ConcurrentSessions) {
        overtaken(context).await?;
        evidence.push(
            "a redelivery was seen waiting for the first delivery's transaction, and found its reservation"
                .to_owned(),
        );
    }
    Ok(evidence)
}

/// A dies after the step `last`, B takes over.
async fn crashed(
    context: &Context,
    b: &mut Worker,
    death: Death,
    last: Step,
) -> Result<(), Finding> {
    let mut a = Worker::new(context, "A").await?;
    let event = context.enqueued(&mut a.actor, &format!("{death:?}-after-{last:?}")).await?;
    let claimed = a.poll(context, 1, context.at(100), context.at(150)).await?;
    check_eq("A claims", &claimed, &vec![event.clone()])?;
    a.deliver(&event, context.at(110), last).await?;
    a.die(context, death).await?;

    let claimed = b.poll(context, 1, context.at(150), context.at(250)).await?;
    if last == Step::Ack {
        check_eq("B claims after A's ack", &claimed, &Vec::new())?;
    } else {
        let step = format!("B claims at 150, after A died after {last:?}");
        check_eq(&step, &claimed, &vec![event.clone()])?;
        let ledger = if last >= Step::Commit { Reserved::Duplicate } else { Reserved::Reserved };
        let delivered = b.deliver(&event, context.at(160), Step::Ack).await?;
        let step = format!("B delivers after A died after {last:?}");
        check_eq(&step, delivered, Delivered::Handled(ledger, Acked::Acked))?;
    }
    settled(context, b, &event, &format!("after {death:?} and {last:?}")).await
}

/// One effect, done, and nobody gets it again.
async fn settled(
    context: &Context,
    worker: &mut Worker,
    event: &EventId,
    when: &str,
) -> Result<(), Finding> {
    let effects = worker.actor.effects(CONSUMER, event).await?;
    check_eq(&format!("the effects of the event {when}"), effects, 1)?;
    let token = context.token("C");
    let claimed = worker.actor.claim(event, &token, context.at(300), context.at(350)).await?;
    check_eq(&format!("C claims {event} at 300, {when}"), claimed, Claimed::NotClaimed)
}

/// A is slow and not dead: both deliver the same event at once.
async fn overtaken(context: &Context) -> Result<(), Finding> {
    let mut a = Worker::new(context, "A").await?;
    let mut b = Worker::new(context, "B").await?;
    let event = context.enqueued(&mut a.actor, "overtaken").await?;
    a.poll(context, 1, context.at(100), context.at(150)).await?;
    let token = a.token(&event).unwrap_or_else(|| context.token("A"));
    let claimed = b.poll(context, 1, context.at(150), context.at(250)).await?;
    check_eq("B claims at A's deadline", &claimed, &vec![event.clone()])?;

    a.deliver(&event, context.at(149), Step::Effect).await?;
    let waiter = b.actor.id();
    let delivery = b.deliver(&event, context.at(160), Step::Ack);
    let (delivered, proof) = behind(context, &mut a.actor, End::Commit, waiter, delivery).await?;
    // At a stricter isolation the engine may ask for the whole transaction to be run again.
    let delivered = match delivered {
        Err(error) if error.is_retryable() => b.deliver(&event, context.at(165), Step::Ack).await?,
        delivered => delivered?,
    };
    let promised = Delivered::Handled(Reserved::Duplicate, Acked::Acked);
    check_eq("B delivers what A has just committed", delivered, promised)?;
    let late = a.actor.ack(&event, &token, context.at(170)).await?;
    check_eq("A acks after the takeover", late, Acked::Refused)?;
    settled(context, &mut b, &event, "when A was overtaken").await?;
    proof.demand()
}
