//! Sessions in different time zones agree on when a lease is over.
//!
//! # Promise
//! Expiry depends on the instants that are passed in and stored, never on the time zone of a session.
//! A lease that was taken in one zone ends at the same instant for the sessions of every other, in
//! every operation that asks for it.
//!
//! # Steps
//! Three sessions: one five hours east of UTC, one eight hours west, one in the server's zone. For each
//! of them as owner, and each of the two others as contender:
//! 1. The owner claims at 100 until 150. In all three the event can be claimed by others at 150 and not one
//!    microsecond before, and the owner's token counts until then; the candidates, and the backlog where
//!    the store reports one, agree.
//! 2. One microsecond before 150 the contender cannot claim.
//! 3. At 150 the owner can neither renew nor ack, in any of the three. The contender claims until 200.
//! 4. One microsecond before 200 a session of another zone renews with the contender's token to 250, and
//!    one more acks just before that.
//!
//! An engine whose sessions have no time zone runs the same steps.
//!
//! # How a violation looks
//! A contender in the east takes a live lease, hours too early; one in the west waits hours too long.
//!
//! # Source
//! nextlyhq/nextly#777, LFDT-Panurus/panurus#2244, lukas-krecan/ShedLock#91,
//! lukas-krecan/ShedLock#1876, mlflow/mlflow#25199.

use leaseproof_engines::Capability;
use leaseproof_engines::capability::StoreCapability;
use leaseproof_engines::lease::{Acked, Claimed, EventId, Renewed};
use leaseproof_engines::store::SessionOptions;
use leaseproof_reports::Level;

use crate::contract::{Clocks, Contract, Scope};
use crate::harness::actor::Actor;
use crate::harness::context::Context;
use crate::harness::finding::{Finding, Judged, check, check_eq};
use crate::harness::standing::{Standing, check_refused, check_standing};

mod controls;

/// See the module's documentation.
pub static CONTRACT: Contract = Contract {
    id: "time/session-independent",
    promise: "sessions in different time zones agree on expiry, to claim, to renew and to ack",
    level: Level::Core,
    requires: &[],
    offers: &[],
    scope: Scope::Once,
    clocks: Clocks::Logical,
    source: "nextlyhq/nextly#777, LFDT-Panurus/panurus#2244, lukas-krecan/ShedLock#91, \
             lukas-krecan/ShedLock#1876, mlflow/mlflow#25199",
    controls: controls::CONTROLS,
    doc: include_str!("session_independent.rs"),
    run: |context| Box::pin(run(context)),
};

/// East of UTC, west of it, and wherever the server is.
const ZONES: [Option<&str>; 3] = [Some("+05:00"), Some("-08:00"), None];

async fn run(context: &Context) -> Judged {
    let mut sessions = Vec::new();
    for zone in ZONES {
        let name = format!("session in {}", zone.unwrap_or("the server's zone"));
        let options = SessionOptions { time_zone: zone, ..SessionOptions::default() };
        sessions.push(context.actor_with(&name, &options).await?);
    }
    let mut leases = 0;
    for owner in 0..ZONES.len() {
        for contender in (0..ZONES.len()).filter(|contender| *contender != owner) {
            let event =
                context.enqueued(&mut sessions[0], &format!("EVENT-{owner}-{contender}")).await?;
            handed_over(context, &mut sessions, &event, owner, contender).await?;
            leases += 2;
        }
    }
    let zones = match context.has(Capability::SessionTimeZone) {
        true => {
            "three sessions, five hours east and eight hours west of UTC and in the server's zone"
        }
        false => "three sessions of an engine without session time zones",
    };
    Ok(vec![format!("{zones}, agreed on the end of {leases} leases")])
}

/// One lease from its claim to the ack of the one who took it over.
async fn handed_over(
    context: &Context,
    sessions: &mut [Actor],
    event: &EventId,
    owner: usize,
    contender: usize,
) -> Result<(), Finding> {
    let at = |step| context.at(step);
    let (token, other) = (context.token("owner"), context.token("contender"));
    let said = |actor: &Actor, what: &str| format!("{}: {what}", actor.name());
    let claimed = sessions[owner].claim(event, &token, at(100), at(150)).await?;
    check_eq(&said(&sessions[owner], "it claims at 100 until 150"), claimed, Claimed::Claimed)?;

    let held = Standing::held(&token, at(150));
    live(context, sessions, event, &held).await?;
    let step = said(&sessions[contender], "it claims just before another's deadline");
    let last = context.just_before(150);
    let answer = sessions[contender].claim(event, &other, last, at(200)).await;
    check_refused(&step, &mut sessions[owner], event, &held, answer, Claimed::NotClaimed).await?;

    for index in 0..sessions.len() {
        let step = said(&sessions[index], "the owner renews at 150, its deadline");
        let answer = sessions[index].renew(event, &token, at(150), at(300)).await;
        check_refused(&step, &mut sessions[owner], event, &held, answer, Renewed::Refused).await?;
        let step = said(&sessions[index], "the owner acks at 150, its deadline");
        let answer = sessions[index].ack(event, &token, at(150)).await;
        check_refused(&step, &mut sessions[owner], event, &held, answer, Acked::Refused).await?;
        let candidates = sessions[index].candidates(10, at(150)).await?;
        check_eq(
            &said(&sessions[index], "the candidates at 150"),
            candidates,
            vec![event.clone()],
        )?;
    }
    let claimed = sessions[contender].claim(event, &other, at(150), at(200)).await?;
    check_eq(&said(&sessions[contender], "it claims at 150"), claimed, Claimed::Claimed)?;

    let renewed = sessions[owner].renew(event, &other, context.just_before(200), at(250)).await?;
    check_eq(&said(&sessions[owner], "a renewal just before 200"), renewed, Renewed::Renewed)?;
    let third = ZONES.len() - owner - contender;
    let acked = sessions[third].ack(event, &other, context.just_before(250)).await?;
    check_eq(&said(&sessions[third], "an ack just before 250"), acked, Acked::Acked)?;
    let done = Standing::done(&other, at(250));
    for session in sessions {
        let step = format!("{}: the event was acked", session.name());
        check_standing(&step, session, event, &done).await?;
    }
    Ok(())
}

/// In no session is the lease over a microsecond before it is, and in each it is over then.
async fn live(
    context: &Context,
    sessions: &mut [Actor],
    event: &EventId,
    held: &Standing,
) -> Result<(), Finding> {
    for session in sessions {
        let step = format!("{}: the lease just before its deadline", session.name());
        check_standing(&step, session, event, held).await?;
        let candidates = session.candidates(10, context.just_before(150)).await?;
        check_eq(&step, candidates, vec![])?;
        if session.has(StoreCapability::Backlog) {
            let backlog = session.backlog(context.just_before(150)).await?;
            check(backlog.active == 1 && backlog.expired == 0, || {
                format!(
                    "{step}: the backlog counts {} live leases and {} that are over, where one is live",
                    backlog.active, backlog.expired
                )
            })?;
        }
    }
    Ok(())
}
