//! Units that settle several events in opposite order end with at most a classified retry.
//!
//! # Promise
//! An owner renews and acks the events of a batch in transactions of several events, from two connections.
//! Units that take common events in the same order wait for each other and do not deadlock. Units that
//! take them in opposite order block each other; the engine ends that, and the one that has to give way
//! is told by a retryable error. It runs its whole transaction again. Nothing of its first run stays, and no
//! half of either transaction.
//!
//! # Steps
//! A owns two fresh events until 150 in every round. A transaction does one thing to both: renew them to 180,
//! renew them to 200, or ack them.
//! 1. Opposite order: each of two transactions has done the first of its events; the first transaction is seen
//!    waiting for the second; then the second transaction goes on to the event that the first one holds.
//! 2. At least one transaction goes on. One that failed with a retryable error is rolled back and run again from
//!    its start, in the order of the ids. It may overtake the one that waits (PostgreSQL lets it), so that
//!    they block each other anew and the other one gives way: then something was taken in between.
//! 3. Same order: the second transaction is seen waiting at its first event until the first transaction commits. It
//!    goes on, or is told to retry where the isolation demands it.
//! 4. At the end of each round both events are as the two transactions leave them in one order or the other,
//!    and what each transaction was told about both of them fits the same order.
//!
//! # How a violation looks
//! Both transactions give way at once; neither ever ends; the error is not classified, so that the worker stops; or the
//! worker repeats the statement instead of the unit: one event keeps what the other one lost, or, where
//! the other transaction overwrote that in any case, the committed transaction was told of one event done and one not.
//!
//! # Source
//! symfony/symfony#54103, y-scope/spider#371, treasure-data/digdag#1475, ShipfoxHQ/shipfox#1707,
//! datahub-project/datahub#19029.

use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use leaseproof_engines::Capability;
use leaseproof_engines::lease::{Acked, Claimed, EventId, FencingToken, Renewed};
use leaseproof_engines::store::{self};
use leaseproof_reports::Level;

use crate::contract::{Clocks, Contract, Scope};
use crate::harness::actor::Actor;
use crate::harness::context::{Context, Progress};
use crate::harness::finding::{Finding, Judged, check, check_eq};
use crate::harness::retries::Retries;
use crate::harness::standing::{Standing, check_standing};

mod controls;

/// See the module's documentation.
pub static CONTRACT: Contract = Contract {
    id: "ack/bulk-locks-in-order",
    promise: "transactions over common events do not deadlock in one order, and report a classified retry in opposite orders",
    level: Level::Extended,
    requires: &[Capability::ConcurrentWriters, Capability::WaitObservation],
    offers: &[],
    scope: Scope::Once,
    clocks: Clocks::Any,
    source: "symfony/symfony#54103, y-scope/spider#371, treasure-data/digdag#1475, \
             ShipfoxHQ/shipfox#1707, datahub-project/datahub#19029",
    controls: controls::CONTROLS,
    doc: include_str!("bulk_locks_in_order.rs"),
    run: |context| Box::pin(run(context)),
};

/// What a transaction does to both events.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Work {
    Renew(i64),
    Ack,
}

/// A connection of the owner, what its transactions do, and which statements of the last one had an effect.
struct Party {
    actor: Actor,
    work: Work,
    effective: Vec<bool>,
    number: usize,
    /// Who of both gave way last, if nothing was taken since; 0 for nobody.
    gave_way: Arc<AtomicUsize>,
    both_at_once: bool,
}

/// Whether an event is done, and its deadline.
type Row = (bool, i64);

/// The batch of a round.
struct Batch {
    events: [EventId; 2],
    token: FencingToken,
}

async fn run(context: &Context) -> Judged {
    let mut reader = context.actor("reader").await?;
    let gave_way = Arc::new(AtomicUsize::new(0));
    let party = |number, actor| {
        let (gave_way, effective) = (Arc::clone(&gave_way), Vec::new());
        Party { actor, work: Work::Ack, effective, number, gave_way, both_at_once: false }
    };
    let mut one = party(1, context.actor("A, first connection").await?);
    let mut two = party(2, context.actor("A, second connection").await?);
    let (mut opposite_retries, mut same_retries) = (0, 0);
    let pairs = [(Work::Renew(180), Work::Renew(200)), (Work::Ack, Work::Renew(200))];
    for (number, (first, second)) in pairs.into_iter().enumerate() {
        (one.work, two.work) = (first, second);
        let batch = claimed(context, &mut reader, &format!("opposite-{number}")).await?;
        opposite_retries += opposite(context, &mut reader, (&mut one, &mut two), &batch).await?;
        let batch = claimed(context, &mut reader, &format!("same-{number}")).await?;
        same_retries += same(context, &mut reader, (&mut one, &mut two), &batch).await?;
    }
    Ok(vec![
        "4 rounds of two transactions over two common events, one seen waiting for the other"
            .to_owned(),
        format!(
            "retryable errors: {opposite_retries} in opposite order, {same_retries} in the same order"
        ),
    ])
}

async fn claimed(context: &Context, reader: &mut Actor, id: &str) -> Result<Batch, Finding> {
    let first = context.enqueued(reader, &format!("{id}-1")).await?;
    let second = context.enqueued(reader, &format!("{id}-2")).await?;
    let batch = Batch { events: [first, second], token: context.token("A") };
    for event in &batch.events {
        let (now, until) = (context.at(100), context.at(150));
        let claimed = reader.claim(event, &batch.token, now, until).await?;
        check_eq("A claims at 100 until 150", claimed, Claimed::Claimed)?;
    }
    Ok(batch)
}

/// Each holds what the other wants next.
async fn opposite(
    context: &Context,
    reader: &mut Actor,
    (one, two): (&mut Party, &mut Party),
    batch: &Batch,
) -> Result<usize, Finding> {
    let [low, high] = &batch.events;
    one.begins().await?;
    two.begins().await?;
    one.does(context, batch, low).await?;
    two.does(context, batch, high).await?;
    let waiter = one.actor.id();
    let mut retries = [Retries::default(); 2];
    let [first_retries, second_retries] = &mut retries;
    let waited = {
        let mut first = pin!(one.finishes(context, batch, high, first_retries));
        let progress = context.until_waiting(&[waiter], first.as_mut()).await?;
        let second = two.finishes(context, batch, low, second_retries);
        let (waited, (first, second)) = match progress {
            Progress::Waiting => (true, futures::future::join(first, second).await),
            Progress::Finished(first) => (false, (first, second.await)),
        };
        classified(first)?;
        classified(second)?;
        waited
    };
    let at_once = one.both_at_once || two.both_at_once;
    check(!at_once, || "both transactions were told to give way to each other".to_owned())?;
    both_done(context, reader, (one, two), batch).await?;
    overlapped(waited)?;
    Ok(retries[0].total + retries[1].total)
}

/// Both take the events in the order of their ids.
async fn same(
    context: &Context,
    reader: &mut Actor,
    (one, two): (&mut Party, &mut Party),
    batch: &Batch,
) -> Result<usize, Finding> {
    let [low, high] = &batch.events;
    one.begins().await?;
    one.does(context, batch, low).await?;
    let waiter = two.actor.id();
    let mut retries = Retries::default();
    let waited = {
        let mut second = pin!(two.unit(context, batch, &mut retries));
        let progress = context.until_waiting(&[waiter], second.as_mut()).await?;
        let first = match one.does(context, batch, high).await {
            Ok(()) => one.actor.commit().await,
            failed => failed,
        };
        let failed = "the first of two transactions in the same order failed";
        check(first.is_ok(), || format!("{failed}: {first:?}"))?;
        let (waited, second) = match progress {
            Progress::Waiting => (true, second.await),
            Progress::Finished(second) => (false, second),
        };
        classified(second)?;
        waited
    };
    both_done(context, reader, (one, two), batch).await?;
    overlapped(waited)?;
    Ok(retries.total)
}

/// Asked for after what was done was judged: what is wrong is wrong without a wait, too.
fn overlapped(waited: bool) -> Result<(), Finding> {
    match waited {
        true => Ok(()),
        false => Err(Finding::Inconclusive(
            "no proof of overlap: a transaction settled an event that another transaction held"
                .to_owned(),
        )),
    }
}

/// What could not be settled by running the transaction again has not been classified.
fn classified(outcome: store::Result<()>) -> Result<(), Finding> {
    outcome.map_err(|error| {
        Finding::Broken(format!(
            "of two transactions over common events one failed with an error that is {}, not retryable: {error}",
            error.kind
        ))
    })
}

/// Both events are as the two transactions leave them in one order or the other, and that is what the transactions
/// were told. Of the transaction that gave way the events alone do not always show it: a renewal that comes
/// after a longer one, or after an ack, has no effect when it is run as a whole either.
async fn both_done(
    context: &Context,
    reader: &mut Actor,
    (one, two): (&mut Party, &mut Party),
    batch: &Batch,
) -> Result<(), Finding> {
    let allowed = [in_order(one.work, two.work), {
        let (row, [of_two, of_one]) = in_order(two.work, one.work);
        (row, [of_one, of_two])
    }];
    let told = [&one.effective, &two.effective];
    let works = format!("{:?} and {:?} of both events", one.work, two.work);
    let mut deviation = Finding::Broken(format!(
        "{works} had an effect on each: {told:?}, which neither order of the two explains"
    ));
    for ((done, until), effective) in allowed {
        if !told.iter().zip(effective).all(|(told, effective)| told[..] == [effective; 2]) {
            continue;
        }
        let until = context.at(until);
        let promised = match done {
            true => Standing::done(&batch.token, until),
            false => Standing::held(&batch.token, until),
        };
        match all_stand(&works, reader, &batch.events, &promised).await {
            Err(broken @ Finding::Broken(_)) => deviation = broken,
            outcome => return outcome,
        }
    }
    Err(deviation)
}

async fn all_stand(
    step: &str,
    reader: &mut Actor,
    events: &[EventId],
    promised: &Standing,
) -> Result<(), Finding> {
    for event in events {
        check_standing(step, reader, event, promised).await?;
    }
    Ok(())
}

/// What two transactions leave of an event, one after the other, and whether each had an effect.
fn in_order(first: Work, second: Work) -> (Row, [bool; 2]) {
    let (row, of_first) = after((false, 150), first);
    let (row, of_second) = after(row, second);
    (row, [of_first, of_second])
}

/// The event after this work, and whether that changed it.
fn after((done, until): Row, work: Work) -> (Row, bool) {
    match work {
        Work::Renew(longer) if !done && until < longer => ((done, longer), true),
        Work::Renew(_) => ((done, until), false),
        Work::Ack => ((true, until), !done),
    }
}

impl Party {
    async fn begins(&mut self) -> store::Result<()> {
        self.effective.clear();
        self.actor.begin().await
    }

    async fn does(&mut self, context: &Context, batch: &Batch, id: &EventId) -> store::Result<()> {
        let now = context.at(120);
        let effective = match self.work {
            Work::Renew(until) => {
                let until = context.at(until);
                self.actor.renew(id, &batch.token, now, until).await? == Renewed::Renewed
            }
            Work::Ack => self.actor.ack(id, &batch.token, now).await? == Acked::Acked,
        };
        self.effective.push(effective);
        self.gave_way.store(0, Ordering::SeqCst);
        Ok(())
    }

    fn gives_way(
        &mut self,
        context: &Context,
        retries: &mut Retries,
        outcome: &store::Result<()>,
    ) -> bool {
        let again = retries.again(context.recorder(), outcome);
        if again {
            let before = self.gave_way.swap(self.number, Ordering::SeqCst);
            self.both_at_once |= before != 0 && before != self.number;
        }
        again
    }

    /// The rest of an open transaction; when it is told to give way, the whole transaction from its start.
    async fn finishes(
        &mut self,
        context: &Context,
        batch: &Batch,
        last: &EventId,
        retries: &mut Retries,
    ) -> store::Result<()> {
        let rest = match self.does(context, batch, last).await {
            Ok(()) => self.actor.commit().await,
            failed => failed,
        };
        if !self.gives_way(context, retries, &rest) {
            return rest;
        }
        self.actor.rollback().await?;
        self.unit(context, batch, retries).await
    }

    /// The whole transaction, in the order of the ids, until it is committed.
    async fn unit(
        &mut self,
        context: &Context,
        batch: &Batch,
        retries: &mut Retries,
    ) -> store::Result<()> {
        loop {
            let done = self.once(context, batch).await;
            if !self.gives_way(context, retries, &done) {
                return done;
            }
            self.actor.rollback().await?;
        }
    }

    async fn once(&mut self, context: &Context, batch: &Batch) -> store::Result<()> {
        self.begins().await?;
        for event in &batch.events {
            self.does(context, batch, event).await?;
        }
        self.actor.commit().await
    }
}
