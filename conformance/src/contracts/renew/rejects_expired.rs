//! A lease that is over cannot be renewed, whether or not anybody has taken the event over.
//!
//! # Promise
//! A renewal takes effect only while the lease is live. The boundary is half-open: one microsecond
//! before the deadline the owner may renew, at the deadline and at any time after it may not. The
//! refused renewal revives nothing and changes nothing: the event is free for others.
//!
//! # Steps
//! 1. A claims at 100 until 150. Nobody else touches the event.
//! 2. A renews at 150, one microsecond later, one step later, and much later: each is refused.
//! 3. B claims at 150 exactly.
//! 4. Another event: A renews one microsecond before 150 to 200, again one microsecond before 200 to
//!    250, and at 250 is refused.
//!
//! # How a violation looks
//! A worker that slept past its deadline is told `Renewed`. A claimer that sees the event as free and
//! the old owner now both act on it.
//!
//! # Source
//! The renewal example; imtms/tagent-core#56, fighthealthinsurance/fighthealthinsurance#972,
//! Soju06/codex-lb#1253.

use leaseproof_engines::lease::{Claimed, Instant, Renewed};
use leaseproof_reports::Level;

use crate::contract::{Clocks, Contract, Scope};
use crate::harness::context::Context;
use crate::harness::finding::{Judged, check_eq};
use crate::harness::standing::{Standing, check_refused, check_standing};

mod controls;

/// See the module's documentation.
pub static CONTRACT: Contract = Contract {
    id: "renew/rejects-expired",
    promise: "a renewal is refused at and after the deadline, also when nobody has taken the event over",
    level: Level::Core,
    requires: &[],
    offers: &[],
    scope: Scope::Once,
    clocks: Clocks::Logical,
    source: "the renewal example; imtms/tagent-core#56, fighthealthinsurance/fighthealthinsurance#972, \
             Soju06/codex-lb#1253",
    controls: controls::CONTROLS,
    doc: include_str!("rejects_expired.rs"),
    run: |context| Box::pin(run(context)),
};

async fn run(context: &Context) -> Judged {
    let at = |step| context.at(step);
    let mut a = context.actor("A").await?;
    let mut b = context.actor("B").await?;
    let (token_a, token_b) = (context.token("A"), context.token("B"));

    let event = context.enqueued(&mut a, "EVENT-81").await?;
    let claimed = a.claim(&event, &token_a, at(100), at(150)).await?;
    check_eq("A claims at 100 until 150", claimed, Claimed::Claimed)?;
    let held = Standing::held(&token_a, at(150));
    let late = [
        ("at 150, its deadline", at(150)),
        ("one microsecond after its deadline", Instant(at(150).0 + 1)),
        ("one step after its deadline", at(151)),
        ("long after its deadline", at(100_000)),
    ];
    for (name, now) in late {
        let answer = a.renew(&event, &token_a, now, at(200_000)).await;
        let step = format!("A renews {name}, nobody having taken over");
        check_refused(&step, &mut b, &event, &held, answer, Renewed::Refused).await?;
    }
    let claimed = b.claim(&event, &token_b, at(150), at(250)).await?;
    check_eq("B claims at 150", claimed, Claimed::Claimed)?;
    check_standing("B's claim", &mut a, &event, &Standing::held(&token_b, at(250))).await?;

    let event = context.enqueued(&mut a, "EVENT-82").await?;
    let claimed = a.claim(&event, &token_a, at(100), at(150)).await?;
    check_eq("A claims at 100 until 150", claimed, Claimed::Claimed)?;
    for (deadline, until) in [(150, 200), (200, 250)] {
        let renewed = a.renew(&event, &token_a, context.just_before(deadline), at(until)).await?;
        let step = format!("A renews one microsecond before {deadline} to {until}");
        check_eq(&step, renewed, Renewed::Renewed)?;
        check_standing(&step, &mut b, &event, &Standing::held(&token_a, at(until))).await?;
    }
    let held = Standing::held(&token_a, at(250));
    let answer = a.renew(&event, &token_a, at(250), at(300)).await;
    check_refused("A renews at 250, its deadline", &mut b, &event, &held, answer, Renewed::Refused)
        .await?;
    Ok(vec![format!(
        "{} renewals at or after the deadline were refused, 2 a microsecond before it were not",
        late.len() + 1
    )])
}
