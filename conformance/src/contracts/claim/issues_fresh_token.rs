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
//! 4. The first attempt renews, acks and releases at 160. Each is refused; the row stays as it was.
//! 5. The second attempt renews and gives the event back; it claims once more, with a third token.
//!    Renewing and giving back with the second token is now refused.
//! 6. The second attempt acks. The first attempt's ack is refused, not taken for a repetition.
//!
//! # How a violation looks
//! An abandoned attempt keeps renewing the lease of its successor, so that a crash of the successor is
//! never noticed, or acks work that the successor has not done.
//!
//! # Source
//! `aegra/aegra#502`, `aegra/aegra#547`, `brendanlong/lion-reader#917`,
//! `collectiveidea/delayed_job#534`, `maxcountryman/underway#111`.

use leaseproof_engines::lease::{
    Acked, EventId, EventRow, FencingToken, Instant, Released, Renewed,
};
use leaseproof_reports::Level;

use crate::contract::{Clocks, Contract, Scope};
use crate::harness::actor::{Actor, Way};
use crate::harness::context::Context;
use crate::harness::finding::{Finding, Judged, check, check_eq};

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
        "6 acquisitions under one name had 6 tokens; attempts that were over were refused 14 times"
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
    let taken = second.event(event).await?;
    holds(&taken, &two.token, &[&one.token])?;
    over(context, first, event, &one.token, at(160)).await?;
    check_eq("the row after the first attempt was refused", &second.event(event).await?, &taken)?;

    let renewed = second.renew(event, &two.token, at(170), at(260)).await?;
    check_eq("the second attempt renews", renewed, Renewed::Renewed)?;
    let released = second.release(event, &two.token).await?;
    check_eq("the second attempt gives the event back", released, Released::Released)?;
    let three = context.batch(WORKER, 5, at(180), at(280));
    let claimed = second.claim_by(way, event, &three).await?;
    check_eq("the worker claims the event it gave back", claimed, true)?;
    let taken = second.event(event).await?;
    holds(&taken, &three.token, &[&one.token, &two.token])?;
    over(context, second, event, &two.token, at(190)).await?;
    check_eq("the row after the second token was refused", &second.event(event).await?, &taken)?;

    let acked = second.ack(event, &three.token, at(200)).await?;
    check_eq("the worker acks with its current token", acked, Acked::Acked)?;
    let acked = first.ack(event, &one.token, at(210)).await?;
    check_eq("the first attempt acks what is done", acked, Acked::Refused)
}

/// The row holds the token of this acquisition and not that of an earlier one.
fn holds(
    row: &Option<EventRow>,
    token: &FencingToken,
    earlier: &[&FencingToken],
) -> Result<(), Finding> {
    let stored = row.as_ref().and_then(|row| row.token.as_ref());
    check_eq("the row's token", stored, Some(token))?;
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
    check_eq(&step("releases"), actor.release(event, token).await?, Released::Refused)
}
