//! An event that was acked is never claimed again.
//!
//! # Promise
//! `DONE` is final: no claim takes an acked event, neither while the lease of its ack lasts nor after
//! it, neither by id nor in a batch, neither for another worker nor for the one that acked it. Nor
//! does it take the place of a pending event in a batch. Its row stays as the ack left it.
//!
//! # Steps
//! 1. Two events; EVENT-1 is first in the queue. A claims EVENT-1 at 100 until 150 and acks it.
//! 2. At 120, at 150, when the lease would be over, and at 900: A and B claim it by id and are
//!    refused. B claims a batch of one and gets the other event, which B then gives back.
//! 3. A's ack, repeated, is still known as its own. The producer enqueues EVENT-1 once more: it is not new,
//!    and its row stays as it is.
//! 4. B claims the other event in a batch and acks it: a batch of ten is now empty.
//!
//! # How a violation looks
//! Events are published again and again, each time their old lease has run out; or the queue stands
//! still, since done events fill every batch and are then refused one by one.
//!
//! # Source
//! The protocol's own rule; the rejection is in the guard `state = 'PENDING'` of every claim.

use leaseproof_engines::lease::{Acked, Claimed, EventId, EventRow, EventState, Instant, Released};
use leaseproof_reports::Level;

use crate::contract::{Clocks, Contract, Scope};
use crate::harness::actor::Actor;
use crate::harness::context::Context;
use crate::harness::finding::{Finding, Judged, check_eq};

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
    let row = a.event(&done).await?;
    check_eq("the state after the ack", row.as_ref().map(|row| row.state), Some(EventState::Done))?;
    for now in [at(120), at(150), at(900)] {
        for actor in [&mut a, &mut b] {
            refused(context, actor, &done, &row, now).await?;
        }
        passed_over(context, &mut b, (&done, &other), &row, now).await?;
    }
    let again = a.ack(&done, &token, at(120)).await?;
    check_eq("A repeats its ack after the refused claims", again, Acked::AlreadyAcked)?;

    let new = b.enqueue(&[context.new_event("EVENT-1")]).await?;
    check_eq("an acked event is enqueued once more", new, 0)?;
    check_eq("the acked row after that", &a.event(&done).await?, &row)?;

    let batch = context.batch("B", 10, at(900), at(950));
    check_eq("B claims a batch of ten", b.claim_batch(&batch).await?, vec![other.clone()])?;
    check_eq("B acks", b.ack(&other, &batch.token, at(910)).await?, Acked::Acked)?;
    let batch = context.batch("B", 10, at(990), at(999));
    check_eq("B claims a batch when all is done", b.claim_batch(&batch).await?, Vec::new())?;
    Ok(vec!["an acked event was refused to 6 claims by id and passed over by 5 batches".to_owned()])
}

async fn refused(
    context: &Context,
    actor: &mut Actor,
    done: &EventId,
    row: &Option<EventRow>,
    now: Instant,
) -> Result<(), Finding> {
    let token = context.token(actor.name());
    let claimed = actor.claim(done, &token, now, context.at(990)).await?;
    let step = format!("{} claims an acked event at {now}", actor.name());
    check_eq(&step, claimed, Claimed::NotClaimed)?;
    check_eq("the acked row after a claim of it", &actor.event(done).await?, row)
}

/// A batch of one takes the pending event behind the acked one.
async fn passed_over(
    context: &Context,
    actor: &mut Actor,
    (done, other): (&EventId, &EventId),
    row: &Option<EventRow>,
    now: Instant,
) -> Result<(), Finding> {
    let batch = context.batch(actor.name(), 1, now, context.at(990));
    let events = actor.claim_batch(&batch).await?;
    let step = format!("a batch of one at {now}, with an acked event first in the queue");
    check_eq(&step, events, vec![other.clone()])?;
    check_eq("the acked row after a claim of a batch", &actor.event(done).await?, row)?;
    let released = actor.release(other, &batch.token).await?;
    check_eq("the other event is given back", released, Released::Released)
}
