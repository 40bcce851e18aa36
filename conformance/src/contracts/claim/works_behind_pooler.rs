//! The lease operations need nothing of the connection that they ran on before.
//!
//! # Promise
//! Behind a pooler in transaction mode every transaction, and every statement outside of one, may run on another
//! connection of the server than the one before, and no statement can be prepared under a name. Claims,
//! renewals, acks, releases and reservations work as ever: what they need to know is in the tables.
//!
//! # Steps
//! Every worker's connections take turns whenever no transaction is open; no statement is kept by name.
//! 1. A claims, confirms, renews, releases; B claims what was given back, and acks. Each operation runs on
//!    another connection than the one before. What the store does not offer is left out.
//! 2. A claims a batch, dies, and after its lease B claims the same: nothing that A's connections still
//!    hold is in the way.
//! 3. A reserves an event with its effect in one transaction; on another connection the reservation is there.
//!    A transaction that is rolled back leaves nothing, on whichever connection.
//! 4. Twenty events are drained by both workers in turn: nothing of an earlier transaction is missed.
//!
//! # How a violation looks
//! A lock of the session is taken on one connection and given up on another, where nobody holds it: the
//! event is locked until the pooler closes the first one. Or every second poll fails, because what was made
//! on one connection, such as a prepared statement, does not exist on the next.
//!
//! # Source
//! `goauthentik/authentik#23876`, `pgbouncer/pgbouncer#102`, `pgbouncer/pgbouncer#418`,
//! `pgdogdev/pgdog#1407`, `bensheldon/good_job#52`, `transact-rs/sqlx#67`, `jackc/pgx#1590`,
//! `graphile/worker#125`.

use leaseproof_engines::capability::StoreCapability;
use leaseproof_engines::lease::{Acked, Claimed, Confirmed, Released, Renewed, Reserved};
use leaseproof_engines::store::{SessionOptions, StoreOptions};
use leaseproof_engines::{Capability, ErrorKind};
use leaseproof_reports::Level;

use crate::contract::{Clocks, Contract, Scope};
use crate::harness::actor::Actor;
use crate::harness::context::Context;
use crate::harness::finding::{Finding, Judged, check_eq};
use crate::harness::standing::{Standing, check_standing};
use crate::worker::CONSUMER;

mod controls;

/// See the module's documentation.
pub static CONTRACT: Contract = Contract {
    id: "claim/works-behind-pooler",
    promise: "the lease operations need nothing of the connection that they ran on before",
    level: Level::Extended,
    requires: &[Capability::ConcurrentWriters],
    offers: &[StoreCapability::CallerTransactions, StoreCapability::ConcurrentSessions],
    scope: Scope::EachStrategy,
    clocks: Clocks::Any,
    source: "goauthentik/authentik#23876, pgbouncer/pgbouncer#102, pgbouncer/pgbouncer#418, \
             pgdogdev/pgdog#1407, bensheldon/good_job#52, transact-rs/sqlx#67, jackc/pgx#1590, \
             graphile/worker#125",
    controls: controls::CONTROLS,
    doc: include_str!("works_behind_pooler.rs"),
    run: |context| Box::pin(run(context)),
};

/// How many events the queue has.
const QUEUE: usize = 20;

async fn run(context: &Context) -> Judged {
    let rounds = match steps(context, true).await {
        Err(Finding::Errored(error)) if error.kind == ErrorKind::Fatal => {
            // What fails on one connection, too, says nothing about poolers.
            steps(&context.on_another_store(StoreOptions::default()).await?, false).await?;
            return Err(Finding::Broken(format!(
                "it works on one connection, but not pooled: {error}"
            )));
        }
        rounds => rounds?,
    };
    Ok(vec![format!(
        "workers whose every transaction ran on another connection drained {QUEUE} events in {rounds} claims"
    )])
}

/// Goes through every step; returns how many claims drained the queue.
async fn steps(context: &Context, pooled: bool) -> Result<usize, Finding> {
    let options = SessionOptions { pooled, ..SessionOptions::default() };
    let kind = if pooled { "pooled" } else { "on one connection" };
    let mut a = context.actor_with(&format!("A, {kind}"), &options).await?;
    let mut b = context.actor_with(&format!("B, {kind}"), &options).await?;
    one_event(context, &mut a, &mut b).await?;
    a_batch(context, &mut a, &mut b).await?;
    reservation(context, &mut a, &mut b).await?;
    drain(context, &mut a, &mut b).await
}

async fn one_event(context: &Context, a: &mut Actor, b: &mut Actor) -> Result<(), Finding> {
    let at = |step| context.at(step);
    let event = context.enqueued(a, "EVENT-1").await?;
    let token = context.token("A");
    let claimed = a.claim(&event, &token, at(100), at(150)).await?;
    check_eq("A claims", claimed, Claimed::Claimed)?;
    if a.has(StoreCapability::Confirm) {
        let confirmed = a.confirm(&event, &token, at(110)).await?;
        check_eq("A confirms on another connection", confirmed, Confirmed::Confirmed)?;
    }
    let renewed = a.renew(&event, &token, at(120), at(160)).await?;
    check_eq("A renews on another connection", renewed, Renewed::Renewed)?;
    // What is not given back is there for others at its deadline.
    let mut free = at(160);
    if a.has(StoreCapability::Release) {
        free = at(130);
        let released = a.release(&event, &token).await?;
        check_eq("A releases on another connection", released, Released::Released)?;
        check_standing("A has released", b, &event, &Standing::free(free)).await?;
    }
    let token = context.token("B");
    let claimed = b.claim(&event, &token, free, at(200)).await?;
    check_eq("B claims what A gave back or let go", claimed, Claimed::Claimed)?;
    let acked = b.ack(&event, &token, at(170)).await?;
    check_eq("B acks on another connection", acked, Acked::Acked)?;
    if b.has(StoreCapability::IdempotentAck) {
        let acked = b.ack(&event, &token, at(175)).await?;
        check_eq("B acks again on another connection", acked, Acked::AlreadyAcked)?;
    }
    Ok(())
}

async fn a_batch(context: &Context, a: &mut Actor, b: &mut Actor) -> Result<(), Finding> {
    let at = |step| context.at(step);
    let one = context.enqueued(a, "EVENT-2").await?;
    let two = context.enqueued(b, "EVENT-3").await?;
    let both = vec![one, two];
    let claimed = a.claim_batch(&context.batch("A", 10, at(200), at(250))).await?;
    check_eq("A claims a batch and dies", claimed, both.clone())?;
    let batch = context.batch("B", 10, at(250), at(300));
    check_eq("B claims it after the lease", b.claim_batch(&batch).await?, both.clone())?;
    for event in &both {
        let acked = b.ack(event, &batch.token, at(260)).await?;
        check_eq("B acks what it took over", acked, Acked::Acked)?;
    }
    Ok(())
}

async fn reservation(context: &Context, a: &mut Actor, b: &mut Actor) -> Result<(), Finding> {
    let event = context.enqueued(a, "EVENT-4").await?;
    a.begin().await?;
    let reserved = a.reserve(CONSUMER, &event).await?;
    check_eq("A reserves in a transaction", reserved, Reserved::Reserved)?;
    a.apply_effect(CONSUMER, &event).await?;
    a.rollback().await?;
    check_eq(
        "effects of a transaction that was rolled back",
        b.effects(CONSUMER, &event).await?,
        0,
    )?;
    a.begin().await?;
    let reserved = a.reserve(CONSUMER, &event).await?;
    check_eq("A reserves in its next transaction", reserved, Reserved::Reserved)?;
    a.apply_effect(CONSUMER, &event).await?;
    a.commit().await?;
    let reserved = b.reserve(CONSUMER, &event).await?;
    check_eq("B reserves after A's transaction", reserved, Reserved::Duplicate)?;
    check_eq("effects of A's transactions", b.effects(CONSUMER, &event).await?, 1)
}

async fn drain(context: &Context, a: &mut Actor, b: &mut Actor) -> Result<usize, Finding> {
    let at = |step| context.at(step);
    let new: Vec<_> = (0..QUEUE).map(|n| context.new_event(&format!("QUEUE-{n:02}"))).collect();
    b.enqueue(&new).await?;
    let (mut rounds, mut drained) = (0, 0);
    // EVENT-4 was reserved and never acked: it is in the queue too.
    while drained <= QUEUE && rounds <= QUEUE {
        rounds += 1;
        let worker = if rounds % 2 == 0 { &mut *a } else { &mut *b };
        let batch = context.batch("worker", 2, at(300), at(400));
        for event in worker.claim_batch(&batch).await? {
            let acked = worker.ack(&event, &batch.token, at(310)).await?;
            check_eq("a worker acks", acked, Acked::Acked)?;
            drained += 1;
        }
    }
    check_eq("events drained", drained, QUEUE + 1)?;
    Ok(rounds)
}
