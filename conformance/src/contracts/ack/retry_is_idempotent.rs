//! A worker that does not know whether its ack was committed asks again and learns it.
//!
//! # Promise
//! An ack repeated with the same token, after the first one took effect, is answered `AlreadyAcked`,
//! however late, on whatever connection, and inside whatever transaction it is repeated. It is not answered
//! `Refused`, which would mean that the event belongs to somebody else, nor `Acked`, which would mean
//! that it was still open. Any other token learns `Refused`. An ack that was rolled back has not been.
//!
//! # Steps
//! 1. A claims at 100 until 150, acks at 120, and repeats it: at once, on another connection, after its
//!    deadline, and in a transaction of another connection that had been reading when the ack was committed.
//! 2. B, who never owned the event, and the empty token are refused.
//! 3. A unit: A acks, repeats it (already acked), rolls back. The event is A's still; A acks (acked).
//! 4. A history: A1 claims and releases, A2 claims and lets the lease expire, B claims and acks. The
//!    repeated acks of A1 and A2 are refused, B's is already acked.
//! 5. Where a session can be ended from outside: A acks, its connection is cut, it asks again on a new
//!    one.
//!
//! The row is the same before and after every repetition.
//!
//! # How a violation looks
//! The worker is told that it lost an event that it had finished, and runs compensation for a success;
//! or a stranger is told that it has acked.
//!
//! # Source
//! get-convex/convex-backend#559, vitessio/vitess#2085, InditexTech/scs-outbox#94,
//! Particular/docs.particular.net#1816.

use std::time::Duration;

use leaseproof_engines::Capability;
use leaseproof_engines::lease::{Acked, Claimed, EventId, FencingToken, Instant, Released};
use leaseproof_engines::store::SessionOptions;
use leaseproof_reports::Level;

use crate::contract::{Clocks, Contract, Scope};
use crate::harness::actor::Actor;
use crate::harness::context::Context;
use crate::harness::finding::{Finding, Judged, check_eq};
use crate::harness::retries::Retries;
use crate::harness::standing::{Standing, check_refused, check_standing};

mod controls;

/// See the module's documentation.
pub static CONTRACT: Contract = Contract {
    id: "ack/retry-is-idempotent",
    promise: "an ack repeated with the same token is answered `AlreadyAcked`, with any other token `Refused`",
    level: Level::Core,
    requires: &[],
    offers: &[],
    scope: Scope::Once,
    clocks: Clocks::Any,
    source: "get-convex/convex-backend#559, vitessio/vitess#2085, InditexTech/scs-outbox#94, \
             Particular/docs.particular.net#1816",
    controls: controls::CONTROLS,
    doc: include_str!("retry_is_idempotent.rs"),
    run: |context| Box::pin(run(context)),
};

/// The shortest lock timeout that every engine can have.
const SOON: Duration = Duration::from_secs(1);

async fn run(context: &Context) -> Judged {
    let mut reader = context.actor("reader").await?;
    let mut a = context.actor("A").await?;
    let mut second = context.actor("A, second connection").await?;
    let (mut repeated, mut refused) = (0, 0);

    let event = context.enqueued(&mut reader, "EVENT-81").await?;
    let token = acked_by_a(context, &mut a, &event).await?;
    let done = (&event, &Standing::done(&token, context.at(150)));
    for (now, on_second) in [(120, false), (120, true), (150, false), (1000, true)] {
        let actor = if on_second { &mut second } else { &mut a };
        learns(&mut reader, actor, done, &token, context.at(now), Acked::AlreadyAcked).await?;
        repeated += 1;
    }
    for stranger in [context.token("B"), FencingToken::new("")] {
        learns(&mut reader, &mut a, done, &stranger, context.at(130), Acked::Refused).await?;
        refused += 1;
    }
    let retries = in_a_reading_unit(context, &mut reader, &mut second).await?;
    in_a_unit_rolled_back(context, &mut reader, &mut a).await?;
    after_a_history(context, &mut reader, &mut a, &mut second).await?;
    (repeated, refused) = (repeated + 3, refused + 3);
    if context.has(Capability::Terminate) {
        let mut cut = context.actor("A, to be cut").await?;
        let event = context.enqueued(&mut reader, "EVENT-84").await?;
        let token = acked_by_a(context, &mut cut, &event).await?;
        context.terminate(cut.id()).await?;
        let mut again = context.actor("A, connected anew").await?;
        let done = (&event, &Standing::done(&token, context.at(150)));
        learns(&mut reader, &mut again, done, &token, context.at(125), Acked::AlreadyAcked).await?;
        repeated += 1;
    }
    Ok(vec![
        format!(
            "{repeated} repeated acks were answered `AlreadyAcked`, {refused} of others `Refused`"
        ),
        format!("{retries} retryable errors"),
    ])
}

async fn acked_by_a(
    context: &Context,
    a: &mut Actor,
    event: &EventId,
) -> Result<FencingToken, Finding> {
    let at = |step| context.at(step);
    let token = context.token("A");
    let claimed = a.claim(event, &token, at(100), at(150)).await?;
    check_eq("A claims at 100 until 150", claimed, Claimed::Claimed)?;
    check_eq("A acks at 120", a.ack(event, &token, at(120)).await?, Acked::Acked)?;
    check_standing("A's ack", a, event, &Standing::done(&token, at(150))).await?;
    Ok(token)
}

/// Repeats an ack, which must be answered as promised and change nothing.
async fn learns(
    reader: &mut Actor,
    actor: &mut Actor,
    (event, before): (&EventId, &Standing),
    token: &FencingToken,
    now: Instant,
    promised: Acked,
) -> Result<(), Finding> {
    let answer = actor.ack(event, token, now).await;
    let step = format!("{} repeats the ack of {event} with `{token}` at {now}", actor.name());
    check_refused(&step, reader, event, before, answer, promised).await
}

/// The repetition is part of a transaction that began to read before the ack was committed.
async fn in_a_reading_unit(
    context: &Context,
    reader: &mut Actor,
    second: &mut Actor,
) -> Result<usize, Finding> {
    let at = |step| context.at(step);
    // Where reading locks, the ack gives up soon and the reading transaction gives way.
    let options = SessionOptions { lock_timeout: SOON, ..SessionOptions::default() };
    let mut a = context.actor_with("A, in a hurry", &options).await?;
    let event = context.enqueued(reader, "EVENT-82").await?;
    let token = context.token("A");
    let claimed = a.claim(&event, &token, at(100), at(150)).await?;
    check_eq("A claims at 100 until 150", claimed, Claimed::Claimed)?;
    second.begin_snapshot().await?;
    second.candidates(10, at(110)).await?;
    let mut retries = Retries::default();
    let mut acked = a.ack(&event, &token, at(120)).await;
    while retries.again(context.recorder(), &acked) {
        second.rollback().await?;
        acked = a.ack(&event, &token, at(120)).await;
        second.begin_snapshot().await?;
    }
    check_eq("A acks while another transaction reads", acked?, Acked::Acked)?;
    let mut answer = second.ack(&event, &token, at(130)).await;
    // An engine that cannot go on from the old snapshot says so; the whole transaction is run again.
    while retries.again(context.recorder(), &answer) {
        second.rollback().await?;
        second.begin_snapshot().await?;
        answer = second.ack(&event, &token, at(130)).await;
    }
    check_eq("A repeats its ack in a transaction that read before", answer?, Acked::AlreadyAcked)?;
    second.rollback().await?;
    Ok(retries.total)
}

async fn in_a_unit_rolled_back(
    context: &Context,
    reader: &mut Actor,
    a: &mut Actor,
) -> Result<(), Finding> {
    let at = |step| context.at(step);
    let event = context.enqueued(reader, "EVENT-83").await?;
    let token = context.token("A");
    let claimed = a.claim(&event, &token, at(100), at(150)).await?;
    check_eq("A claims at 100 until 150", claimed, Claimed::Claimed)?;
    a.begin().await?;
    check_eq("A acks in a transaction", a.ack(&event, &token, at(120)).await?, Acked::Acked)?;
    let acked = a.ack(&event, &token, at(121)).await?;
    check_eq("A repeats its ack in the same transaction", acked, Acked::AlreadyAcked)?;
    a.rollback().await?;
    check_standing("A rolls its ack back", reader, &event, &Standing::held(&token, at(150)))
        .await?;
    let acked = a.ack(&event, &token, at(130)).await?;
    check_eq("A repeats an ack that was rolled back", acked, Acked::Acked)
}

async fn after_a_history(
    context: &Context,
    reader: &mut Actor,
    a: &mut Actor,
    b: &mut Actor,
) -> Result<(), Finding> {
    let at = |step| context.at(step);
    let event = context.enqueued(reader, "with-history").await?;
    let (released, expired, current) = (context.token("A"), context.token("A"), context.token("B"));
    let claimed = a.claim(&event, &released, at(100), at(150)).await?;
    check_eq("A claims at 100 until 150", claimed, Claimed::Claimed)?;
    check_eq("A releases", a.release(&event, &released).await?, Released::Released)?;
    let claimed = a.claim(&event, &expired, at(110), at(150)).await?;
    check_eq("A claims again at 110 until 150", claimed, Claimed::Claimed)?;
    // Not acked yet, and over: that is no "already".
    let over = (&event, &Standing::held(&expired, at(150)));
    learns(reader, a, over, &expired, at(150), Acked::Refused).await?;
    let claimed = b.claim(&event, &current, at(150), at(250)).await?;
    check_eq("B claims at 150 until 250", claimed, Claimed::Claimed)?;
    check_eq("B acks at 200", b.ack(&event, &current, at(200)).await?, Acked::Acked)?;
    let done = (&event, &Standing::done(&current, at(250)));
    learns(reader, a, done, &released, at(210), Acked::Refused).await?;
    learns(reader, a, done, &expired, at(210), Acked::Refused).await?;
    learns(reader, b, done, &current, at(210), Acked::AlreadyAcked).await
}
