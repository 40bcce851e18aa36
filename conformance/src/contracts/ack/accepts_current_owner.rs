//! The current owner acks its event once, and the event is done.
//!
//! # Promise
//! An ack with the current token, while the lease is live, marks that event `DONE`, and no other: not
//! one that was claimed with the same token in one batch. A done event is not claimable and no longer
//! part of the backlog. Where nobody owns the event there is nothing to ack.
//!
//! # Steps
//! 1. A claims two events at 100 under one token, as a batch does, until 150.
//! 2. One microsecond before 150 A acks the first. It is done, the second is still A's.
//! 3. A renews the second to 200 just before 150, and acks it at 199.
//! 4. A third event is claimed, released, claimed anew with a fresh token, and acked with that.
//! 5. None of the three is claimable, and the backlog is empty.
//! 6. An event that was never claimed and one that does not exist: the ack is refused.
//!
//! # How a violation looks
//! `Acked` and the row is still pending (the event comes back), or the ack takes a second event with it
//! (which nobody will work on), or a live owner is refused.
//!
//! # Source
//! The renewal example, whose last step is an ack.

use leaseproof_engines::lease::{Acked, Backlog, Claimed, EventId, Released, Renewed};
use leaseproof_reports::Level;

use crate::contract::{Clocks, Contract, Scope};
use crate::harness::actor::Actor;
use crate::harness::context::Context;
use crate::harness::finding::{Finding, Judged, check_eq};
use crate::harness::standing::{Standing, check_refused, check_standing};

mod controls;

/// See the module's documentation.
pub static CONTRACT: Contract = Contract {
    id: "ack/accepts-current-owner",
    promise: "the current owner's ack takes effect once, on its event alone, and the event is done",
    level: Level::Core,
    requires: &[],
    offers: &[],
    scope: Scope::Once,
    clocks: Clocks::Logical,
    source: "the renewal example",
    controls: controls::CONTROLS,
    doc: include_str!("accepts_current_owner.rs"),
    run: |context| Box::pin(run(context)),
};

async fn run(context: &Context) -> Judged {
    let at = |step| context.at(step);
    let mut a = context.actor("A").await?;
    let mut b = context.actor("B").await?;
    let token = context.token("A");
    let first = context.enqueued(&mut a, "EVENT-81").await?;
    let second = context.enqueued(&mut a, "EVENT-82").await?;
    let third = context.enqueued(&mut a, "EVENT-83").await?;
    for event in [&first, &second, &third] {
        let claimed = a.claim(event, &token, at(100), at(150)).await?;
        check_eq("A claims at 100 until 150", claimed, Claimed::Claimed)?;
    }
    let last = context.just_before(150);
    let step = "A acks one microsecond before its deadline";
    check_eq(step, a.ack(&first, &token, last).await?, Acked::Acked)?;
    check_standing(step, &mut b, &first, &Standing::done(&token, at(150))).await?;
    let step = "A acks another event of its batch";
    check_standing(step, &mut b, &second, &Standing::held(&token, at(150))).await?;

    let renewed = a.renew(&second, &token, last, at(200)).await?;
    check_eq("A renews to 200", renewed, Renewed::Renewed)?;
    let step = "A acks at 199, having renewed to 200";
    check_eq(step, a.ack(&second, &token, at(199)).await?, Acked::Acked)?;
    check_standing(step, &mut b, &second, &Standing::done(&token, at(200))).await?;

    check_eq("A releases", a.release(&third, &token).await?, Released::Released)?;
    let fresh = context.token("A");
    let claimed = a.claim(&third, &fresh, at(120), at(170)).await?;
    check_eq("A claims again at 120 until 170", claimed, Claimed::Claimed)?;
    let step = "A acks with the token of its second claim";
    check_eq(step, a.ack(&third, &fresh, at(160)).await?, Acked::Acked)?;
    check_standing(step, &mut b, &third, &Standing::done(&fresh, at(170))).await?;

    stays_done(context, &mut b, &[&first, &second, &third]).await?;
    let unclaimed = context.enqueued(&mut b, "EVENT-84").await?;
    let answer = a.ack(&unclaimed, &token, at(110)).await;
    let step = "A acks an event that nobody claimed";
    check_refused(step, &mut b, &unclaimed, &Standing::free(at(110)), answer, Acked::Refused)
        .await?;
    let acked = a.ack(&EventId::new("EVENT-85"), &token, at(110)).await?;
    check_eq("A acks an event that does not exist", acked, Acked::Refused)?;
    Ok(vec![
        "3 acks took effect on their event alone, 2 of events without an owner were refused"
            .to_owned(),
    ])
}

/// Nobody gets a done event any more, and nothing is left to do.
async fn stays_done(
    context: &Context,
    actor: &mut Actor,
    events: &[&EventId],
) -> Result<(), Finding> {
    let at = |step| context.at(step);
    for event in events {
        let token = context.token("B");
        let claimed = actor.claim(event, &token, at(500), at(600)).await?;
        check_eq("B claims a done event", claimed, Claimed::NotClaimed)?;
    }
    let nothing = Backlog { claimable: 0, active: 0, expired: 0, age_us: 0 };
    check_eq("the backlog when all is done", actor.backlog(at(500)).await?, nothing)
}
