//! A renewal just before expiry and a claim just at it leave exactly one owner.
//!
//! # Promise
//! The owner renews in the last microsecond of its lease while another worker claims at the deadline.
//! Exactly one of them takes effect, in whatever order the engine serves them, and the row says
//! which. With workers whose clocks are wrong, each is judged by the instant it brought: nobody takes
//! effect whose instant forbids it, and never both.
//!
//! # Steps
//! A owns a fresh event until 150 in every round. A renews to 300, B claims until 260.
//! 1. One in an open transaction, the other seen waiting behind it, for both orders; the transaction commits (the
//!    other is refused) or rolls back (the other takes effect).
//! 2. For each clock of A and of B out of 90 s slow, right and 90 s fast, and for both orders of
//!    arrival: a gatekeeper locks the row, every attempt that could take effect is seen waiting,
//!    the gatekeeper lets go.
//! 3. After each round both confirm: the one that took effect owns the event, the other does not.
//!
//! # How a violation looks
//! Both are told that they own the event; or nobody does although one was entitled to; or the row
//! holds the token of the one that was refused.
//!
//! # Source
//! The renewal example; lukas-krecan/ShedLock#231, johanhaleby/occurrent#659,
//! constructorfabric/gears-rust#4036 (workers that judge expiry by clocks that differ).

use leaseproof_engines::lease::{Claimed, Confirmed, EventId, FencingToken, Instant, Renewed};
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
    id: "renew/races-reclaim",
    promise: "a renewal just before and a claim just at expiry leave exactly one owner, in every order and for every skew",
    level: Level::Core,
    requires: &[],
    offers: &[],
    scope: Scope::Once,
    clocks: Clocks::Logical,
    source: "the renewal example; lukas-krecan/ShedLock#231, johanhaleby/occurrent#659, \
             constructorfabric/gears-rust#4036",
    controls: controls::CONTROLS,
    doc: include_str!("races_reclaim.rs"),
    run: |context| Box::pin(run(context)),
};

/// How far a worker's clock may be off, in microseconds.
const SKEWS: [i64; 3] = [-90_000_000, 0, 90_000_000];

/// The two parties and who watches them.
struct Race<'context> {
    context: &'context Context,
    owner: Actor,
    claimer: Actor,
    keeper: Actor,
    retries: [Retries; 2],
    both_waited: usize,
    renewals_won: usize,
    claims_won: usize,
    nobody_entitled: usize,
}

/// One round: its event, the tokens and instants of both.
struct Round {
    event: EventId,
    owner: FencingToken,
    claimer: FencingToken,
    renews_at: Instant,
    claims_at: Instant,
}

async fn run(context: &Context) -> Judged {
    let mut race = Race {
        context,
        owner: context.actor("A").await?,
        claimer: context.actor("B").await?,
        keeper: context.actor("gatekeeper").await?,
        retries: [Retries::default(); 2],
        both_waited: 0,
        renewals_won: 0,
        claims_won: 0,
        nobody_entitled: 0,
    };
    for end in [End::Rollback, End::Commit] {
        race.claim_behind_renewal(end).await?;
        race.renewal_behind_claim(end).await?;
    }
    for skew_a in SKEWS {
        for skew_b in SKEWS {
            for arrival in [Arrival::AsGiven, Arrival::Reversed] {
                race.released(skew_a, skew_b, arrival).await?;
            }
        }
    }
    Ok(vec![
        format!(
            "4 attempts seen waiting behind the other; 18 rounds behind a gate, in {} of which both were \
             entitled and seen waiting at once",
            race.both_waited
        ),
        format!(
            "the renewal took effect in {} rounds, the claim in {}, nobody was entitled to in {}",
            race.renewals_won, race.claims_won, race.nobody_entitled
        ),
        format!("{} retryable errors", race.retries[0].total + race.retries[1].total),
    ])
}

impl Race<'_> {
    async fn round(&mut self, id: &str, skew_a: i64, skew_b: i64) -> Result<Round, Finding> {
        let context = self.context;
        let round = Round {
            event: context.enqueued(&mut self.keeper, id).await?,
            owner: context.token("A"),
            claimer: context.token("B"),
            renews_at: Instant(context.just_before(150).0 + skew_a),
            claims_at: Instant(context.at(150).0 + skew_b),
        };
        let (now, until) = (context.at(100), context.at(150));
        let claimed = self.owner.claim(&round.event, &round.owner, now, until).await?;
        check_eq("A claims at 100 until 150", claimed, Claimed::Claimed)?;
        Ok(round)
    }

    async fn claim_behind_renewal(&mut self, end: End) -> Result<(), Finding> {
        let round = self.round(&format!("claim-behind-{end:?}"), 0, 0).await?;
        self.owner.begin().await?;
        let mut none = Retries::default();
        let renewed = round.renew(self.context, &mut self.owner, &mut none).await?;
        check_eq("A renews in an open transaction", renewed, Renewed::Renewed)?;
        let waiter = self.claimer.id();
        let claim = round.claim(self.context, &mut self.claimer, &mut self.retries[1]);
        let (claimed, proof) = behind(self.context, &mut self.owner, end, waiter, claim).await?;
        let (renewed, promised) = match end {
            End::Commit => (Renewed::Renewed, Claimed::NotClaimed),
            End::Rollback => (Renewed::Refused, Claimed::Claimed),
        };
        let step = format!("B claims, having waited for A's renewal ({end:?})");
        check_eq(&step, claimed.clone()?, promised)?;
        self.one_owner(&round, &step, renewed, claimed?).await?;
        proof.demand()
    }

    async fn renewal_behind_claim(&mut self, end: End) -> Result<(), Finding> {
        let round = self.round(&format!("renewal-behind-{end:?}"), 0, 0).await?;
        self.claimer.begin().await?;
        let mut none = Retries::default();
        let claimed = round.claim(self.context, &mut self.claimer, &mut none).await?;
        check_eq("B claims in an open transaction", claimed, Claimed::Claimed)?;
        let waiter = self.owner.id();
        let renewal = round.renew(self.context, &mut self.owner, &mut self.retries[0]);
        let (renewed, proof) =
            behind(self.context, &mut self.claimer, end, waiter, renewal).await?;
        let (claimed, promised) = match end {
            End::Commit => (Claimed::Claimed, Renewed::Refused),
            End::Rollback => (Claimed::NotClaimed, Renewed::Renewed),
        };
        let step = format!("A renews, having waited for B's claim ({end:?})");
        check_eq(&step, renewed.clone()?, promised)?;
        self.one_owner(&round, &step, renewed?, claimed).await?;
        proof.demand()
    }

    async fn released(
        &mut self,
        skew_a: i64,
        skew_b: i64,
        arrival: Arrival,
    ) -> Result<(), Finding> {
        let id = format!("A-{skew_a:+}-B-{skew_b:+}-{arrival:?}");
        let round = self.round(&id, skew_a, skew_b).await?;
        let (context, [retries_a, retries_b]) = (self.context, &mut self.retries);
        let renewal = Attempt {
            session: self.owner.id(),
            waits: round.may_renew(context),
            operation: round.renew(context, &mut self.owner, retries_a),
        };
        let claim = Attempt {
            session: self.claimer.id(),
            waits: round.may_claim(context),
            operation: round.claim(context, &mut self.claimer, retries_b),
        };
        let (keeper, event) = (&mut self.keeper, &round.event);
        let ((renewed, claimed), proof) =
            released(context, keeper, event, arrival, (renewal, claim)).await?;
        let skews = (skew_a / 1_000_000, skew_b / 1_000_000);
        let first = if arrival == Arrival::AsGiven { "renewal" } else { "claim" };
        let step = format!("A's clock {:+} s, B's {:+} s, the {first} first", skews.0, skews.1);
        self.one_owner(&round, &step, renewed?, claimed?).await?;
        proof.demand()?;
        self.both_waited += usize::from(round.may_renew(context) && round.may_claim(context));
        Ok(())
    }

    /// Holds the round to the rules, and the row and both parties to what they were told.
    async fn one_owner(
        &mut self,
        round: &Round,
        step: &str,
        renewed: Renewed,
        claimed: Claimed,
    ) -> Result<(), Finding> {
        let at = |step| self.context.at(step);
        let told = (renewed == Renewed::Renewed, claimed == Claimed::Claimed);
        let entitled = (round.may_renew(self.context), round.may_claim(self.context));
        let expected = usize::from(entitled.0 || entitled.1);
        check(usize::from(told.0) + usize::from(told.1) == expected, || {
            format!("{step}: {renewed:?} and {claimed:?} where {expected} was to take effect")
        })?;
        check((entitled.0 || !told.0) && (entitled.1 || !told.1), || {
            format!(
                "{step}: {renewed:?} and {claimed:?}, against the instant that the worker brought"
            )
        })?;
        let stored = match told {
            (true, _) => Standing::held(&round.owner, at(300)),
            (_, true) => Standing::held(&round.claimer, at(260)),
            _ => Standing::held(&round.owner, at(150)),
        };
        check_standing(step, &mut self.keeper, &round.event, &stored).await?;
        let owner = self.owner.confirm(&round.event, &round.owner, at(160)).await?;
        let claimer = self.claimer.confirm(&round.event, &round.claimer, at(160)).await?;
        let owns = (owner == Confirmed::Confirmed, claimer == Confirmed::Confirmed);
        check(owns == told, || {
            format!(
                "{step}: {renewed:?} and {claimed:?}, yet at 160 A is {owner:?} and B is {claimer:?}"
            )
        })?;
        self.renewals_won += usize::from(told.0);
        self.claims_won += usize::from(told.1);
        self.nobody_entitled += usize::from(expected == 0);
        Ok(())
    }
}

impl Round {
    fn may_renew(&self, context: &Context) -> bool {
        self.renews_at < context.at(150)
    }

    fn may_claim(&self, context: &Context) -> bool {
        self.claims_at >= context.at(150)
    }

    async fn renew(
        &self,
        context: &Context,
        actor: &mut Actor,
        retries: &mut Retries,
    ) -> store::Result<Renewed> {
        loop {
            let renewed =
                actor.renew(&self.event, &self.owner, self.renews_at, context.at(300)).await;
            if !retries.again(context.recorder(), &renewed) {
                return renewed;
            }
        }
    }

    async fn claim(
        &self,
        context: &Context,
        actor: &mut Actor,
        retries: &mut Retries,
    ) -> store::Result<Claimed> {
        loop {
            let claimed =
                actor.claim(&self.event, &self.claimer, self.claims_at, context.at(260)).await;
            if !retries.again(context.recorder(), &claimed) {
                return claimed;
            }
        }
    }
}
