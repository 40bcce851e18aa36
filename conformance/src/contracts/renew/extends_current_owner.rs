//! The current, unexpired owner extends its lease to a later deadline; nobody else does.
//!
//! # Promise
//! The renewal example holds step by step: who owns the event, until when, and who is refused, are
//! what the protocol says after every single operation.
//!
//! # Steps
//! 1. A claims at 100 until 150.
//! 2. B cannot renew. A cannot renew to 140. A renews to 200.
//! 3. B cannot claim at 160.
//! 4. At 200 A cannot renew: the boundary is half-open.
//! 5. B claims until 260. A can neither renew nor ack.
//! 6. B renews to 300, and acks.
//!
//! After every step others are kept out until the deadline and no longer, and the owner's token counts:
//! a refused operation has changed nothing.
//!
//! # How a violation looks
//! A step returns the other answer, or the event is held by another token, or to another deadline.
//!
//! # Source
//! The renewal example.

use leaseproof_engines::lease::{Acked, Claimed, EventId, FencingToken, Renewed};
use leaseproof_reports::Level;

use crate::contract::{Clocks, Contract, Scope};
use crate::harness::actor::Actor;
use crate::harness::context::Context;
use crate::harness::finding::{Finding, Judged, check_eq};
use crate::harness::standing::{Standing, check_standing};

mod controls;

/// See the module's documentation.
pub static CONTRACT: Contract = Contract {
    id: "renew/extends-current-owner",
    promise: "the current, unexpired owner extends to a later deadline, step by step as in the example",
    level: Level::Core,
    requires: &[],
    offers: &[],
    scope: Scope::Once,
    clocks: Clocks::Any,
    source: "the renewal example",
    controls: controls::CONTROLS,
    doc: include_str!("extends_current_owner.rs"),
    run: |context| Box::pin(run(context)),
};

async fn run(context: &Context) -> Judged {
    let mut a = context.actor("A").await?;
    let mut b = context.actor("B").await?;
    let event = context.enqueued(&mut a, "EVENT-81").await?;
    let (token_a, token_b) = (context.token("A"), context.token("B"));
    let at = |step| context.at(step);

    let claimed = a.claim(&event, &token_a, at(100), at(150)).await?;
    check_eq("A claims at 100 until 150", claimed, Claimed::Claimed)?;
    owned(context, &mut a, &event, &token_a, 150).await?;
    let renewed = b.renew(&event, &token_b, at(110), at(190)).await?;
    check_eq("B renews at 110", renewed, Renewed::Refused)?;
    owned(context, &mut a, &event, &token_a, 150).await?;
    let renewed = a.renew(&event, &token_a, at(110), at(140)).await?;
    check_eq("A renews to the earlier 140", renewed, Renewed::Refused)?;
    owned(context, &mut a, &event, &token_a, 150).await?;
    let renewed = a.renew(&event, &token_a, at(120), at(200)).await?;
    check_eq("A renews to 200", renewed, Renewed::Renewed)?;
    owned(context, &mut a, &event, &token_a, 200).await?;
    let claimed = b.claim(&event, &token_b, at(160), at(260)).await?;
    check_eq("B claims at 160", claimed, Claimed::NotClaimed)?;
    owned(context, &mut a, &event, &token_a, 200).await?;
    let renewed = a.renew(&event, &token_a, at(200), at(250)).await?;
    check_eq("A renews at 200, when its lease is over", renewed, Renewed::Refused)?;
    owned(context, &mut a, &event, &token_a, 200).await?;

    let claimed = b.claim(&event, &token_b, at(200), at(260)).await?;
    check_eq("B claims at 200 until 260", claimed, Claimed::Claimed)?;
    let renewed = a.renew(&event, &token_a, at(210), at(290)).await?;
    check_eq("A renews after the takeover", renewed, Renewed::Refused)?;
    let acked = a.ack(&event, &token_a, at(210)).await?;
    check_eq("A acks after the takeover", acked, Acked::Refused)?;
    owned(context, &mut a, &event, &token_b, 260).await?;
    let renewed = b.renew(&event, &token_b, at(250), at(300)).await?;
    check_eq("B renews to 300", renewed, Renewed::Renewed)?;
    owned(context, &mut a, &event, &token_b, 300).await?;
    check_eq("B acks", b.ack(&event, &token_b, at(290)).await?, Acked::Acked)?;
    check_standing("B has acked", &mut a, &event, &Standing::done(&token_b, at(300))).await?;
    Ok(vec!["the renewal example held in each of its 11 steps".to_owned()])
}

/// The event is held with this token until this deadline, whoever asks.
async fn owned(
    context: &Context,
    reader: &mut Actor,
    event: &EventId,
    token: &FencingToken,
    until: i64,
) -> Result<(), Finding> {
    let held = Standing::held(token, context.at(until));
    check_standing("after each step", reader, event, &held).await
}
