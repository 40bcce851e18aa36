//! The row count of a guarded update says whether it matched, not whether it changed anything.
//!
//! # Promise
//! Whether an operation took effect is read from the number of affected rows. That number must count
//! the rows that matched the guards. An update that matches its row and leaves every column as it was
//! is told apart from one that matches nothing, through the driver and the connection flags in use.
//!
//! # Steps
//! A confirmation is an update that writes back the deadline that is stored.
//! 1. A claims at 100 until 150, renews to 200, and renews to 200 again within the same tick: the
//!    second changes nothing and is refused, for the deadline is not later.
//! 2. At 160 A confirms twice: both times it still owns the event, and the row is as before.
//! 3. On the same connection, each right after a confirmation that matched: a stranger's token, an
//!    expired lease, an event that nobody claimed, one that does not exist: nothing matches.
//! 4. In one transaction A confirms twice, then commits.
//! 5. A acks, and confirms no more.
//!
//! # How a violation looks
//! The rightful owner is told `Refused` because the values were equal, and drops its lease while it
//! works; or a count that is left over, or negative, tells a stranger that it owns the event.
//!
//! # Source
//! windwalker-io/framework#1211, PomeloFoundation/Pomelo.EntityFrameworkCore.MySql#93,
//! backdrop/backdrop-issues#274, mysql-otp/mysql-otp#63 (changed instead of matched rows);
//! python/cpython#101117, Extra-Chill/data-machine#3353 (a driver that reports 0 or -1).

use leaseproof_engines::lease::{
    Acked, Claimed, Confirmed, EventId, FencingToken, Instant, Renewed,
};
use leaseproof_reports::Level;

use crate::contract::{Clocks, Contract, Scope};
use crate::harness::actor::Actor;
use crate::harness::context::Context;
use crate::harness::finding::{Finding, Judged, check_eq};
use crate::harness::standing::{Standing, check_refused, check_standing};

mod controls;

/// See the module's documentation.
pub static CONTRACT: Contract = Contract {
    id: "renew/counts-matched-rows",
    promise: "the affected-row count means matched rows: an update that changes nothing still finds its owner",
    level: Level::Core,
    requires: &[],
    offers: &[],
    scope: Scope::Once,
    clocks: Clocks::Logical,
    source: "windwalker-io/framework#1211, PomeloFoundation/Pomelo.EntityFrameworkCore.MySql#93, \
             backdrop/backdrop-issues#274, mysql-otp/mysql-otp#63, python/cpython#101117, \
             Extra-Chill/data-machine#3353",
    controls: controls::CONTROLS,
    doc: include_str!("counts_matched_rows.rs"),
    run: |context| Box::pin(run(context)),
};

async fn run(context: &Context) -> Judged {
    let at = |step| context.at(step);
    let mut a = context.actor("A").await?;
    let mut reader = context.actor("reader").await?;
    let (token, stranger) = (context.token("A"), context.token("B"));
    let event = context.enqueued(&mut a, "EVENT-81").await?;
    let unclaimed = context.enqueued(&mut a, "EVENT-82").await?;
    let absent = EventId::new("EVENT-83");
    let claimed = a.claim(&event, &token, at(100), at(150)).await?;
    check_eq("A claims at 100 until 150", claimed, Claimed::Claimed)?;
    let renewed = a.renew(&event, &token, at(110), at(200)).await?;
    check_eq("A renews to 200", renewed, Renewed::Renewed)?;
    let held = Standing::held(&token, at(200));
    let answer = a.renew(&event, &token, at(110), at(200)).await;
    check_refused("A renews to 200 again", &mut reader, &event, &held, answer, Renewed::Refused)
        .await?;

    let nothing_matches = [
        ("a stranger confirms", &event, &stranger, at(160)),
        ("A confirms at 200, its deadline", &event, &token, at(200)),
        ("A confirms an event that nobody claimed", &unclaimed, &token, at(160)),
        ("A confirms an event that does not exist", &absent, &token, at(160)),
    ];
    owns(&mut a, &event, &token, at(160)).await?;
    let owned = &event;
    for (step, event, token_given, now) in nothing_matches {
        owns(&mut a, owned, &token, at(160)).await?;
        check_eq(step, a.confirm(event, token_given, now).await?, Confirmed::Refused)?;
    }
    let last = context.just_before(200);
    owns(&mut a, &event, &token, last).await?;
    a.begin().await?;
    for _ in 0..2 {
        owns(&mut a, &event, &token, at(170)).await?;
    }
    a.commit().await?;
    check_standing("A has confirmed 8 times", &mut reader, &event, &held).await?;

    check_eq("A acks at 180", a.ack(&event, &token, at(180)).await?, Acked::Acked)?;
    let confirmed = a.confirm(&event, &token, at(190)).await?;
    check_eq("A confirms what it acked", confirmed, Confirmed::Refused)?;
    Ok(vec![format!(
        "8 updates matched and changed nothing, {} matched nothing; each count told which",
        nothing_matches.len() + 1
    )])
}

async fn owns(
    actor: &mut Actor,
    event: &EventId,
    token: &FencingToken,
    now: Instant,
) -> Result<(), Finding> {
    let confirmed = actor.confirm(event, token, now).await?;
    check_eq("the owner confirms and changes nothing", confirmed, Confirmed::Confirmed)
}
