//! While a claim of some free events is open, a second claim gets the others at once.
//!
//! # Promise
//! Of k free events an open claim holds n. A second claim, made while the first one is open, does not
//! wait and is given what it asks for of the other k − n, as if the first had never been. It holds on a
//! new table and with statistics of an idle hour, for events that are due at one instant, and with rows
//! in between that nobody may claim.
//!
//! # Steps
//! Ten free events, two of them due at the same instant, stand among leased, done and later ones.
//! 1. A claims one in an open transaction. B claims one in another: it is not seen waiting and gets the next.
//! 2. With both open, C claims up to 99 and gets the remaining eight.
//! 3. All commit; each event is held by whoever was given it.
//! 4. The same on another store, whose planner believes that nothing is pending.
//!
//! # How a violation looks
//! The second worker finds an empty queue, or waits, although one event of ten is taken: more workers
//! then give no more throughput.
//!
//! # Source
//! An index that does not serve the order, so that all candidates are locked before they are sorted:
//! `OneUptime/oneuptime#3117`, MySQL bug 113472, `operaton/operaton#326`. Rows that are locked in blocks
//! before the limit applies: `cockroachdb/cockroach#121917`, `cockroachdb/cockroach#143017`,
//! `yugabyte/yugabyte-db#31998`, `timgit/pg-boss#669`.

use std::pin::pin;

use leaseproof_engines::Capability;
use leaseproof_engines::capability::StoreCapability;
use leaseproof_engines::lease::{Acked, ClaimBatch, Claimed, EventId};
use leaseproof_engines::store::StoreOptions;
use leaseproof_reports::Level;

use crate::contract::{Clocks, Contract, Scope};
use crate::harness::actor::Actor;
use crate::harness::context::{Context, Progress};
use crate::harness::finding::{Finding, Judged, check_eq};
use crate::harness::standing::{Standing, check_standing};

mod controls;

/// See the module's documentation.
pub static CONTRACT: Contract = Contract {
    id: "claim/second-makes-progress",
    promise: "while a claim of some free events is open, a second claim gets the others at once",
    level: Level::Extended,
    requires: &[Capability::SkipLocked, Capability::WaitObservation],
    offers: &[StoreCapability::CallerTransactions, StoreCapability::ConcurrentSessions],
    scope: Scope::EachSkipping,
    clocks: Clocks::Any,
    source: "OneUptime/oneuptime#3117, MySQL bug 113472, operaton/operaton#326, \
             cockroachdb/cockroach#121917, cockroachdb/cockroach#143017, yugabyte/yugabyte-db#31998, \
             timgit/pg-boss#669",
    controls: controls::CONTROLS,
    doc: include_str!("second_makes_progress.rs"),
    run: |context| Box::pin(run(context)),
};

/// How many events are free.
const FREE: usize = 10;

async fn run(context: &Context) -> Judged {
    judge(context, "without statistics").await?;
    let misled = context.on_another_store(StoreOptions::default()).await?;
    misled.mislead_planner().await?;
    judge(&misled, "with statistics of an idle hour").await?;
    Ok(vec![format!(
        "beside 2 open claims of 1 of {FREE} free events a third got the other {}, without statistics \
         and with wrong ones",
        FREE - 2
    )])
}

async fn judge(context: &Context, statistics: &str) -> Result<(), Finding> {
    let at = |step| context.at(step);
    let mut reader = context.actor("reader").await?;
    let free = fill(context, &mut reader).await?;
    let mut open: Vec<(Actor, ClaimBatch, Vec<EventId>)> = Vec::new();
    for (name, limit) in [("A", 1), ("B", 1), ("C", 99)] {
        let mut actor = context.actor(name).await?;
        let batch = context.batch(name, limit, at(100), at(200));
        actor.begin().await?;
        let session = actor.id();
        let events = {
            let claim = pin!(actor.claim_batch(&batch));
            match context.until_stuck(session, claim).await? {
                Progress::Finished(events) => events?,
                Progress::Waiting => {
                    return Err(Finding::Broken(format!(
                        "{statistics}: {name} was seen waiting for an open claim while {} other \
                         events were free",
                        FREE - open.len()
                    )));
                }
            }
        };
        let others: Vec<_> = free.iter().skip(open.len()).take(limit as usize).cloned().collect();
        let step = format!("{statistics}: {name} claims up to {limit} beside {} open", open.len());
        check_eq(&step, events.clone(), others)?;
        open.push((actor, batch, events));
    }
    let mut held = Vec::new();
    for (mut actor, batch, events) in open {
        let outcome = actor.commit().await;
        match outcome {
            Ok(()) => held.push((actor, batch.token, events)),
            // Under SERIALIZABLE a commit may be refused for what others claimed.
            Err(error) if error.is_retryable() => context.loser_saw::<()>(&Err(error)),
            Err(error) => return Err(Finding::Errored(error)),
        }
    }
    for (actor, token, events) in held {
        let step = format!("{statistics}: {} has committed its claim", actor.name());
        for event in &events {
            check_standing(&step, &mut reader, event, &Standing::held(&token, at(200))).await?;
        }
    }
    Ok(())
}

/// Sixteen events of every kind; returns the ten that may be claimed, in order.
async fn fill(context: &Context, actor: &mut Actor) -> Result<Vec<EventId>, Finding> {
    let at = |step| context.at(step);
    let mut free = Vec::new();
    for number in 1..=16 {
        let mut new = context.new_event(&format!("EVENT-{number:02}"));
        // The fifth is due with the fourth; the last two are not due yet.
        new.due = at(match number {
            5 => 4,
            15.. => 700 + number,
            _ => number,
        });
        actor.enqueue(&[new.clone()]).await?;
        let event = new.event;
        let token = context.token("earlier");
        match number {
            // Leases that are live, the first one before every free event.
            1 | 6 | 9 => {
                let claimed = actor.claim(&event, &token, at(20), at(900)).await?;
                check_eq("an earlier worker claims", claimed, Claimed::Claimed)?;
            }
            3 => {
                let claimed = actor.claim(&event, &token, at(20), at(60)).await?;
                check_eq("an earlier worker claims", claimed, Claimed::Claimed)?;
                let acked = actor.ack(&event, &token, at(30)).await?;
                check_eq("an earlier worker acks", acked, Acked::Acked)?;
            }
            15.. => {}
            _ => free.push(event),
        }
    }
    check_eq("the free events", free.len(), FREE)?;
    Ok(free)
}
