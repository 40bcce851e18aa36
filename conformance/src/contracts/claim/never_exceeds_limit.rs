//! A claim of a batch takes as many rows as it was asked for, whatever the planner believes.
//!
//! # Promise
//! Of many free events a claim with limit n returns n, takes those n and no other, and keeps nobody from
//! the other free ones. It holds on a new table, of which the planner has no statistics yet, and with statistics
//! that were taken when nothing was pending, as after an idle night.
//!
//! # Steps
//! With 50 free events, without statistics and with wrong ones, for the limits 1 and 5:
//! 1. A claims a batch and is given n. The candidates are what they were, without those n; each of the n is
//!    held by A's token.
//! 2. A claims a batch in a transaction. Where a lock can be refused at once, another session tries to lock
//!    every event that A was not given: no free one is refused. Events under a live lease that the claim
//!    has locked in passing are no part of the queue; how many there are is told, not judged.
//! 3. A commits; candidates and tokens are compared again.
//!
//! # How a violation looks
//! One worker takes the whole queue and holds it until its lease is over, while the others idle; or a
//! claim of one row locks all of them, so that the others find an empty queue.
//!
//! # Source
//! A locking subquery with a limit that the planner runs once for each outer row, and each run skips
//! what the statement has locked already: `saurabhnanda/odd-jobs#115`, `rust-playground/relay-rs#22`,
//! `treeverse/lakeFS#643`. Claims that sort, and lock what they sort: `OneUptime/oneuptime#3117`.

use leaseproof_engines::Capability;
use leaseproof_engines::capability::StoreCapability;
use leaseproof_engines::lease::{ClaimBatch, EventId, Instant, NewEvent};
use leaseproof_engines::store::{LockWait, StoreOptions};
use leaseproof_reports::Level;

use crate::contract::{Clocks, Contract, Scope};
use crate::harness::actor::Actor;
use crate::harness::context::Context;
use crate::harness::finding::{Finding, Judged, check, check_eq};
use crate::harness::standing::{Standing, check_standing};

mod controls;

/// See the module's documentation.
pub static CONTRACT: Contract = Contract {
    id: "claim/never-exceeds-limit",
    promise: "a claim with limit n returns, takes and locks n rows, with no statistics and with wrong ones",
    level: Level::Core,
    requires: &[],
    offers: &[],
    scope: Scope::EachStrategy,
    clocks: Clocks::Any,
    source: "saurabhnanda/odd-jobs#115, rust-playground/relay-rs#22, treeverse/lakeFS#643, \
             OneUptime/oneuptime#3117",
    controls: controls::CONTROLS,
    doc: include_str!("never_exceeds_limit.rs"),
    run: |context| Box::pin(run(context)),
};

const ROWS: usize = 50;

async fn run(context: &Context) -> Judged {
    let mut new = Queue::new(context, "without statistics").await?;
    new.claims().await?;
    let misled = context.on_another_store(StoreOptions::default()).await?;
    misled.mislead_planner().await?;
    let mut idle = Queue::new(&misled, "with statistics of an idle night").await?;
    idle.claims().await?;
    let claims = new.claims + idle.claims;
    let claims = format!(
        "{claims} claims with limits 1 and 5 of {ROWS} events took what they were asked for"
    );
    if !new.locks {
        return Ok(vec![claims]);
    }
    let (free, leased) = (new.lockable + idle.lockable, new.passed + idle.passed);
    Ok(vec![
        claims,
        format!("{free} free events beside 4 open claims could be locked at once"),
        format!(
            "{leased} events under a live lease could not: the claims had locked them in passing"
        ),
    ])
}

struct Queue<'case> {
    context: &'case Context,
    statistics: &'static str,
    a: Actor,
    observer: Actor,
    events: Vec<EventId>,
    /// Those that can be claimed, in order.
    free: Vec<EventId>,
    claims: usize,
    /// Whether another session can look for locks beside an open claim.
    locks: bool,
    /// Free events that could be locked beside an open claim.
    lockable: usize,
    /// Events under a live lease that could not.
    passed: usize,
}

impl<'case> Queue<'case> {
    async fn new(context: &'case Context, statistics: &'static str) -> Result<Self, Finding> {
        let (mut a, mut observer) = (context.actor("A").await?, context.actor("observer").await?);
        let number = |number: usize| {
            // Due in another order than that of the ids, so that the claim has something to order.
            let due = context.at(i64::try_from(number * 7 % 10).unwrap_or(0));
            NewEvent { due, ..context.new_event(&format!("EVENT-{number:02}")) }
        };
        let mut new: Vec<_> = (1..=ROWS).map(number).collect();
        a.enqueue(&new).await?;
        new.sort_by_key(|new| (new.due, new.event.clone()));
        let events: Vec<_> = new.into_iter().map(|new| new.event).collect();
        let free = observer.candidates(999, context.at(100)).await?;
        check_eq(&format!("{statistics}: the candidates"), &free, &events)?;
        let locks =
            context.has(Capability::NoWait) && context.offers(StoreCapability::ConcurrentSessions);
        Ok(Self {
            context,
            statistics,
            a,
            observer,
            events,
            free,
            claims: 0,
            locks,
            lockable: 0,
            passed: 0,
        })
    }

    async fn claims(&mut self) -> Result<(), Finding> {
        for limit in [1, 5] {
            self.claim(limit, false).await?;
            if self.context.offers(StoreCapability::CallerTransactions) {
                self.claim(limit, true).await?;
            }
        }
        Ok(())
    }

    async fn claim(&mut self, limit: u32, in_unit: bool) -> Result<(), Finding> {
        let batch = self.context.batch("A", limit, self.context.at(100), self.context.at(150));
        self.claims += 1;
        if in_unit {
            self.a.begin().await?;
        }
        let given = self.a.claim_batch(&batch).await?;
        check(usize::try_from(limit) == Ok(given.len()), || {
            format!("{} was given {}: {given:?}", self.step(limit), given.len())
        })?;
        if in_unit {
            if self.locks {
                self.locks_nothing_else(limit, &given).await?;
            }
            self.a.commit().await?;
        }
        self.took(limit, &batch, given).await
    }

    fn step(&self, limit: u32) -> String {
        format!("{}, A's claim of {limit} out of {} free events", self.statistics, self.free.len())
    }

    /// What was given is A's, and everything else is as free as it was.
    async fn took(
        &mut self,
        limit: u32,
        batch: &ClaimBatch,
        given: Vec<EventId>,
    ) -> Result<(), Finding> {
        let step = self.step(limit);
        let left = self.candidates(batch.now).await?;
        let lost: Vec<_> = self.free.iter().filter(|event| !left.contains(event)).collect();
        check(lost.iter().all(|event| given.contains(event)) && lost.len() == given.len(), || {
            format!("{step} was given {given:?}, and took {lost:?}")
        })?;
        for event in &given {
            let held = Standing::held(&batch.token, batch.until);
            check_standing(&step, &mut self.observer, event, &held).await?;
        }
        self.free = left;
        Ok(())
    }

    async fn candidates(&mut self, now: Instant) -> Result<Vec<EventId>, Finding> {
        Ok(self.observer.candidates(999, now).await?)
    }

    /// No free event beside those that A was given is kept from another session.
    async fn locks_nothing_else(&mut self, limit: u32, given: &[EventId]) -> Result<(), Finding> {
        let mut locked = Vec::new();
        self.observer.begin().await?;
        for event in self.events.iter().filter(|event| !given.contains(event)) {
            let free = self.free.contains(event);
            match self.observer.lock(event, LockWait::NoWait).await {
                Ok(()) => self.lockable += usize::from(free),
                Err(error) if error.is_retryable() => {
                    if free {
                        locked.push(event.clone());
                    }
                    self.passed += usize::from(!free);
                    self.observer.rollback().await?;
                    self.observer.begin().await?;
                }
                Err(error) => return Err(Finding::Errored(error)),
            }
        }
        self.observer.rollback().await?;
        check(locked.is_empty(), || {
            format!(
                "{} is open and was given {given:?}; another session that asked for the lock of each other \
                 free event was refused {} of them: {locked:?}",
                self.step(limit),
                locked.len()
            )
        })
    }
}
