//! An event that was acked is never claimed again.
//!
//! # Promise
//! `DONE` is final: no claim takes an acked event, neither while the lease of its ack lasts nor after
//! it, neither by id nor in a batch, neither for another worker nor for the one that acked it. Nor
//! does it take the place of a pending event in a batch. A claim that was refused leaves it acked.
//!
//! # Steps
//! 1. Two events; EVENT-1 is first in the queue. A claims EVENT-1 at 100 until 150 and acks it.
//! 2. At 120, at 150, when the lease would be over, and at 900: A and B claim it by id and are
//!    refused. B claims a batch of one, with a short lease, and gets the other event.
//! 3. Where the store remembers acks, A's ack, repeated, is still known as its own; and when the producer
//!    enqueues EVENT-1 once more, it is not new and stays acked.
//! 4. B claims the other event in a batch and acks it: a batch of ten is now empty.
//!
//! # How a violation looks
//! Events are published again and again, each time their old lease has run out; or the queue stands
//! still, since done events fill every batch and are then refused one by one.
//!
//! # Source
//! The protocol's own rule; the rejection is in the guard `state = 'PENDING'` of every claim.

use leaseproof_engines::capability::StoreCapability;
use leaseproof_engines::lease::{Acked, Claimed, EventId, Instant};
use leaseproof_reports::Level;

use crate::contract::{Clocks, Contract, Scope};
use crate::harness::actor::Actor;
use crate::harness::context::Context;
use crate::harness::finding::{Finding, Judged, check_eq};
use crate::harness::standing::{Standing, check_refused, check_standing};

mod controls;

/// See the module's documentation.
pub static CONTRACT: Contract = Contract {
    id: "claim/rejects-done",
    promise: "an acked event is never claimed again",
    level: Level::Core,
    requires: &[],
    offers: &[],
    scope: Scope::EachStrategy,
    clocks: Clocks::Any,
    source: "the protocol's own rule",
    controls: controls::CONTROLS,
    doc: include_str!("rejects_done.rs"),
    run: |context| Box::pin(run(context)),
};

async fn run(context: &Context) -> Judged {
    let mut a = context.actor("A").await?;
    let mut b = context.actor("B").await?;
    let done = context.enqueued(&mut a, "EVENT-1").await?;
    let other = context.enqueued(&mut a, "EVENT-2").await?;
    let token = context.token("A");
    let at = |step| context.at(step);

    let claimed = a.claim(&done, &token, at(100), at(150)).await?;
    check_eq("A claims at 100 until 150", claimed, Claimed::Claimed)?;
    check_eq("A acks", a.ack(&done, &token, at(110)).await?, Acked::Acked)?;
    let acked = Standing::done(&token, at(150));
    check_standing("A has acked at 110", &mut b, &done, &acked).await?;
    for step in [120, 150, 900] {
        for actor in [&mut a, &mut b] {
            refused(context, actor, &done, &acked, at(step)).await?;
        }
        passed_over(context, &mut b, &other, step).await?;
        check_standing("a batch has passed it over", &mut b, &done, &acked).await?;
    }
    if context.offers(StoreCapability::IdempotentAck) {
        let again = a.ack(&done, &token, at(120)).await?;
        check_eq("A repeats its ack after the refused claims", again, Acked::AlreadyAcked)?;
        let new = b.enqueue(&[context.new_event("EVENT-1")]).await?;
        check_eq("how many events were new when an acked one was enqueued once more", new, 0)?;
        check_standing("it was enqueued once more", &mut b, &done, &acked).await?;
    }
    let batch = context.batch("B", 10, at(910), at(950));
    check_eq("B claims a batch of ten at 910", b.claim_batch(&batch).await?, vec![other.clone()])?;
    check_eq("B acks", b.ack(&other, &batch.token, at(920)).await?, Acked::Acked)?;
    let batch = context.batch("B", 10, at(990), at(999));
    check_eq("B claims a batch when all is done", b.claim_batch(&batch).await?, Vec::new())?;
    Ok(vec!["an acked event was refused to 6 claims by id and passed over by 5 batches".to_owned()])
}

async fn refused(
    context: &Context,
    actor: &mut Actor,
    done: &EventId,
    acked: &Standing,
    now: Instant,
) -> Result<(), Finding> {
    let token = context.token(actor.name());
    let answer = actor.claim(done, &token, now, context.at(990)).await;
    let step = format!("{} claims an acked event at {now}", actor.name());
    check_refused(&step, actor, done, acked, answer, Claimed::NotClaimed).await
}

/// A batch of one takes the pending event behind the acked one, and lets its lease run out.
async fn passed_over(
    context: &Context,
    actor: &mut Actor,
    other: &EventId,
    step: i64,
) -> Result<(), Finding> {
    let (now, until) = (context.at(step), context.at(step + 10));
    let events = actor.claim_batch(&context.batch(actor.name(), 1, now, until)).await?;
    let step = format!("a batch of one at {now}, with an acked event first in the queue");
    check_eq(&step, events, vec![other.clone()])
}
