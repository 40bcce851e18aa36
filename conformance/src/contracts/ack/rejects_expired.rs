//! An owner whose lease is over cannot ack, whether or not anybody has taken the event over.
//!
//! # Promise
//! An ack takes effect only while the lease is live. At the deadline and after it the ack is refused,
//! and not mistaken for one that was done before. Whichever comes first, the late ack or the claim of
//! another worker, the event goes to the other worker.
//!
//! # Steps
//! 1. A claims at 100 until 150. Nobody else touches the event.
//! 2. A acks at 150, one microsecond later, one step later, much later: each is refused, the row is as
//!    before.
//! 3. A gives up: it cannot renew either. B claims at 151, is not disturbed by A's late ack, and acks.
//! 4. Another event, renewed by A to 200: one microsecond before 200 is not too late, 200 is.
//!
//! # How a violation looks
//! A worker that was paused past its deadline settles the event while another one, to whom the event
//! looks free, runs it again.
//!
//! # Source
//! imtms/tagent-core#56, fighthealthinsurance/fighthealthinsurance#972, Soju06/codex-lb#1253.

use leaseproof_engines::lease::{Acked, Claimed, Instant, Renewed};
use leaseproof_reports::Level;

use crate::contract::{Clocks, Contract, Scope};
use crate::harness::context::Context;
use crate::harness::finding::{Judged, check_eq};
use crate::harness::standing::{Standing, check_refused, check_standing};

mod controls;

/// See the module's documentation.
pub static CONTRACT: Contract = Contract {
    id: "ack/rejects-expired",
    promise: "an ack is refused at and after the deadline, also when nobody has taken the event over",
    level: Level::Core,
    requires: &[],
    offers: &[],
    scope: Scope::Once,
    clocks: Clocks::Logical,
    source: "imtms/tagent-core#56, fighthealthinsurance/fighthealthinsurance#972, Soju06/codex-lb#1253",
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
        let step = format!("A acks {name}, nobody having taken over");
        let answer = a.ack(&event, &token_a, now).await;
        check_refused(&step, &mut b, &event, &held, answer, Acked::Refused).await?;
    }
    let answer = a.renew(&event, &token_a, at(150), at(300)).await;
    let step = "A renews after its refused ack";
    check_refused(step, &mut b, &event, &held, answer, Renewed::Refused).await?;
    let claimed = b.claim(&event, &token_b, at(151), at(250)).await?;
    check_eq("B claims at 151", claimed, Claimed::Claimed)?;
    let taken = Standing::held(&token_b, at(250));
    let answer = a.ack(&event, &token_a, at(152)).await;
    check_refused(
        "A acks late, B having taken over",
        &mut b,
        &event,
        &taken,
        answer,
        Acked::Refused,
    )
    .await?;
    check_eq("B acks", b.ack(&event, &token_b, at(200)).await?, Acked::Acked)?;
    check_standing("B's ack", &mut a, &event, &Standing::done(&token_b, at(250))).await?;

    for (id, now, promised) in [
        ("EVENT-82", context.just_before(200), Acked::Acked),
        ("EVENT-83", at(200), Acked::Refused),
    ] {
        let event = context.enqueued(&mut a, id).await?;
        let claimed = a.claim(&event, &token_a, at(100), at(150)).await?;
        check_eq("A claims at 100 until 150", claimed, Claimed::Claimed)?;
        let renewed = a.renew(&event, &token_a, at(140), at(200)).await?;
        check_eq("A renews to 200", renewed, Renewed::Renewed)?;
        let step = format!("A acks at {now}, its renewed deadline being {}", at(200));
        check_eq(&step, a.ack(&event, &token_a, now).await?, promised)?;
        let stored = match promised {
            Acked::Acked => Standing::done(&token_a, at(200)),
            _ => Standing::held(&token_a, at(200)),
        };
        check_standing(&step, &mut b, &event, &stored).await?;
    }
    Ok(vec![format!(
        "{} acks at or after the deadline were refused, one a microsecond before it was not",
        late.len() + 2
    )])
}
