//! A renewal never moves a deadline back, and one that changes nothing costs the owner nothing.
//!
//! # Promise
//! A renewal takes effect only if the new deadline is later than the stored one. An earlier deadline
//! is refused and changes nothing. An equal one is refused and changes nothing either, and the owner
//! keeps the lease: it may go on to renew and ack.
//!
//! # Steps
//! 1. A claims at 100 until 150.
//! 2. At 110 A renews to deadlines before 150: by one microsecond, by ten steps, to 110 itself, to a
//!    point that has passed, to the origin of the clock. Each is refused and changes nothing.
//! 3. At 110 A renews to 150 exactly: refused, and nothing changes.
//! 4. A still owns the event: it confirms, renews by one microsecond, renews to 200, renews to 200
//!    again (refused), keeps B out at 199, and acks.
//!
//! # How a violation looks
//! The deadline moves back: somebody else claims an event whose owner was promised more time. Or the
//! owner is refused for good after an equal renewal and drops work that it owns.
//!
//! # Source
//! The renewal example; callstackincubator/simlock#47, cockroachdb/cockroach#123442,
//! mlflow/mlflow#25199 (a deadline moved back), windwalker-io/framework#1211 (a renewal to an equal
//! deadline judged lost).

use leaseproof_engines::lease::{Acked, Claimed, Confirmed, Instant, Renewed};
use leaseproof_reports::Level;

use crate::contract::{Clocks, Contract, Scope};
use crate::harness::context::Context;
use crate::harness::finding::{Judged, check_eq};
use crate::harness::standing::{Standing, check_refused, check_standing};

mod controls;

/// See the module's documentation.
pub static CONTRACT: Contract = Contract {
    id: "renew/never-shortens",
    promise: "an earlier deadline changes nothing; an equal one changes nothing and the owner keeps the lease",
    level: Level::Core,
    requires: &[],
    offers: &[],
    scope: Scope::Once,
    clocks: Clocks::Logical,
    source: "the renewal example; callstackincubator/simlock#47, cockroachdb/cockroach#123442, \
             mlflow/mlflow#25199, windwalker-io/framework#1211",
    controls: controls::CONTROLS,
    doc: include_str!("never_shortens.rs"),
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

    let shorter = [
        ("one microsecond before 150", context.just_before(150)),
        ("140", at(140)),
        ("110, which is now", at(110)),
        ("90, which has passed", at(90)),
        ("0", at(0)),
    ];
    for (name, until) in shorter {
        let step = format!("A renews at 110 from its deadline 150 to {name}");
        let answer = a.renew(&event, &token_a, at(110), until).await;
        check_refused(&step, &mut b, &event, &held, answer, Renewed::Refused).await?;
    }
    let answer = a.renew(&event, &token_a, at(110), at(150)).await;
    check_refused(
        "A renews to the deadline it has",
        &mut b,
        &event,
        &held,
        answer,
        Renewed::Refused,
    )
    .await?;

    let confirmed = a.confirm(&event, &token_a, at(120)).await?;
    check_eq("A confirms after its refused renewals", confirmed, Confirmed::Confirmed)?;
    let longer = Instant(at(150).0 + 1);
    let renewed = a.renew(&event, &token_a, at(120), longer).await?;
    check_eq("A renews by one microsecond", renewed, Renewed::Renewed)?;
    check_standing(
        "A renews by one microsecond",
        &mut b,
        &event,
        &Standing::held(&token_a, longer),
    )
    .await?;
    let renewed = a.renew(&event, &token_a, at(140), at(200)).await?;
    check_eq("A renews to 200", renewed, Renewed::Renewed)?;
    let held = Standing::held(&token_a, at(200));
    let answer = a.renew(&event, &token_a, at(140), at(200)).await;
    check_refused("A renews to 200 again", &mut b, &event, &held, answer, Renewed::Refused).await?;
    let answer = b.claim(&event, &token_b, at(199), at(300)).await;
    check_refused("B claims at 199", &mut a, &event, &held, answer, Claimed::NotClaimed).await?;
    check_eq("A acks at 199", a.ack(&event, &token_a, at(199)).await?, Acked::Acked)?;
    check_standing("A's ack", &mut b, &event, &Standing::done(&token_a, at(200))).await?;
    Ok(vec![format!(
        "{} earlier and 2 equal deadlines changed nothing, and the owner could still renew and ack",
        shorter.len()
    )])
}
