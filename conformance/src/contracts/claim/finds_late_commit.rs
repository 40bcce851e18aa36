//! An event that sorts before others and is committed after them is delivered.
//!
//! # Promise
//! Ids and due instants are handed out before the commit that makes them visible, so an event may
//! appear behind the place that the relay has reached. A relay asks which events are free, never
//! which come after the last one it saw: the late event is claimed by the next poll.
//!
//! # Steps
//! Four pairs of a late and an early event; the late one has the lower id, the earlier due instant,
//! the earlier instant of its enqueueing, or all of them.
//! 1. A begins a transaction and enqueues the late event. B enqueues the early one, which is committed first.
//! 2. The relay polls, gets the early event and nothing of A's open transaction, and acks it.
//! 3. A commits. The relay polls again and gets the late event.
//! 4. Once more, but A rolls back: the relay gets nothing.
//!
//! Where only one transaction may write at a time, B is seen waiting for A's transaction in step 1 and nothing
//! can overtake it: there the relay gets both events afterwards. The late event is then one whose transaction
//! begins only when the early one was delivered, as when a producer is slow between taking an id and
//! writing it.
//!
//! # How a violation looks
//! The late event is never delivered, and nobody notices: it is pending, due and free for ever.
//!
//! # Source
//! Relays that remember the last id or position: `kamu-data/kamu-cli#1398`, `Eventuous/eventuous#222`,
//! `eugene-khyst/postgresql-event-sourcing#2`, `google/nomulus#1539`, `NEventStore/NEventStore#425`.

use std::pin::pin;

use leaseproof_engines::Capability;
use leaseproof_engines::capability::StoreCapability;
use leaseproof_engines::lease::{Acked, EventId, NewEvent};
use leaseproof_reports::Level;

use crate::contract::{Clocks, Contract, Scope};
use crate::harness::actor::Actor;
use crate::harness::context::{Context, Progress};
use crate::harness::finding::{Finding, Judged, check, check_eq};

mod controls;

/// See the module's documentation.
pub static CONTRACT: Contract = Contract {
    id: "claim/finds-late-commit",
    promise: "an event that sorts before others and is committed after them is delivered",
    level: Level::Core,
    requires: &[],
    offers: &[StoreCapability::CallerTransactions, StoreCapability::ConcurrentSessions],
    scope: Scope::EachStrategy,
    clocks: Clocks::Any,
    source: "kamu-data/kamu-cli#1398, Eventuous/eventuous#222, \
             eugene-khyst/postgresql-event-sourcing#2, google/nomulus#1539, NEventStore/NEventStore#425",
    controls: controls::CONTROLS,
    doc: include_str!("finds_late_commit.rs"),
    run: |context| Box::pin(run(context)),
};

/// A late and an early event: their id, and how many steps after 10 they are due and enqueued.
type Pair = [(&'static str, i64, i64); 2];

const PAIRS: [Pair; 4] = [
    [("1-late", 0, 0), ("2-early", 0, 0)],
    [("4-late", 0, 0), ("3-early", 5, 0)],
    [("6-late", 5, 0), ("5-early", 5, 5)],
    [("7-late", 10, 10), ("8-early", 15, 15)],
];

async fn run(context: &Context) -> Judged {
    let mut parties = Parties {
        context,
        slow: context.actor("A").await?,
        fast: context.actor("B").await?,
        relay: context.actor("relay").await?,
    };
    let overtakes = context.has(Capability::ConcurrentWriters);
    for pair in PAIRS {
        let [late, early] = pair.map(|place| parties.new_event(place));
        if overtakes {
            parties.late_commit(&late, &early).await?;
        } else {
            parties.late_unit(&late, &early).await?;
        }
    }
    if overtakes {
        let (late, early) = (context.new_event("0-undone"), context.new_event("9-early"));
        parties.undone(&late, &early).await?;
        return Ok(vec!["4 events committed behind the relay were delivered by its next poll; one that was rolled back was not".to_owned()]);
    }
    let (first, second) = (context.new_event("0-first"), context.new_event("9-second"));
    parties.in_line(&first, &second).await?;
    Ok(vec![
        "writers take turns: a second producer was seen waiting for the first one's open transaction"
            .to_owned(),
        "4 events written behind the relay were delivered by its next poll".to_owned(),
    ])
}

struct Parties<'case> {
    context: &'case Context,
    slow: Actor,
    fast: Actor,
    relay: Actor,
}

impl Parties<'_> {
    fn new_event(&self, (id, due, enqueued): (&str, i64, i64)) -> NewEvent {
        let (due, enqueued) = (self.context.at(10 + due), self.context.at(10 + enqueued));
        NewEvent { event: EventId::new(id), due, enqueued }
    }

    /// The late event is written first and committed last.
    async fn late_commit(&mut self, late: &NewEvent, early: &NewEvent) -> Result<(), Finding> {
        self.slow.begin().await?;
        self.slow.enqueue(std::slice::from_ref(late)).await?;
        self.fast.enqueue(std::slice::from_ref(early)).await?;
        self.delivers("while A's transaction is open", &[early]).await?;
        self.slow.commit().await?;
        self.delivers("after A has committed an event behind the relay", &[late]).await
    }

    /// The same, but the late event never comes to be.
    async fn undone(&mut self, late: &NewEvent, early: &NewEvent) -> Result<(), Finding> {
        self.slow.begin().await?;
        self.slow.enqueue(std::slice::from_ref(late)).await?;
        self.fast.enqueue(std::slice::from_ref(early)).await?;
        self.delivers("while A's transaction is open", &[early]).await?;
        self.slow.rollback().await?;
        self.delivers("after A has rolled back", &[]).await
    }

    /// The late event is written when the early one was delivered.
    async fn late_unit(&mut self, late: &NewEvent, early: &NewEvent) -> Result<(), Finding> {
        self.fast.enqueue(std::slice::from_ref(early)).await?;
        self.delivers("before A writes", &[early]).await?;
        self.slow.begin().await?;
        self.slow.enqueue(std::slice::from_ref(late)).await?;
        self.slow.commit().await?;
        self.delivers("after A has committed an event behind the relay", &[late]).await
    }

    /// With one writer at a time the second producer waits, and so nothing is overtaken.
    async fn in_line(&mut self, first: &NewEvent, second: &NewEvent) -> Result<(), Finding> {
        self.slow.begin().await?;
        self.slow.enqueue(std::slice::from_ref(first)).await?;
        let early = {
            let waiter = self.fast.id();
            let mut enqueue = pin!(self.fast.enqueue(std::slice::from_ref(second)));
            let progress = self.context.until_waiting(&[waiter], enqueue.as_mut()).await?;
            self.slow.commit().await?;
            match progress {
                Progress::Waiting => enqueue.await.map(|_| false)?,
                Progress::Finished(outcome) => outcome.map(|_| true)?,
            }
        };
        self.delivers("after both have committed", &[first, second]).await?;
        match early {
            false => Ok(()),
            true => {
                let seen = "no proof of overlap: a second writer did not wait for the first one";
                Err(Finding::Inconclusive(seen.to_owned()))
            }
        }
    }

    /// The relay's next poll returns just these, which it then acks.
    async fn delivers(&mut self, when: &str, promised: &[&NewEvent]) -> Result<(), Finding> {
        let batch = self.context.batch("relay", 10, self.context.at(100), self.context.at(200));
        let events = self.relay.claim_batch(&batch).await?;
        let promised: Vec<_> = promised.iter().map(|new| new.event.clone()).collect();
        check(events == promised, || {
            format!("the relay's poll {when} returned {events:?} where {promised:?} was promised")
        })?;
        for event in &events {
            let acked = self.relay.ack(event, &batch.token, self.context.at(110)).await?;
            check_eq("the relay acks", acked, Acked::Acked)?;
        }
        Ok(())
    }
}
