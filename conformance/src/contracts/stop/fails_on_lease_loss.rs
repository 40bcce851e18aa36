//! A worker whose renewal is refused, fails or hangs stops by its last confirmed deadline.
//!
//! # Promise
//! The permission to work ends at the last deadline that the store has confirmed, at the latest. A refused
//! renewal ends it at once: somebody else has the event. A renewal that fails or does not return confirms
//! nothing, so the old deadline stands; within it the worker may try again. After the deadline another
//! worker gets the event, and whatever the first one still sends is refused.
//!
//! # Steps
//! A claims at 100 until 150, each time. The permission is asked right before 150 and at 150, also while the
//! renewal is on its way.
//! 1. Refused: the event was taken from A, where the store takes events back, and B has it. A renews at 125:
//!    `Refused`. It may do nothing at 126.
//! 2. Failed: A's renewal at 120 ends with an error, because its connection was ended from outside, where
//!    the engine can do that. A may still work right before 150, and not at 150.
//! 3. Failed and tried again: the row stays locked for longer than A's lock timeout. The second renewal, at
//!    130 until 200, is confirmed. A may work until 200.
//! 4. Hanging: B holds the row; A's renewal at 120 until 170 is seen waiting. At 150 A may not work any more.
//!    B claims at 150 and commits. A's renewal returns `Refused`.
//! 5. After each loss B has the event under its own token, and A's late renewal and ack are refused.
//!
//! # How a violation looks
//! The worker goes on after an error that was only logged, or while its renewal hangs: two work on the
//! event, each convinced that it is the owner.
//!
//! # Source
//! bytedance/deer-flow#4431, kagkarlsson/db-scheduler#402, gchq/stroom#5772, stablemates/workhorse#120,
//! akkadotnet/Akka.Management#3405 (gave up too early), rails/solid_queue#748, kagkarlsson/db-scheduler#2.

use std::time::Duration;

use leaseproof_engines::capability::StoreCapability;
use leaseproof_engines::lease::{Acked, Claimed, EventId, FencingToken, Released, Renewed};
use leaseproof_engines::store::{LockWait, Result as Answer, SessionOptions};
use leaseproof_engines::{Capability, ErrorKind};
use leaseproof_reports::Level;

use crate::contract::{Clocks, Contract, Scope};
use crate::harness::actor::Actor;
use crate::harness::context::{Context, Progress};
use crate::harness::finding::{Finding, Judged, check, check_eq};
use crate::harness::standing::{Standing, check_refused, check_standing};
use crate::worker::{Permit, Worker};

mod controls;

/// See the module's documentation.
pub static CONTRACT: Contract = Contract {
    id: "stop/fails-on-lease-loss",
    promise: "renewals that return zero rows, fail or hang past the deadline all stop the worker by its last confirmed deadline",
    level: Level::Core,
    requires: &[],
    offers: &[StoreCapability::CallerTransactions, StoreCapability::ConcurrentSessions],
    scope: Scope::Once,
    clocks: Clocks::Any,
    source: "bytedance/deer-flow#4431, kagkarlsson/db-scheduler#402, gchq/stroom#5772, stablemates/workhorse#120, akkadotnet/Akka.Management#3405, rails/solid_queue#748, kagkarlsson/db-scheduler#2",
    controls: controls::CONTROLS,
    doc: include_str!("fails_on_lease_loss.rs"),
    run: |context| Box::pin(run(context)),
};

async fn run(context: &Context) -> Judged {
    let mut b = context.actor("B").await?;
    let mut evidence = Vec::new();
    if context.offers(StoreCapability::Release) {
        refused(context, &mut b).await?;
        evidence.push("a refused renewal ended the permission at once".to_owned());
    }
    if context.has(Capability::Terminate) {
        let failure = failed(context, &mut b).await?;
        evidence.push(format!(
            "a renewal on a lost connection ({failure}) left the confirmed deadline"
        ));
    }
    let failure = tried_again(context, &mut b).await?;
    evidence.push(format!(
        "a renewal that ran into a lock timeout ({failure}) left it too, and the next was confirmed"
    ));
    hanging(context, &mut b).await?;
    evidence.push(
        "a renewal was seen hanging, and the permission ended at the confirmed deadline".to_owned(),
    );
    Ok(evidence)
}

/// A worker that owns one event from 100 until 150.
async fn owner(context: &Context, actor: Actor, id: &str) -> Result<(Worker, EventId), Finding> {
    let mut a = Worker::with(context, actor);
    let event = context.enqueued(&mut a.actor, id).await?;
    let claimed = a.poll(context, 1, context.at(100), context.at(150)).await?;
    check_eq("A claims", &claimed, &vec![event.clone()])?;
    Ok((a, event))
}

/// Right before the deadline the permission stands, at the deadline it does not.
fn ends_at(context: &Context, permit: &Permit, deadline: i64, when: &str) -> Result<(), Finding> {
    check(permit.allows(context.just_before(deadline)), || {
        format!("{when}: A may not work right before {deadline}, within its confirmed lease")
    })?;
    check(!permit.allows(context.at(deadline)), || {
        format!("{when}: A may still work at {deadline}, when its confirmed lease is over")
    })
}

/// B has the event by now; whatever A sends with its old token is refused.
async fn late(
    context: &Context,
    b: &mut Actor,
    event: &EventId,
    stale: &FencingToken,
    fresh: &FencingToken,
    when: &str,
) -> Result<(), Finding> {
    let owned = Standing::held(fresh, context.at(250));
    check_standing(when, b, event, &owned).await?;
    let answer = b.renew(event, stale, context.at(149), context.at(300)).await;
    let step = format!("{when}: A's late renewal at 149");
    check_refused(&step, b, event, &owned, answer, Renewed::Refused).await?;
    let answer = b.ack(event, stale, context.at(149)).await;
    let step = format!("{when}: A's late ack at 149");
    check_refused(&step, b, event, &owned, answer, Acked::Refused).await?;
    let acked = b.ack(event, fresh, context.at(240)).await?;
    check_eq(&format!("{when}: B acks"), acked, Acked::Acked)
}

/// B takes the event when A's lease is over.
async fn taken_over(
    context: &Context,
    b: &mut Actor,
    event: &EventId,
    when: &str,
) -> Result<FencingToken, Finding> {
    let token = context.token("B");
    let claimed = b.claim(event, &token, context.at(150), context.at(250)).await?;
    check_eq(&format!("{when}: B claims at A's deadline"), claimed, Claimed::Claimed)?;
    Ok(token)
}

fn token_of(a: &Worker, event: &EventId, context: &Context) -> FencingToken {
    a.token(event).unwrap_or_else(|| context.token("A"))
}

async fn refused(context: &Context, b: &mut Actor) -> Result<(), Finding> {
    let when = "a refused renewal";
    let (mut a, event) = owner(context, context.actor("A").await?, "refused").await?;
    let (permit, stale) = (a.permit(&event), token_of(&a, &event, context));
    let released = b.release(&event, &stale).await?;
    check_eq("an operator takes the event from A", released, Released::Released)?;
    let fresh = context.token("B");
    let claimed = b.claim(&event, &fresh, context.at(120), context.at(250)).await?;
    check_eq("B claims it", claimed, Claimed::Claimed)?;
    let renewed = a.renew(&event, context.at(125), context.at(200)).await?;
    check_eq("A renews what B has", renewed, Renewed::Refused)?;
    check(!permit.allows(context.at(126)), || format!("{when}: A may still work at 126"))?;
    late(context, b, &event, &stale, &fresh, when).await
}

/// What a renewal ended with that could not be made.
fn failure(answer: Answer<Renewed>) -> Result<String, Finding> {
    match answer {
        Err(error) if matches!(error.kind, ErrorKind::Retryable | ErrorKind::Unavailable) => {
            Ok(format!("{} error, code {}", error.kind, error.code.as_deref().unwrap_or("none")))
        }
        Err(error) => Err(Finding::Errored(error)),
        Ok(renewed) => {
            Err(Finding::Broken(format!("a renewal that could not be made returned {renewed:?}")))
        }
    }
}

async fn failed(context: &Context, b: &mut Actor) -> Result<String, Finding> {
    let when = "a renewal on a connection that is gone";
    let (mut a, event) = owner(context, context.actor("A").await?, "failed").await?;
    let (permit, stale) = (a.permit(&event), token_of(&a, &event, context));
    context.terminate(a.actor.id()).await?;
    let failure = failure(a.renew(&event, context.at(120), context.at(170)).await)?;
    ends_at(context, &permit, 150, when)?;
    let fresh = taken_over(context, b, &event, when).await?;
    late(context, b, &event, &stale, &fresh, when).await?;
    Ok(failure)
}

async fn tried_again(context: &Context, b: &mut Actor) -> Result<String, Finding> {
    let when = "a renewal tried again";
    let impatient =
        SessionOptions { lock_timeout: Duration::from_millis(50), ..SessionOptions::default() };
    let actor = context.actor_with("A", &impatient).await?;
    let (mut a, event) = owner(context, actor, "tried-again").await?;
    let permit = a.permit(&event);
    b.begin().await?;
    b.lock(&event, LockWait::Block).await?;
    let answer = a.renew(&event, context.at(120), context.at(170)).await;
    b.rollback().await?;
    let failure = failure(answer)?;
    ends_at(context, &permit, 150, when)?;
    let renewed = a.renew(&event, context.at(130), context.at(200)).await?;
    check_eq("A renews again within its lease", renewed, Renewed::Renewed)?;
    ends_at(context, &permit, 200, when)?;
    let acked = a.finish(&event, context.at(190)).await?;
    check_eq("A acks under its renewed lease", acked, Acked::Acked)?;
    Ok(failure)
}

async fn hanging(context: &Context, b: &mut Actor) -> Result<(), Finding> {
    let when = "a hanging renewal";
    let (mut a, event) = owner(context, context.actor("A").await?, "hanging").await?;
    let (permit, stale) = (a.permit(&event), token_of(&a, &event, context));
    b.begin().await?;
    b.lock(&event, LockWait::Block).await?;
    let waiter = [a.actor.id()];
    let (fresh, answer) = {
        let mut renewal = std::pin::pin!(a.renew(&event, context.at(120), context.at(170)));
        let progress = context.until_waiting(&waiter, renewal.as_mut()).await?;
        if let Progress::Finished(answer) = progress {
            // Its lease is live, so that it may take effect; what was to be seen is that it hangs.
            let message = format!("no proof: the renewal of a locked row returned {:?}", answer?);
            return Err(Finding::Inconclusive(message));
        }
        ends_at(context, &permit, 150, when)?;
        let fresh = taken_over(context, b, &event, when).await?;
        b.commit().await?;
        (fresh, renewal.await)
    };
    let renewed = match answer {
        // At a stricter isolation the engine may ask for the renewal to be made again.
        Err(error) if error.is_retryable() => {
            a.renew(&event, context.at(151), context.at(170)).await?
        }
        answer => answer?,
    };
    check_eq("A's renewal returns after B's claim", renewed, Renewed::Refused)?;
    check(!permit.allows(context.at(149)), || {
        format!("{when}: A may still work after the refusal")
    })?;
    late(context, b, &event, &stale, &fresh, when).await
}
