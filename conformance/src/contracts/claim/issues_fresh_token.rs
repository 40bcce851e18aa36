//! The same worker that claims the same event again gets a new token, and its first attempt is over.
//!
//! # Promise
//! A token names one acquisition, not a worker: not a host, a process or a slot. When a worker loses
//! its lease and claims the event again under the same name, its first attempt, which may still be
//! running, can no longer renew, ack or release. While the lease is live the worker's own name is no
//! way in either.
//!
//! # Steps
//! Two sessions are two attempts of one worker, both named `host-1`. By a claim of one event, and by a
//! claim of a batch:
//! 1. The first attempt claims at 100 until 150.
//! 2. The second attempt claims at 120 and gets nothing: the lease is live, whoever asks.
//! 3. The second attempt claims at 150 until 250. Its token is not the first one's.
//! 4. The first attempt renews, acks and releases at 160. Each is refused, and the event stays the second
//!    attempt's until 250.
//! 5. The second attempt renews. Where the store takes events back, it gives this one back and claims it once
//!    more, with a third token: renewing and giving back with the second token is now refused.
//! 6. The second attempt acks. The first attempt's ack is refused, not taken for a repetition.
//!
//! # How a violation looks
//! An abandoned attempt keeps renewing the lease of its successor, so that a crash of the successor is
//! never noticed, or acks work that the successor has not done.
//!
//! # Source
//! `aegra/aegra#502`, `aegra/aegra#547`, `brendanlong/lion-reader#917`,
//! `collectiveidea/delayed_job#534`, `maxcountryman/underway#111`.

use leaseproof_engines::capability::StoreCapability;
use leaseproof_engines::lease::{Acked, EventId, FencingToken, Instant, Released, Renewed};
use leaseproof_reports::Level;

use crate::contract::{Clocks, Contract, Scope};
use crate::harness::actor::{Actor, Way};
use crate::harness::context::Context;
use crate::harness::finding::{Finding, Judged, check, check_eq};
use crate::harness::standing::{Standing, check_standing};

mod controls;

/// What both attempts are called.
const WORKER: &str = "host-1";

/// See the module's documentation.
pub static CONTRACT: Contract = Contract {
    id: "claim/issues-fresh-token",
    promise: "a second acquisition by the same worker has a token of its own and fences the first",
    level: Level::Core,
    requires: &[],
    offers: &[],
    scope: Scope::EachStrategy,
    clocks: Clocks::Any,
    source: "aegra/aegra#502, aegra/aegra#547, brendanlong/lion-reader#917, \
             collectiveidea/delayed_job#534, maxcountryman/underway#111",
    controls: controls::CONTROLS,
    doc: include_str!("issues_fresh_token.rs"),
    run: |context| Box::pin(run(context)),
};

async fn run(context: &Context) -> Judged {
    let mut attempts = [context.actor(WORKER).await?, context.actor(WORKER).await?];
    for way in Way::BOTH {
        let event = context.enqueued(&mut attempts[0], &format!("EVENT-{way:?}")).await?;
        let [first, second] = &mut attempts;
        two_attempts(context, first, second, &event, way).await?;
    }
    Ok(vec![
        "every acquisition under one name had a token of its own; attempts that were over were refused"
            .to_owned(),
    ])
}

async fn two_attempts(
    context: &Context,
    first: &mut Actor,
    second: &mut Actor,
    event: &EventId,
    way: Way,
) -> Result<(), Finding> {
    let at = |step| context.at(step);
    let one = context.batch(WORKER, 5, at(100), at(150));
    check_eq("the first attempt claims at 100", first.claim_by(way, event, &one).await?, true)?;
    let early = context.batch(WORKER, 5, at(120), at(220));
    let claimed = second.claim_by(way, event, &early).await?;
    check_eq("the second attempt gets its own name's live lease at 120", claimed, false)?;
    let two = context.batch(WORKER, 5, at(150), at(250));
    check_eq("the second attempt claims at 150", second.claim_by(way, event, &two).await?, true)?;
    own(&two.token, &[&one.token])?;
    let held = Standing::held(&two.token, at(250));
    check_standing("the second attempt has claimed", second, event, &held).await?;
    over(context, first, event, &one.token, at(160)).await?;
    check_standing("the first attempt was refused", second, event, &held).await?;

    let renewed = second.renew(event, &two.token, at(170), at(260)).await?;
    check_eq("the second attempt renews at 170", renewed, Renewed::Renewed)?;
    let mut current = two.token;
    if context.offers(StoreCapability::Release) {
        let released = second.release(event, &current).await?;
        check_eq("the second attempt gives the event back", released, Released::Released)?;
        let three = context.batch(WORKER, 5, at(180), at(280));
        let claimed = second.claim_by(way, event, &three).await?;
        check_eq("the worker claims at 180 the event it gave back", claimed, true)?;
        own(&three.token, &[&one.token, &current])?;
        over(context, second, event, &current, at(190)).await?;
        let held = Standing::held(&three.token, at(280));
        check_standing("the second token was refused", second, event, &held).await?;
        current = three.token;
    }
    let acked = second.ack(event, &current, at(200)).await?;
    check_eq("the worker acks at 200 with its current token", acked, Acked::Acked)?;
    let acked = first.ack(event, &one.token, at(210)).await?;
    check_eq("the first attempt acks at 210 what is done", acked, Acked::Refused)
}

/// The token of this acquisition is not that of an earlier one.
fn own(token: &FencingToken, earlier: &[&FencingToken]) -> Result<(), Finding> {
    check(!earlier.contains(&token), || {
        format!("two acquisitions by `{WORKER}` have the same token {token}")
    })
}

/// A token that was current once can do nothing any more.
async fn over(
    context: &Context,
    actor: &mut Actor,
    event: &EventId,
    token: &FencingToken,
    now: Instant,
) -> Result<(), Finding> {
    let step = |what: &str| format!("an attempt of `{WORKER}` that is over {what}");
    let renewed = actor.renew(event, token, now, context.at(900)).await?;
    check_eq(&step("renews"), renewed, Renewed::Refused)?;
    check_eq(&step("acks"), actor.ack(event, token, now).await?, Acked::Refused)?;
    if context.offers(StoreCapability::Release) {
        check_eq(&step("releases"), actor.release(event, token).await?, Released::Refused)?;
    }
    Ok(())
}
