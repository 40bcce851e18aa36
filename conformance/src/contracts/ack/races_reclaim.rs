//! Of an ack just before expiry and a claim just at it exactly one takes effect.
//!
//! # Promise
//! The owner acks in the last microsecond of its lease while another worker claims at the deadline.
//! Either the event is done and the claim gets nothing, or the event has a new owner and the ack is
//! refused. Never both, never neither, in whatever order the engine serves them.
//!
//! # Steps
//! A owns a fresh event until 150 in every round. B claims until 260.
//! 1. One in an open transaction, the other seen waiting behind it, for both orders; the transaction commits (the
//!    other is refused) or rolls back (the other takes effect).
//! 2. Both seen waiting behind a gatekeeper's lock, having arrived in either order; then released.
//! 3. After each round A acks again (already acked, or refused) and the new owner, if any, acks.
//!
//! # How a violation looks
//! A is told `Acked` and B works on the event all the same; or B was told `Claimed` and finds the
//! event done by somebody else; or the event is neither done nor owned.
//!
//! # Source
//! hangfire-postgres/Hangfire.PostgreSql#130, hexpm/hexpm#1825, symfony/symfony#49394.

use leaseproof_engines::lease::{Acked, Claimed, EventId, FencingToken};
use leaseproof_engines::store::{self};
use leaseproof_reports::Level;

use crate::contract::{Clocks, Contract, Scope};
use crate::harness::actor::Actor;
use crate::harness::context::Context;
use crate::harness::finding::{Finding, Judged, check, check_eq};
use crate::harness::latch::{Arrival, Attempt, End, behind, released};
use crate::harness::retries::Retries;
use crate::harness::standing::{Standing, check_standing};

mod controls;

/// See the module's documentation.
pub static CONTRACT: Contract = Contract {
    id: "ack/races-reclaim",
    promise: "of an ack just before expiry and a claim just at it exactly one takes effect, in every order",
    level: Level::Core,
    requires: &[],
    offers: &[],
    scope: Scope::Once,
    clocks: Clocks::Logical,
    source: "hangfire-postgres/Hangfire.PostgreSql#130, hexpm/hexpm#1825, symfony/symfony#49394",
    controls: controls::CONTROLS,
    doc: include_str!("races_reclaim.rs"),
    run: |context| Box::pin(run(context)),
};

/// Gated races for each order of arrival.
const ROUNDS: usize = 4;

/// The two parties and who watches them.
struct Race<'context> {
    context: &'context Context,
    owner: Actor,
    claimer: Actor,
    keeper: Actor,
    retries: [Retries; 2],
    acks_won: usize,
}

/// One round: its event and the tokens of both.
struct Round {
    event: EventId,
    owner: FencingToken,
    claimer: FencingToken,
}

async fn run(context: &Context) -> Judged {
    let mut race = Race {
        context,
        owner: context.actor("A").await?,
        claimer: context.actor("B").await?,
        keeper: context.actor("gatekeeper").await?,
        retries: [Retries::default(); 2],
        acks_won: 0,
    };
    for end in [End::Rollback, End::Commit] {
        race.claim_behind_ack(end).await?;
        race.ack_behind_claim(end).await?;
    }
    let in_units = race.acks_won;
    for round in 0..ROUNDS {
        for arrival in [Arrival::AsGiven, Arrival::Reversed] {
            race.released(round, arrival).await?;
        }
    }
    Ok(vec![
        format!(
            "4 attempts seen waiting behind the other; {} races with both seen waiting, of which the ack \
             won {}",
            2 * ROUNDS,
            race.acks_won - in_units
        ),
        format!("{} retryable errors", race.retries[0].total + race.retries[1].total),
    ])
}

impl Race<'_> {
    async fn round(&mut self, id: &str) -> Result<Round, Finding> {
        let context = self.context;
        let round = Round {
            event: context.enqueued(&mut self.keeper, id).await?,
            owner: context.token("A"),
            claimer: context.token("B"),
        };
        let (now, until) = (context.at(100), context.at(150));
        let claimed = self.owner.claim(&round.event, &round.owner, now, until).await?;
        check_eq("A claims at 100 until 150", claimed, Claimed::Claimed)?;
        Ok(round)
    }

    async fn claim_behind_ack(&mut self, end: End) -> Result<(), Finding> {
        let round = self.round(&format!("claim-behind-{end:?}")).await?;
        self.owner.begin().await?;
        let mut none = Retries::default();
        let acked = round.ack(self.context, &mut self.owner, &mut none).await?;
        check_eq("A acks in an open transaction", acked, Acked::Acked)?;
        let waiter = self.claimer.id();
        let claim = round.claim(self.context, &mut self.claimer, &mut self.retries[1]);
        let (claimed, proof) = behind(self.context, &mut self.owner, end, waiter, claim).await?;
        let (acked, promised) = match end {
            End::Commit => (Acked::Acked, Claimed::NotClaimed),
            End::Rollback => (Acked::Refused, Claimed::Claimed),
        };
        let step = format!("B claims, having waited for A's ack ({end:?})");
        check_eq(&step, claimed.clone()?, promised)?;
        self.one_effect(&round, &step, acked, claimed?).await?;
        proof.demand()
    }

    async fn ack_behind_claim(&mut self, end: End) -> Result<(), Finding> {
        let round = self.round(&format!("ack-behind-{end:?}")).await?;
        self.claimer.begin().await?;
        let mut none = Retries::default();
        let claimed = round.claim(self.context, &mut self.claimer, &mut none).await?;
        check_eq("B claims in an open transaction", claimed, Claimed::Claimed)?;
        let waiter = self.owner.id();
        let ack = round.ack(self.context, &mut self.owner, &mut self.retries[0]);
        let (acked, proof) = behind(self.context, &mut self.claimer, end, waiter, ack).await?;
        let (claimed, promised) = match end {
            End::Commit => (Claimed::Claimed, Acked::Refused),
            End::Rollback => (Claimed::NotClaimed, Acked::Acked),
        };
        let step = format!("A acks, having waited for B's claim ({end:?})");
        check_eq(&step, acked.clone()?, promised)?;
        self.one_effect(&round, &step, acked?, claimed).await?;
        proof.demand()
    }

    async fn released(&mut self, number: usize, arrival: Arrival) -> Result<(), Finding> {
        let round = self.round(&format!("released-{number}-{arrival:?}")).await?;
        let (context, [retries_a, retries_b]) = (self.context, &mut self.retries);
        let ack = Attempt {
            session: self.owner.id(),
            waits: true,
            operation: round.ack(context, &mut self.owner, retries_a),
        };
        let claim = Attempt {
            session: self.claimer.id(),
            waits: true,
            operation: round.claim(context, &mut self.claimer, retries_b),
        };
        let (keeper, event) = (&mut self.keeper, &round.event);
        let ((acked, claimed), proof) =
            released(context, keeper, event, arrival, (ack, claim)).await?;
        let first = if arrival == Arrival::AsGiven { "ack" } else { "claim" };
        let step = format!("A's ack and B's claim at once, the {first} having come first");
        self.one_effect(&round, &step, acked?, claimed?).await?;
        proof.demand()
    }

    /// Holds both answers, the row and what both learn afterwards to one of the two orders.
    async fn one_effect(
        &mut self,
        round: &Round,
        step: &str,
        acked: Acked,
        claimed: Claimed,
    ) -> Result<(), Finding> {
        let at = |step| self.context.at(step);
        let one = matches!(
            (acked, claimed),
            (Acked::Acked, Claimed::NotClaimed) | (Acked::Refused, Claimed::Claimed)
        );
        check(one, || {
            format!("{step}: {acked:?} and {claimed:?} where exactly one was to take effect")
        })?;
        let (stored, again, takeover) = match acked {
            Acked::Acked => {
                (Standing::done(&round.owner, at(150)), Acked::AlreadyAcked, Acked::Refused)
            }
            _ => (Standing::held(&round.claimer, at(260)), Acked::Refused, Acked::Acked),
        };
        check_standing(step, &mut self.keeper, &round.event, &stored).await?;
        let repeated = self.owner.ack(&round.event, &round.owner, at(160)).await?;
        check_eq(&format!("{step}; then A acks again"), repeated, again)?;
        let acked_by_b = self.claimer.ack(&round.event, &round.claimer, at(160)).await?;
        check_eq(&format!("{step}; then B acks"), acked_by_b, takeover)?;
        self.acks_won += usize::from(acked == Acked::Acked);
        Ok(())
    }
}

impl Round {
    async fn ack(
        &self,
        context: &Context,
        actor: &mut Actor,
        retries: &mut Retries,
    ) -> store::Result<Acked> {
        loop {
            let acked = actor.ack(&self.event, &self.owner, context.just_before(150)).await;
            if !retries.again(context.recorder(), &acked) {
                return acked;
            }
        }
    }

    async fn claim(
        &self,
        context: &Context,
        actor: &mut Actor,
        retries: &mut Retries,
    ) -> store::Result<Claimed> {
        let (now, until) = (context.at(150), context.at(260));
        loop {
            let claimed = actor.claim(&self.event, &self.claimer, now, until).await;
            if !retries.again(context.recorder(), &claimed) {
                return claimed;
            }
        }
    }
}
