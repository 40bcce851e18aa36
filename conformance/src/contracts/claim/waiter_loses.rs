//! A claim that waits behind another worker's open claim loses when that one commits, and wins when
//! it is rolled back.
//!
//! # Promise
//! B claims while A's claim of the same event is not committed yet. B is not told that it owns the
//! event as long as A may still commit. When A commits, B loses: zero rows, or an error that is
//! classified as retryable, and a second attempt in B's transaction loses too. When A rolls back, B wins,
//! at once or by running its transaction again after a retryable error. Exactly one of them wins each time.
//!
//! # Steps
//! For an event that is free, and for one whose lease is over; with B's claim on its own, and inside a
//! transaction of B's; by a claim of one event, and by a claim of a batch:
//! 1. A begins a transaction and claims. B claims, and is seen waiting. A rolls back: B has won, the event
//!    is held by B's token, and B acks.
//! 2. The same once more, but A commits: B has lost, the event is held by A's token, and A acks.
//! 3. B begins a transaction with a read. A claims and commits. B's claim in that transaction loses, and so does
//!    one in a new transaction.
//!
//! A retryable error is a loser's right wherever it is raised, at `COMMIT` too: B runs its transaction again.
//! A strategy that passes over locked rows gives B an empty batch instead of a wait; after the
//! rollback B's next poll wins.
//!
//! # How a violation looks
//! B overwrites A's committed claim: both were told that the event is theirs, and both publish it. Or
//! nobody wins after a rollback, although B was there to take the event.
//!
//! # Source
//! Claims that choose a row first and update it later, without looking again after the wait:
//! `hangfire-postgres/Hangfire.PostgreSql#73`, `dereuromark/cakephp-queue#121`, `seatgeek/djjob#2`,
//! `quartz-scheduler/quartz#107`.

use std::pin::pin;

use leaseproof_engines::EngineError;
use leaseproof_engines::capability::StoreCapability;
use leaseproof_engines::lease::{Acked, Claimed, EventId, FencingToken};
use leaseproof_reports::Level;

use crate::contract::{Clocks, Contract, Scope};
use crate::harness::actor::{Actor, Way};
use crate::harness::context::{Context, Progress};
use crate::harness::finding::{Finding, Judged, check_eq};
use crate::harness::standing::{Standing, check_attempts, check_standing};

mod controls;

/// See the module's documentation.
pub static CONTRACT: Contract = Contract {
    id: "claim/waiter-loses",
    promise: "a claim that waits behind an open claim loses if that one commits and wins if it rolls back",
    level: Level::Core,
    requires: &[],
    offers: &[StoreCapability::CallerTransactions, StoreCapability::ConcurrentSessions],
    scope: Scope::EachStrategy,
    clocks: Clocks::Any,
    source: "hangfire-postgres/Hangfire.PostgreSql#73, dereuromark/cakephp-queue#121, \
             seatgeek/djjob#2, quartz-scheduler/quartz#107",
    controls: controls::CONTROLS,
    doc: include_str!("waiter_loses.rs"),
    run: |context| Box::pin(run(context)),
};

async fn run(context: &Context) -> Judged {
    let (a, b) = (context.actor("A").await?, context.actor("B").await?);
    let mut race = Race { context, a, b, rounds: 0, waits: 0, restarts: 0, unproven: None };
    for way in Way::BOTH {
        for expired in [false, true] {
            for in_unit in [false, true] {
                race.rolled_back(way, expired, in_unit).await?;
                race.committed(way, expired, in_unit).await?;
            }
            race.stale_snapshot(way, expired).await?;
        }
    }
    let Race { rounds, waits, restarts, unproven, .. } = race;
    // Every answer was right; one that came too early shows nothing about waiting.
    unproven.map_or(Ok(()), Err)?;
    Ok(vec![format!(
        "{rounds} claims against another one had one winner each; B was seen waiting in {waits} and \
         ran its unit again after a retryable error in {restarts}"
    )])
}

/// The token by which the event was won, if it was.
type Won = Result<Option<FencingToken>, EngineError>;

#[derive(Clone, Copy)]
enum Ending {
    Commit,
    RollBack,
}

struct Race<'case> {
    context: &'case Context,
    a: Actor,
    b: Actor,
    rounds: usize,
    waits: usize,
    restarts: usize,
    unproven: Option<Finding>,
}

impl Race<'_> {
    async fn rolled_back(&mut self, way: Way, expired: bool, in_unit: bool) -> Result<(), Finding> {
        let event = self.event(expired).await?;
        self.open_claim(&event, way).await?;
        let mut won = self.behind(&event, way, in_unit, Ending::RollBack).await?;
        if way == Way::Batch && matches!(won, Ok(None)) {
            // An empty batch speaks of the moment of the poll; the next poll decides.
            won = attempt(self.context, &mut self.b, &event, way).await;
        }
        if self.runs_again(&won, in_unit).await? {
            won = attempt(self.context, &mut self.b, &event, way).await;
        }
        let Some(token) = won? else {
            return Err(Finding::Broken(format!(
                "A's claim of {event} was rolled back, and B's claim beside it did not win: nobody owns the event"
            )));
        };
        self.owned(&event, &token, expired).await?;
        let acked = self.b.ack(&event, &token, self.context.at(120)).await?;
        check_eq("B acks what it won", acked, Acked::Acked)
    }

    async fn committed(&mut self, way: Way, expired: bool, in_unit: bool) -> Result<(), Finding> {
        let event = self.event(expired).await?;
        let token = self.open_claim(&event, way).await?;
        let mut won = self.behind(&event, way, in_unit, Ending::Commit).await?;
        lost(&event, &won)?;
        if in_unit && won.is_ok() {
            won = attempt(self.context, &mut self.b, &event, way).await;
            lost(&event, &won)?;
        }
        self.lost_for_good(&event, way, &won, in_unit).await?;
        self.owned_by_a(&event, &token, expired).await
    }

    /// B's transaction has read before A claims, so that it may still see the event as free. Where that read
    /// keeps A from the event, B has nothing to lose yet: it gives way, and loses in a new transaction.
    async fn stale_snapshot(&mut self, way: Way, expired: bool) -> Result<(), Finding> {
        let event = self.event(expired).await?;
        let (context, a, b) = (self.context, &mut self.a, &mut self.b);
        b.begin_snapshot().await?;
        let claimer = a.id();
        let (mut stale, mut in_unit) = (Ok(None), true);
        let mut won = {
            let mut claim = pin!(claim_and_commit(context, a, &event, way));
            match context.until_waiting(&[claimer], claim.as_mut()).await? {
                Progress::Finished(won) => won?,
                Progress::Waiting => {
                    b.rollback().await?;
                    in_unit = false;
                    claim.await?
                }
            }
        };
        if in_unit && won.is_some() {
            stale = attempt(context, b, &event, way).await;
        } else if in_unit {
            b.rollback().await?;
            in_unit = false;
            won = claim_and_commit(context, a, &event, way).await?;
        }
        let token = won.ok_or_else(|| a_lost(&event))?;
        lost(&event, &stale)?;
        self.lost_for_good(&event, way, &stale, in_unit).await?;
        self.owned_by_a(&event, &token, expired).await
    }

    /// The one event that is pending.
    async fn event(&mut self, expired: bool) -> Result<EventId, Finding> {
        self.rounds += 1;
        let event = self.context.enqueued(&mut self.a, &format!("EVENT-{}", self.rounds)).await?;
        if expired {
            let (now, until) = (self.context.at(10), self.context.at(50));
            let claimed = self.a.claim(&event, &self.context.token("gone"), now, until).await?;
            check_eq("a claim whose lease will be over", claimed, Claimed::Claimed)?;
        }
        Ok(event)
    }

    /// A claims and leaves its transaction open.
    async fn open_claim(&mut self, event: &EventId, way: Way) -> Result<FencingToken, Finding> {
        self.a.begin().await?;
        let won = attempt(self.context, &mut self.a, event, way).await?;
        won.ok_or_else(|| a_lost(event))
    }

    /// B's attempt beside A's open claim, and what B was told once A's transaction had ended. A transaction that B
    /// begins is left open.
    async fn behind(
        &mut self,
        event: &EventId,
        way: Way,
        in_unit: bool,
        ending: Ending,
    ) -> Result<Won, Finding> {
        let (context, b) = (self.context, &mut self.b);
        let waiter = b.id();
        let mut attempt = pin!(async move {
            if in_unit {
                b.begin().await?;
            }
            attempt(context, b, event, way).await
        });
        let early = match context.until_waiting(&[waiter], attempt.as_mut()).await? {
            Progress::Waiting => None,
            Progress::Finished(won) => Some(won),
        };
        match &early {
            None => self.waits += 1,
            // Right for a batch that passes over locked rows; for others the rollback will tell.
            Some(Ok(None)) => {}
            Some(Ok(Some(_))) => {
                let seen =
                    format!("B was told that it owns {event} while A's claim of it was open");
                return Err(Finding::Broken(seen));
            }
            Some(Err(error)) if error.is_retryable() => {
                let seen = format!("no proof of overlap: B's claim did not wait: {error}");
                self.unproven = Some(Finding::Inconclusive(seen));
            }
            Some(Err(error)) => return Err(Finding::Errored(error.clone())),
        }
        match ending {
            Ending::Commit => self.a.commit().await?,
            Ending::RollBack => self.a.rollback().await?,
        }
        Ok(match early {
            Some(won) => won,
            None => attempt.await,
        })
    }

    /// Ends B's transaction; whether a retryable error, of the claim or of the commit, makes B run it again.
    async fn runs_again(&mut self, won: &Won, in_unit: bool) -> Result<bool, Finding> {
        let mut again = matches!(won, Err(error) if error.is_retryable());
        match (in_unit, again) {
            (false, _) => {}
            (true, true) => self.b.rollback().await?,
            (true, false) => {
                let committed = self.b.commit().await;
                again = matches!(&committed, Err(error) if error.is_retryable());
                match again {
                    true => self.context.loser_saw(&committed),
                    false => committed?,
                }
            }
        }
        self.restarts += usize::from(again);
        Ok(again)
    }

    /// B ends its transaction, and loses in a new one too.
    async fn lost_for_good(
        &mut self,
        event: &EventId,
        way: Way,
        won: &Won,
        in_unit: bool,
    ) -> Result<(), Finding> {
        self.context.loser_saw(won);
        self.runs_again(won, in_unit).await?;
        lost(event, &attempt(self.context, &mut self.b, event, way).await)
    }

    /// The event is held by the winner's token, and only the winner's claim has counted.
    async fn owned(
        &mut self,
        event: &EventId,
        token: &FencingToken,
        expired: bool,
    ) -> Result<(), Finding> {
        let step = format!("{event} was won with `{token}`");
        let held = Standing::held(token, self.context.at(150));
        // Neither has a transaction open any more.
        check_standing(&step, &mut self.b, event, &held).await?;
        check_attempts(&step, &mut self.b, event, 1 + i64::from(expired)).await
    }

    async fn owned_by_a(
        &mut self,
        event: &EventId,
        token: &FencingToken,
        expired: bool,
    ) -> Result<(), Finding> {
        self.owned(event, token, expired).await?;
        let acked = self.a.ack(event, token, self.context.at(120)).await?;
        check_eq("A acks what it won", acked, Acked::Acked)
    }
}

async fn attempt(context: &Context, actor: &mut Actor, event: &EventId, way: Way) -> Won {
    let batch = context.batch(actor.name(), 5, context.at(100), context.at(150));
    Ok(actor.claim_by(way, event, &batch).await?.then_some(batch.token))
}

async fn claim_and_commit(context: &Context, actor: &mut Actor, event: &EventId, way: Way) -> Won {
    actor.begin().await?;
    let won = attempt(context, actor, event, way).await?;
    actor.commit().await.map(|()| won)
}

fn a_lost(event: &EventId) -> Finding {
    Finding::Broken(format!("A claimed {event}, which was free, and did not get it"))
}

/// Zero rows, or an error after which the transaction may be run again.
fn lost(event: &EventId, won: &Won) -> Result<(), Finding> {
    match won {
        Ok(None) => Ok(()),
        Err(error) if error.is_retryable() => Ok(()),
        Err(error) => Err(Finding::Errored(error.clone())),
        Ok(Some(_)) => Err(Finding::Broken(format!(
            "A's claim of {event} is committed, and B was told that it owns the event as well"
        ))),
    }
}
