//! An acked event has no lease to renew.
//!
//! # Promise
//! Once an event is acked, no renewal takes effect on it: not with the token that acked it, although
//! that token and a deadline ahead are still in the row, and not with any other. A heartbeat that
//! waits for the row while the ack commits is refused too.
//!
//! # Steps
//! 1. A claims at 100 until 150 and acks at 120.
//! 2. At 130 A renews to 200 on the connection that acked and on another, and B renews with a token
//!    of its own: each is refused and changes nothing.
//! 3. A acks in an open transaction; its renewal on a second connection is seen waiting behind it. The transaction
//!    commits: the renewal is refused. It rolls back: the renewal takes effect.
//!
//! # How a violation looks
//! `Renewed` for an event that is done: the worker goes on with work that nobody waits for, and a
//! deadline moves in a row that should never change again.
//!
//! # Source
//! The renewal example: its update asks for the state `PENDING`.

use leaseproof_engines::lease::{Acked, Claimed, EventId, FencingToken, Renewed};
use leaseproof_reports::Level;

use crate::contract::{Clocks, Contract, Scope};
use crate::harness::actor::Actor;
use crate::harness::context::Context;
use crate::harness::finding::{Finding, Judged, check_eq};
use crate::harness::latch::{End, behind};
use crate::harness::retries::Retries;
use crate::harness::standing::{Standing, check_refused, check_standing};

mod controls;

/// See the module's documentation.
pub static CONTRACT: Contract = Contract {
    id: "renew/rejects-done",
    promise: "an acked event cannot be renewed, not even by the token that acked it",
    level: Level::Core,
    requires: &[],
    offers: &[],
    scope: Scope::Once,
    clocks: Clocks::Any,
    source: "the renewal example",
    controls: controls::CONTROLS,
    doc: include_str!("rejects_done.rs"),
    run: |context| Box::pin(run(context)),
};

async fn run(context: &Context) -> Judged {
    let at = |step| context.at(step);
    let mut a = context.actor("A").await?;
    let mut second = context.actor("A, second connection").await?;
    let mut b = context.actor("B").await?;
    let (token_a, token_b) = (context.token("A"), context.token("B"));

    let event = context.enqueued(&mut a, "EVENT-81").await?;
    let claimed = a.claim(&event, &token_a, at(100), at(150)).await?;
    check_eq("A claims at 100 until 150", claimed, Claimed::Claimed)?;
    check_eq("A acks at 120", a.ack(&event, &token_a, at(120)).await?, Acked::Acked)?;
    let done = Standing::done(&token_a, at(150));
    check_standing("A has acked", &mut b, &event, &done).await?;
    let answer = a.renew(&event, &token_a, at(130), at(200)).await;
    check_refused("A renews what it acked", &mut b, &event, &done, answer, Renewed::Refused)
        .await?;
    let answer = second.renew(&event, &token_a, at(130), at(200)).await;
    let step = "A renews what it acked on another connection";
    check_refused(step, &mut b, &event, &done, answer, Renewed::Refused).await?;
    let answer = b.renew(&event, &token_b, at(130), at(200)).await;
    check_refused("B renews what A acked", &mut a, &event, &done, answer, Renewed::Refused).await?;

    let mut retries = Retries::default();
    for end in [End::Rollback, End::Commit] {
        let event = context.enqueued(&mut b, &format!("behind-{end:?}")).await?;
        let claimed = a.claim(&event, &token_a, at(100), at(150)).await?;
        check_eq("A claims at 100 until 150", claimed, Claimed::Claimed)?;
        renew_behind_ack(context, (&mut a, &mut second), &event, &token_a, end, &mut retries)
            .await?;
    }
    Ok(vec![
        "3 renewals after the ack were refused; 2 were seen waiting for an ack that committed or rolled back"
            .to_owned(),
        format!("{} retryable errors", retries.total),
    ])
}

/// A heartbeat that arrives while the ack of the same owner is under way.
async fn renew_behind_ack(
    context: &Context,
    (acking, renewing): (&mut Actor, &mut Actor),
    event: &EventId,
    token: &FencingToken,
    end: End,
    retries: &mut Retries,
) -> Result<(), Finding> {
    let at = |step| context.at(step);
    acking.begin().await?;
    check_eq(
        "A acks in an open transaction",
        acking.ack(event, token, at(120)).await?,
        Acked::Acked,
    )?;
    let waiter = renewing.id();
    let renewal = async {
        loop {
            let renewed = renewing.renew(event, token, at(130), at(200)).await;
            if !retries.again(context.recorder(), &renewed) {
                return renewed;
            }
        }
    };
    let (renewed, proof) = behind(context, acking, end, waiter, renewal).await?;
    let (answer, stored) = match end {
        End::Commit => (Renewed::Refused, Standing::done(token, at(150))),
        End::Rollback => (Renewed::Renewed, Standing::held(token, at(200))),
    };
    let step = format!("A renews, having waited for its own ack ({end:?})");
    check_eq(&step, renewed?, answer)?;
    check_standing(&step, acking, event, &stored).await?;
    proof.demand()
}
