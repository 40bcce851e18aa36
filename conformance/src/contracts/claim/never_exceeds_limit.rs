//! A claim of a batch takes as many rows as it was asked for, whatever the planner believes.
//!
//! # Promise
//! Of many free rows a claim with limit n returns n, changes those n, and locks none of the other
//! free ones. It holds on a new table, of which the planner has no statistics yet, and with statistics
//! that were taken when nothing was pending, as after an idle night.
//!
//! # Steps
//! With 50 free rows, without statistics and with wrong ones, for the limits 1 and 5:
//! 1. A claims a batch. The rows returned and the rows changed in the store are counted: both are n,
//!    and they are the same rows.
//! 2. A claims a batch in a transaction. Where a lock can be refused at once, another session tries to lock
//!    every row that A was not given: no free one is refused. Rows under a live lease that the claim
//!    has locked in passing are no part of the queue; how many there are is told, not judged.
//! 3. A commits; the rows are counted again.
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
use leaseproof_engines::lease::{EventId, EventRow, NewEvent};
use leaseproof_engines::store::{LockWait, StoreOptions};
use leaseproof_reports::Level;

use crate::contract::{Clocks, Contract, Scope};
use crate::harness::actor::Actor;
use crate::harness::context::Context;
use crate::harness::finding::{Finding, Judged, check};

mod controls;

/// See the module's documentation.
pub static CONTRACT: Contract = Contract {
    id: "claim/never-exceeds-limit",
    promise: "a claim with limit n returns, changes and locks n rows, with no statistics and with wrong ones",
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
    let claims =
        format!("8 claims with limits 1 and 5 of {ROWS} rows took what they were asked for");
    if !context.has(Capability::NoWait) {
        return Ok(vec![claims]);
    }
    let (free, leased) = (new.lockable + idle.lockable, new.passed + idle.passed);
    Ok(vec![
        claims,
        format!("{free} free rows beside 4 open claims could be locked at once"),
        format!(
            "{leased} rows under a live lease could not: the claims had locked them in passing"
        ),
    ])
}

struct Queue<'case> {
    context: &'case Context,
    statistics: &'static str,
    a: Actor,
    observer: Actor,
    events: Vec<EventId>,
    rows: Vec<EventRow>,
    /// Free rows that could be locked beside an open claim.
    lockable: usize,
    /// Rows under a live lease that could not.
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
        let new: Vec<_> = (1..=ROWS).map(number).collect();
        a.enqueue(&new).await?;
        let events: Vec<_> = new.into_iter().map(|new| new.event).collect();
        let rows = read(&mut observer, &events).await?;
        Ok(Self { context, statistics, a, observer, events, rows, lockable: 0, passed: 0 })
    }

    async fn claims(&mut self) -> Result<(), Finding> {
        for limit in [1, 5] {
            for in_unit in [false, true] {
                self.claim(limit, in_unit).await?;
            }
        }
        Ok(())
    }

    async fn claim(&mut self, limit: u32, in_unit: bool) -> Result<(), Finding> {
        let batch = self.context.batch("A", limit, self.context.at(100), self.context.at(150));
        if in_unit {
            self.a.begin().await?;
        }
        let returned = self.a.claim_batch(&batch).await?;
        self.took("returned", returned.len(), limit)?;
        if in_unit {
            if self.context.has(Capability::NoWait) {
                let locked = self.locked_beside(&returned).await?;
                self.took("locked", returned.len() + locked, limit)?;
            }
            self.a.commit().await?;
        }
        let after = read(&mut self.observer, &self.events).await?;
        let differs = |(before, after): &(&EventRow, &EventRow)| before != after;
        let changed = self.rows.iter().zip(&after).filter(differs).map(|(_, after)| after);
        let changed: Vec<_> = changed.collect();
        self.took("changed", changed.len(), limit)?;
        let claimed = |row: &&EventRow| {
            row.token.as_ref() == Some(&batch.token) && returned.contains(&row.event)
        };
        check(changed.iter().all(claimed), || {
            format!("a claim returned {returned:?} and changed other rows: {changed:?}")
        })?;
        self.rows = after;
        Ok(())
    }

    fn took(&self, what: &str, count: usize, limit: u32) -> Result<(), Finding> {
        check(usize::try_from(limit) == Ok(count), || {
            format!("{}, a claim of {limit} out of {ROWS} rows {what} {count}", self.statistics)
        })
    }

    /// How many free rows that were not returned cannot be locked by another session.
    async fn locked_beside(&mut self, returned: &[EventId]) -> Result<usize, Finding> {
        let mut locked = 0;
        self.observer.begin().await?;
        for row in self.rows.iter().filter(|row| !returned.contains(&row.event)) {
            let free = row.token.is_none();
            match self.observer.lock(&row.event, LockWait::NoWait).await {
                Ok(()) => self.lockable += usize::from(free),
                Err(error) if error.is_retryable() => {
                    locked += usize::from(free);
                    self.passed += usize::from(!free);
                    self.observer.rollback().await?;
                    self.observer.begin().await?;
                }
                Err(error) => return Err(Finding::Errored(error)),
            }
        }
        self.observer.rollback().await?;
        Ok(locked)
    }
}

async fn read(reader: &mut Actor, events: &[EventId]) -> Result<Vec<EventRow>, Finding> {
    let mut rows = Vec::with_capacity(ROWS);
    for event in events {
        rows.extend(reader.event(event).await?);
    }
    check(rows.len() == ROWS, || format!("{ROWS} events were enqueued, {} are there", rows.len()))?;
    Ok(rows)
}
