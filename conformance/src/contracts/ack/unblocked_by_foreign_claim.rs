//! An ack does not wait for another worker's open claim of other events.
//!
//! # Promise
//! A worker that claims a batch in a transaction, and has not committed yet, holds up nobody but those who want
//! the events of that batch. The owner of another event renews, confirms and acks it at once, wherever
//! its event stands in the order in which the claim looked for free ones.
//!
//! # Steps
//! Six events are due one after the other. A owns the first, the third, the fifth; the rest are free.
//! 1. B claims two in an open transaction, with the strategy of this case: it has looked past A's first two.
//! 2. With B's claim still open, A confirms and renews the first event and acks all three of its own.
//!    All of it returns; A is not seen waiting.
//! 3. B commits, and owns the two events it was given.
//!
//! Some engines keep the locks of rows that a locking read has passed over. On those the strategy
//! `skip-locked` cannot keep this promise, which is then among the known failures, with the reason.
//!
//! # How a violation looks
//! A's ack is seen waiting until B's transaction ends: the claim has locked rows or index entries of events that
//! it did not take. With transactions that last, acks time out and finished work is done again.
//!
//! # Source
//! laravel/framework#31660, laravel/framework#7046, rails/solid_queue#162, rails/solid_queue#240,
//! symfony/symfony#41541, symfony/symfony#47366, collectiveidea/delayed_job_active_record#63,
//! apache/airflow#66794.

use std::pin::pin;

use leaseproof_engines::Capability;
use leaseproof_engines::lease::{Acked, Claimed, Confirmed, EventId, FencingToken, Renewed};
use leaseproof_reports::Level;

use crate::contract::{Clocks, Contract, Scope};
use crate::harness::actor::Actor;
use crate::harness::context::{Context, Progress};
use crate::harness::finding::{Finding, Judged, check_eq};
use crate::harness::standing::{Standing, check_standing};

mod controls;

/// See the module's documentation.
pub static CONTRACT: Contract = Contract {
    id: "ack/unblocked-by-foreign-claim",
    promise: "an ack does not wait for another worker's open claim of other events",
    level: Level::Extended,
    requires: &[Capability::ConcurrentWriters, Capability::WaitObservation],
    offers: &[],
    scope: Scope::EachStrategy,
    clocks: Clocks::Any,
    source: "laravel/framework#31660, laravel/framework#7046, rails/solid_queue#162, \
             rails/solid_queue#240, symfony/symfony#41541, symfony/symfony#47366, \
             collectiveidea/delayed_job_active_record#63, apache/airflow#66794",
    controls: controls::CONTROLS,
    doc: include_str!("unblocked_by_foreign_claim.rs"),
    run: |context| Box::pin(run(context)),
};

const WAITED: &str = "the owner of an event was seen waiting for an open claim of other events";

async fn run(context: &Context) -> Judged {
    let at = |step| context.at(step);
    let mut a = context.actor("A").await?;
    let mut b = context.actor("B").await?;
    let token = context.token("A");
    let mut events = Vec::new();
    for number in 1..=6 {
        let mut new = context.new_event(&format!("EVENT-8{number}"));
        new.due = at(number);
        a.enqueue(&[new.clone()]).await?;
        events.push(new.event);
    }
    let owned = [&events[0], &events[2], &events[4]];
    for event in owned {
        let claimed = a.claim(event, &token, at(100), at(150)).await?;
        check_eq("A claims at 100 until 150", claimed, Claimed::Claimed)?;
    }
    b.begin().await?;
    let batch = context.batch("B", 2, at(110), at(200));
    let free = vec![events[1].clone(), events[3].clone()];
    check_eq("B claims two in an open transaction", b.claim_batch(&batch).await?, free.clone())?;

    let session = a.id();
    {
        let work = pin!(finish(context, &mut a, &token, owned));
        match context.until_stuck(session, work).await? {
            Progress::Finished(done) => done?,
            Progress::Waiting => return Err(Finding::Broken(WAITED.to_owned())),
        }
    }
    b.commit().await?;
    for event in owned {
        let step = "A acks while B's claim is open";
        let until = if event == &events[0] { 160 } else { 150 };
        check_standing(step, &mut b, event, &Standing::done(&token, at(until))).await?;
    }
    for event in &free {
        let stored = Standing::held(&batch.token, at(200));
        check_standing("B commits its claim", &mut a, event, &stored).await?;
    }
    Ok(vec![
        "5 operations of an owner returned while a claim of 2 other events was open".to_owned(),
    ])
}

async fn finish(
    context: &Context,
    a: &mut Actor,
    token: &FencingToken,
    owned: [&EventId; 3],
) -> Result<(), Finding> {
    let at = |step| context.at(step);
    let confirmed = a.confirm(owned[0], token, at(120)).await?;
    check_eq("A confirms while B's claim is open", confirmed, Confirmed::Confirmed)?;
    let renewed = a.renew(owned[0], token, at(120), at(160)).await?;
    check_eq("A renews while B's claim is open", renewed, Renewed::Renewed)?;
    for event in owned {
        let acked = a.ack(event, token, at(120)).await?;
        check_eq("A acks while B's claim is open", acked, Acked::Acked)?;
    }
    Ok(())
}
