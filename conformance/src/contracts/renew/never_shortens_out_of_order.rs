//! Two renewals of one owner that arrive in the wrong order leave the later deadline.
//!
//! # Promise
//! An owner with two connections (a heartbeat and a retry, two renewers with different defaults) has
//! two renewals under way. Whichever the engine serves first, the deadline that stands at the end is
//! the later one, also when one renewal waited for the row behind the other.
//!
//! # Steps
//! A owns a fresh event until 150 in every round; the early renewal is to 180, the late one to 200.
//! 1. One after the other: the late one, then the early one, which is refused.
//! 2. One in an open transaction, the other seen waiting behind it, for both orders; the transaction commits, or
//!    rolls back and then has never been.
//! 3. Both seen waiting behind a gatekeeper's lock, having arrived in either order; then released.
//!
//! # How a violation looks
//! The row ends at 180: the renewal that was sent first and served last has taken 20 steps of lease
//! from an owner that was told `Renewed` until 200.
//!
//! # Source
//! callstackincubator/simlock#47, cockroachdb/cockroach#123442, mlflow/mlflow#25199.

use leaseproof_engines::lease::{Claimed, EventId, FencingToken, Instant, Renewed};
use leaseproof_engines::store::{self};
use leaseproof_reports::Level;

use crate::contract::{Clocks, Contract, Scope};
use crate::harness::actor::Actor;
use crate::harness::context::Context;
use crate::harness::finding::{Finding, Judged, check_eq};
use crate::harness::latch::{Arrival, Attempt, End, behind, released};
use crate::harness::retries::Retries;
use crate::harness::standing::{Standing, check_standing};

mod controls;

/// See the module's documentation.
pub static CONTRACT: Contract = Contract {
    id: "renew/never-shortens-out-of-order",
    promise: "two renewals of one owner on two connections leave the later deadline, in whatever order they are served",
    level: Level::Core,
    requires: &[],
    offers: &[],
    scope: Scope::Once,
    clocks: Clocks::Any,
    source: "callstackincubator/simlock#47, cockroachdb/cockroach#123442, mlflow/mlflow#25199",
    controls: controls::CONTROLS,
    doc: include_str!("never_shortens_out_of_order.rs"),
    run: |context| Box::pin(run(context)),
};

/// Gated races for each order of arrival.
const ROUNDS: usize = 3;

/// The deadline of the claim, and the two that are asked for.
const CLAIMED: i64 = 150;
const EARLY: i64 = 180;
const LATE: i64 = 200;

/// The parties: one owner with two connections, and a bystander.
struct Parties<'context> {
    context: &'context Context,
    one: Actor,
    two: Actor,
    keeper: Actor,
    token: FencingToken,
    retries: Retries,
}

async fn run(context: &Context) -> Judged {
    let mut parties = Parties {
        context,
        one: context.actor("A, first connection").await?,
        two: context.actor("A, second connection").await?,
        keeper: context.actor("gatekeeper").await?,
        token: context.token("A"),
        retries: Retries::default(),
    };
    parties.one_after_the_other().await?;
    for (held, waiting) in [(LATE, EARLY), (EARLY, LATE)] {
        for end in [End::Rollback, End::Commit] {
            parties.one_behind_the_other(held, waiting, end).await?;
        }
    }
    let mut early_took_effect = 0;
    for round in 0..ROUNDS {
        for order in [(EARLY, LATE), (LATE, EARLY)] {
            early_took_effect += usize::from(parties.both_released(round, order).await?);
        }
    }
    Ok(vec![
        format!(
            "4 renewals seen waiting behind the other; {} races with both seen waiting, of which the \
             engine served the earlier deadline first in {early_took_effect}",
            2 * ROUNDS
        ),
        format!("{} retryable errors", parties.retries.total),
    ])
}

impl Parties<'_> {
    async fn owned(&mut self, id: &str) -> Result<EventId, Finding> {
        let at = |step| self.context.at(step);
        let event = self.context.enqueued(&mut self.one, id).await?;
        let claimed = self.one.claim(&event, &self.token, at(100), at(CLAIMED)).await?;
        check_eq("A claims at 100 until 150", claimed, Claimed::Claimed)?;
        Ok(event)
    }

    async fn ends_at(&mut self, step: &str, event: &EventId, until: i64) -> Result<(), Finding> {
        let promised = Standing::held(&self.token, self.context.at(until));
        check_standing(step, &mut self.keeper, event, &promised).await
    }

    async fn one_after_the_other(&mut self) -> Result<(), Finding> {
        let at = |step| self.context.at(step);
        let event = self.owned("in-turn").await?;
        let renewed = self.two.renew(&event, &self.token, at(110), at(LATE)).await?;
        check_eq("A renews to 200", renewed, Renewed::Renewed)?;
        let renewed = self.one.renew(&event, &self.token, at(110), at(EARLY)).await?;
        check_eq("A renews to 180 after 200", renewed, Renewed::Refused)?;
        self.ends_at("the late renewal, then the early one", &event, LATE).await
    }

    async fn one_behind_the_other(
        &mut self,
        held: i64,
        waiting: i64,
        end: End,
    ) -> Result<(), Finding> {
        let event = self.owned(&format!("{waiting}-behind-{held}-{end:?}")).await?;
        let at = |step| self.context.at(step);
        self.one.begin().await?;
        let renewed = self.one.renew(&event, &self.token, at(110), at(held)).await?;
        check_eq("A renews in an open transaction", renewed, Renewed::Renewed)?;
        let waiter = self.two.id();
        let attempt = renew(
            (&mut self.two, self.context),
            &mut self.retries,
            &event,
            &self.token,
            (at(110), at(waiting)),
        );
        let (answer, proof) = behind(self.context, &mut self.one, end, waiter, attempt).await?;
        let stands = if end == End::Commit { held } else { CLAIMED };
        let promised = if waiting > stands { Renewed::Renewed } else { Renewed::Refused };
        let step =
            format!("A renews to {waiting}, having waited for its renewal to {held} ({end:?})");
        check_eq(&step, answer?, promised)?;
        self.ends_at(&step, &event, stands.max(waiting)).await?;
        proof.demand()
    }

    /// Whether the early renewal took effect, which it does only when it is served first.
    async fn both_released(&mut self, round: usize, order: (i64, i64)) -> Result<bool, Finding> {
        let event = self.owned(&format!("released-{round}-{}-{}", order.0, order.1)).await?;
        let at = |step| self.context.at(step);
        let mut retries = [Retries::default(); 2];
        let [one, two] = &mut retries;
        let first = Attempt {
            session: self.one.id(),
            waits: true,
            operation: renew(
                (&mut self.one, self.context),
                one,
                &event,
                &self.token,
                (at(110), at(order.0)),
            ),
        };
        let second = Attempt {
            session: self.two.id(),
            waits: true,
            operation: renew(
                (&mut self.two, self.context),
                two,
                &event,
                &self.token,
                (at(110), at(order.1)),
            ),
        };
        let ((one, two), proof) =
            released(self.context, &mut self.keeper, &event, Arrival::AsGiven, (first, second))
                .await?;
        self.retries.total += retries[0].total + retries[1].total;
        let (one, two) = (one?, two?);
        let (early, late) = if order.0 == EARLY { (one, two) } else { (two, one) };
        check_eq("A renews to 200 while it renews to 180", late, Renewed::Renewed)?;
        self.ends_at("renewals to 180 and to 200 at once", &event, LATE).await?;
        proof.demand()?;
        Ok(early == Renewed::Renewed)
    }
}

/// A renewal, run again for as long as the engine asks for that.
async fn renew(
    (actor, context): (&mut Actor, &Context),
    retries: &mut Retries,
    event: &EventId,
    token: &FencingToken,
    (now, until): (Instant, Instant),
) -> store::Result<Renewed> {
    loop {
        let renewed = actor.renew(event, token, now, until).await;
        if !retries.again(context.recorder(), &renewed) {
            return renewed;
        }
    }
}
