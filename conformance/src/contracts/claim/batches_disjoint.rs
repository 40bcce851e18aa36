//! Two claims that are open at once share no event.
//!
//! # Promise
//! Workers that claim batches in transactions, and have not committed yet, hold different events, in whichever
//! order they end. When a transaction is rolled back, or its commit is refused, its events are free again and
//! nobody else's.
//!
//! # Steps
//! Twelve events: some were never claimed, some have a lease that is over, two have one that is live,
//! and one is done.
//! 1. A, B and C each claim three in a transaction of their own; all three transactions are open at the same time.
//!    No event is in two batches, none was leased or done, and each batch is in order.
//! 2. They end in another order than they began, B by a rollback. A's and C's events are held by their tokens;
//!    where a commit is refused with a retryable error, as it may be under SERIALIZABLE, nothing of the
//!    batch is left.
//! 3. D claims what is left: exactly the events that nobody committed.
//!
//! A claim that has to wait for an open one was not open at the same time. It is let go on when that one
//! has ended: if it then shares an event the promise is broken, otherwise the case is inconclusive.
//!
//! # How a violation looks
//! Two workers run the same event at the same time, each with a claim that was reported as won.
//!
//! # Source
//! The clause is accepted and the rows are not locked: `pingcap/tidb#69720`, `pingcap/tidb#69783`,
//! `dolthub/vitess#273`, `vitessio/vitess#5249`.

use std::pin::pin;

use leaseproof_engines::capability::StoreCapability;
use leaseproof_engines::lease::{Acked, ClaimBatch, Claimed, EventId, FencingToken};
use leaseproof_engines::{Capability, EngineError};
use leaseproof_reports::Level;

use crate::contract::{Clocks, Contract, Scope};
use crate::harness::actor::Actor;
use crate::harness::context::{Context, Progress};
use crate::harness::finding::{Finding, Judged, check, check_eq};
use crate::harness::standing::{Standing, check_standing};

mod controls;

/// See the module's documentation.
pub static CONTRACT: Contract = Contract {
    id: "claim/batches-disjoint",
    promise: "two claims that are open at once share no event",
    level: Level::Extended,
    requires: &[Capability::SkipLocked, Capability::WaitObservation],
    offers: &[StoreCapability::CallerTransactions, StoreCapability::ConcurrentSessions],
    scope: Scope::EachSkipping,
    clocks: Clocks::Any,
    source: "pingcap/tidb#69720, pingcap/tidb#69783, dolthub/vitess#273, vitessio/vitess#5249",
    controls: controls::CONTROLS,
    doc: include_str!("batches_disjoint.rs"),
    run: |context| Box::pin(run(context)),
};

/// How many events each claim asks for.
const EACH: u32 = 3;

async fn run(context: &Context) -> Judged {
    let at = |step| context.at(step);
    let mut reader = context.actor("reader").await?;
    let free = fill(context, &mut reader).await?;
    let mut open: Vec<Open> = Vec::new();
    for name in ["A", "B", "C"] {
        let mut actor = context.actor(name).await?;
        let batch = context.batch(name, EACH, at(100), at(200));
        actor.begin().await?;
        let events = claim_beside(context, &mut actor, &batch, &mut open).await?;
        judge(name, &events, &free, &open)?;
        open.push(Open { actor, token: batch.token, events });
    }
    let ends = [End::Commit, End::Rollback, End::Commit];
    let mut left: Vec<EventId> = free.clone();
    let mut held = Vec::new();
    // C ends first, then A, then B.
    open.rotate_right(1);
    for (mut claim, end) in open.into_iter().zip([ends[2], ends[0], ends[1]]) {
        if claim.end(context, end).await? {
            left.retain(|event| !claim.events.contains(event));
            held.push(claim);
        }
    }
    for Open { actor, token, events } in held {
        let step = format!("{} has committed its batch until {}", actor.name(), at(200));
        for event in &events {
            check_standing(&step, &mut reader, event, &Standing::held(&token, at(200))).await?;
        }
    }
    let mut d = context.actor("D").await?;
    let rest = d.claim_batch(&context.batch("D", 99, at(110), at(200))).await?;
    check_eq("D claims what nobody committed", rest, left.clone())?;
    Ok(vec![
        format!("3 claims of {EACH} events each were open at once and shared none"),
        format!("{} events of a transaction that did not commit were free again", left.len()),
    ])
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum End {
    Commit,
    Rollback,
}

/// A claim whose transaction has not ended.
struct Open {
    actor: Actor,
    token: FencingToken,
    events: Vec<EventId>,
}

impl Open {
    /// Ends the transaction; whether its claim holds.
    async fn end(&mut self, context: &Context, end: End) -> Result<bool, EngineError> {
        if end == End::Rollback {
            return self.actor.rollback().await.map(|()| false);
        }
        let outcome = self.actor.commit().await;
        match outcome {
            Ok(()) => Ok(true),
            Err(error) if error.is_retryable() => {
                context.loser_saw::<()>(&Err(error));
                Ok(false)
            }
            Err(error) => Err(error),
        }
    }
}

/// Twelve events of every kind; returns the nine that may be claimed, in order.
async fn fill(context: &Context, actor: &mut Actor) -> Result<Vec<EventId>, Finding> {
    let at = |step| context.at(step);
    let mut free = Vec::new();
    for number in 1..=12 {
        let mut new = context.new_event(&format!("EVENT-{number:02}"));
        new.due = at(number);
        actor.enqueue(&[new.clone()]).await?;
        let event = new.event;
        let token = context.token("earlier");
        let until = match number {
            2 | 7 => at(50),
            4 | 8 => at(900),
            6 => at(60),
            _ => {
                free.push(event);
                continue;
            }
        };
        let claimed = actor.claim(&event, &token, at(20), until).await?;
        check_eq("an earlier worker claims", claimed, Claimed::Claimed)?;
        if number == 6 {
            let acked = actor.ack(&event, &token, at(30)).await?;
            check_eq("an earlier worker acks", acked, Acked::Acked)?;
        } else if until == at(50) {
            free.push(event);
        }
    }
    Ok(free)
}

/// Claims in the open transaction beside other open ones.
///
/// When it waits for one of them they were not open at once: they are let go, and the case ends as
/// broken if the batches share an event then, or else as inconclusive.
async fn claim_beside(
    context: &Context,
    actor: &mut Actor,
    batch: &ClaimBatch,
    open: &mut [Open],
) -> Result<Vec<EventId>, Finding> {
    let (session, name) = (actor.id(), actor.name().to_owned());
    let mut claim = pin!(actor.claim_batch(batch));
    if let Progress::Finished(events) = context.until_stuck(session, claim.as_mut()).await? {
        return Ok(events?);
    }
    for claim in &mut *open {
        claim.actor.commit().await?;
    }
    let events = claim.await?;
    let taken = open.iter().flat_map(|claim| &claim.events);
    let shared: Vec<_> = taken.filter(|event| events.contains(event)).collect();
    check(shared.is_empty(), || {
        format!(
            "{name} claimed a batch beside open claims, waited until they had committed, and was given \
             {shared:?}, which they hold"
        )
    })?;
    let missing = "no proof of overlap: a claim was seen waiting for an open one";
    Err(Finding::Inconclusive(missing.to_owned()))
}

fn judge(name: &str, events: &[EventId], free: &[EventId], open: &[Open]) -> Result<(), Finding> {
    for claim in open {
        let shared: Vec<_> = events.iter().filter(|event| claim.events.contains(event)).collect();
        check(shared.is_empty(), || format!("{name} shares {shared:?} with an open claim"))?;
    }
    check(events.iter().all(|event| free.contains(event)), || {
        format!("{name} was given events that were leased or done: {events:?}")
    })?;
    check(events.is_sorted_by_key(|event| free.iter().position(|other| other == event)), || {
        format!("{name}'s batch is not in order of due instant: {events:?}")
    })?;
    let nothing = format!("{name} was given nothing, so there was nothing to share");
    if events.is_empty() { Err(Finding::Inconclusive(nothing)) } else { Ok(()) }
}
