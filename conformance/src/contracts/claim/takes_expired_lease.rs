//! A claim at exactly the deadline of a lease takes the event over and shuts the old owner out.
//!
//! # Promise
//! A lease is over at its deadline, not after it: at `now == lease_until` a claim succeeds, one
//! microsecond before it is refused. The event is then held by the new token until the new deadline, and
//! one attempt more is counted. From there on the old token renews nothing, acks nothing and releases
//! nothing, although its owner may still be at work.
//!
//! # Steps
//! For a claim of one event, and for a claim of a batch:
//! 1. A claims at 100 until 150.
//! 2. B claims one microsecond before 150 and gets nothing. B claims at 150 until 250 and succeeds.
//! 3. A renews at 160, acks and releases. Each is refused, and the event stays B's until 250.
//! 4. C claims long after 250 and succeeds; B is shut out as A was.
//! 5. C acks. The acks of A and B are refused, also as repetitions of an earlier ack.
//!
//! Then A claims until 150 and renews to 200: B gets nothing one microsecond before 200, and the event
//! at 200.
//!
//! # How a violation looks
//! An event whose worker died is never delivered again; or a worker that was slow acks an event that
//! somebody else is publishing; or its late release hands an event to a third worker.
//!
//! # Source
//! The renewal example: at 200 A can no longer renew, and B claims.

use leaseproof_engines::capability::StoreCapability;
use leaseproof_engines::lease::{Acked, EventId, FencingToken, Instant, Released, Renewed};
use leaseproof_reports::Level;

use crate::contract::{Clocks, Contract, Scope};
use crate::harness::actor::{Actor, Way};
use crate::harness::context::Context;
use crate::harness::finding::{Finding, Judged, check_eq};
use crate::harness::standing::{Standing, check_attempts, check_standing};

mod controls;

/// See the module's documentation.
pub static CONTRACT: Contract = Contract {
    id: "claim/takes-expired-lease",
    promise: "a claim at exactly the deadline of a lease succeeds and fences the old token",
    level: Level::Core,
    requires: &[],
    offers: &[],
    scope: Scope::EachStrategy,
    clocks: Clocks::Logical,
    source: "the renewal example",
    controls: controls::CONTROLS,
    doc: include_str!("takes_expired_lease.rs"),
    run: |context| Box::pin(run(context)),
};

async fn run(context: &Context) -> Judged {
    let mut a = context.actor("A").await?;
    let mut b = context.actor("B").await?;
    let mut c = context.actor("C").await?;
    for way in Way::BOTH {
        let event = context.enqueued(&mut a, &format!("EVENT-{way:?}")).await?;
        two_takeovers(context, [&mut a, &mut b, &mut c], &event, way).await?;
    }
    renewed_lease(context, &mut a, &mut b).await?;
    Ok(vec![
        "5 takeovers, 3 of them at exactly the deadline; a microsecond before it each was refused"
            .to_owned(),
        "old tokens were refused each time: to renew, to ack, and to release".to_owned(),
    ])
}

/// Claims the one event that is pending; the token by which it got it.
async fn claim(
    context: &Context,
    actor: &mut Actor,
    event: &EventId,
    way: Way,
    (now, until): (Instant, Instant),
) -> Result<Option<FencingToken>, Finding> {
    let batch = context.batch(actor.name(), 5, now, until);
    Ok(actor.claim_by(way, event, &batch).await?.then_some(batch.token))
}

async fn two_takeovers(
    context: &Context,
    [a, b, c]: [&mut Actor; 3],
    event: &EventId,
    way: Way,
) -> Result<(), Finding> {
    let at = |step| context.at(step);
    let token_a = won("A at 100", claim(context, a, event, way, (at(100), at(150))).await?)?;
    let early = claim(context, b, event, way, (context.just_before(150), at(250))).await?;
    check_eq("B claims a microsecond before A's deadline 150 and gets it", early.is_some(), false)?;
    owned(a, event, &token_a, at(150), 1).await?;
    let token_b =
        won("B at A's deadline 150", claim(context, b, event, way, (at(150), at(250))).await?)?;
    owned(a, event, &token_b, at(250), 2).await?;
    shut_out(context, a, event, &token_a, at(160)).await?;
    owned(a, event, &token_b, at(250), 2).await?;

    let token_c = won("C at 400", claim(context, c, event, way, (at(400), at(500))).await?)?;
    owned(a, event, &token_c, at(500), 3).await?;
    shut_out(context, b, event, &token_b, at(410)).await?;
    owned(a, event, &token_c, at(500), 3).await?;

    check_eq("C acks", c.ack(event, &token_c, at(420)).await?, Acked::Acked)?;
    check_eq("A acks after C's ack", a.ack(event, &token_a, at(430)).await?, Acked::Refused)?;
    check_eq("B acks after C's ack", b.ack(event, &token_b, at(430)).await?, Acked::Refused)
}

/// The deadline that counts is the renewed one.
async fn renewed_lease(context: &Context, a: &mut Actor, b: &mut Actor) -> Result<(), Finding> {
    let at = |step| context.at(step);
    let event = context.enqueued(a, "EVENT-renewed").await?;
    let token_a = won("A at 100", claim(context, a, &event, Way::One, (at(100), at(150))).await?)?;
    let renewed = a.renew(&event, &token_a, at(120), at(200)).await?;
    check_eq("A renews to 200", renewed, Renewed::Renewed)?;
    let early = claim(context, b, &event, Way::One, (context.just_before(200), at(300))).await?;
    check_eq(
        "B claims a microsecond before A's renewed deadline 200 and gets it",
        early.is_some(),
        false,
    )?;
    owned(a, &event, &token_a, at(200), 1).await?;
    let taken = claim(context, b, &event, Way::One, (at(200), at(300))).await?;
    let token_b = won("B at A's renewed deadline 200", taken)?;
    owned(a, &event, &token_b, at(300), 2).await?;
    shut_out(context, a, &event, &token_a, at(210)).await?;
    owned(a, &event, &token_b, at(300), 2).await
}

fn won(who: &str, token: Option<FencingToken>) -> Result<FencingToken, Finding> {
    token.ok_or_else(|| {
        Finding::Broken(format!("{who} claimed an event that was free and did not get it"))
    })
}

/// The old token can do nothing any more.
async fn shut_out(
    context: &Context,
    actor: &mut Actor,
    event: &EventId,
    token: &FencingToken,
    now: Instant,
) -> Result<(), Finding> {
    let name = actor.name().to_owned();
    let step = |what: &str| format!("{name} {what} {event} after it was taken over");
    let renewed = actor.renew(event, token, now, context.at(900)).await?;
    check_eq(&step("renews"), renewed, Renewed::Refused)?;
    check_eq(&step("acks"), actor.ack(event, token, now).await?, Acked::Refused)?;
    if actor.has(StoreCapability::Release) {
        check_eq(&step("releases"), actor.release(event, token).await?, Released::Refused)?;
    }
    Ok(())
}

/// The event is held by the token until the deadline, by its so many-th claim.
async fn owned(
    probe: &mut Actor,
    event: &EventId,
    token: &FencingToken,
    until: Instant,
    attempt: i64,
) -> Result<(), Finding> {
    let step = format!("{event} was claimed with `{token}` until {until}");
    check_standing(&step, probe, event, &Standing::held(token, until)).await?;
    check_attempts(&step, probe, event, attempt).await
}
