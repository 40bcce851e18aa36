//! The backlog is reported right: what is claimable, held and overdue, and how old it is.
//!
//! # Promise
//! Whoever stops or starts a worker decides by these numbers: the events claimable now, the leases still
//! live, the leases that are over, and the age of the oldest event that is not done. At every instant they
//! are what follows from the operations that took effect until then.
//!
//! # Steps
//! 1. Events of every kind are brought about: done (the oldest of all), claimable, not due yet, released,
//!    held under three deadlines, and overdue.
//! 2. At instants before, at and after the stop of a worker (the boundaries of due instants and deadlines,
//!    and right before each), and after another one has started, the report is compared with an
//!    independent count over books that the contract keeps of every claim, renewal, release and ack.
//! 3. When everything is done, the report is zero in all its parts.
//!
//! # How a violation looks
//! A worker is stopped while work is in flight because nothing seemed to be, an alarm on age stays silent,
//! or overdue leases are counted as live for ever.
//!
//! # Source
//! The worker-shutdown and scheduled-polling examples: record backlog age, claims active at stop and
//! leases expired after the restart.

use std::collections::BTreeMap;

use leaseproof_engines::capability::StoreCapability;
use leaseproof_engines::lease::{
    Acked, Backlog, Claimed, Clock, EventId, Instant, NewEvent, Released, Renewed,
};
use leaseproof_reports::Level;

use crate::contract::{Clocks, Contract, Scope};
use crate::harness::actor::Actor;
use crate::harness::context::Context;
use crate::harness::finding::{Finding, Judged, check_eq};
use crate::worker::Worker;

mod controls;

/// See the module's documentation.
pub static CONTRACT: Contract = Contract {
    id: "stop/reports-backlog",
    promise: "backlog age, claims still active at the stop and leases expired at the restart are reported, and right",
    level: Level::Core,
    requires: &[],
    offers: &[StoreCapability::Backlog],
    scope: Scope::Once,
    clocks: Clocks::Any,
    source: "the worker-shutdown and scheduled-polling examples",
    controls: controls::CONTROLS,
    doc: include_str!("reports_backlog.rs"),
    run: |context| Box::pin(run(context)),
};

/// Every event: its id, when it is due, and when it was enqueued.
const EVENTS: [(&str, i64, i64); 9] = [
    ("oldest", 0, 1),
    ("handled", 0, 20),
    ("held", 0, 30),
    ("given-back", 0, 40),
    ("renewed", 0, 50),
    ("overdue", 0, 25),
    ("waiting", 0, 60),
    ("due-at-stop", 120, 15),
    ("due-later", 500, 70),
];

/// What is known of an event from the operations that took effect.
#[derive(Default)]
struct Known {
    until: Option<Instant>,
    done: bool,
}

/// The books that the reports are held against.
#[derive(Default)]
struct Books(BTreeMap<EventId, Known>);

impl Books {
    fn of(&mut self, event: &EventId) -> &mut Known {
        self.0.entry(event.clone()).or_default()
    }

    /// Counts what is waiting, held and overdue at an instant.
    fn count(&self, context: &Context, now: Instant) -> Backlog {
        let mut counted = nothing();
        for (id, due, enqueued) in EVENTS {
            let known = self.0.get(&EventId::new(id));
            if known.is_some_and(|known| known.done) {
                continue;
            }
            let until = known.and_then(|known| known.until);
            let live = until.is_some_and(|until| now < until);
            let is_due = context.at(due) <= now;
            counted.claimable += i64::from(is_due && !live);
            counted.active += i64::from(live);
            counted.expired += i64::from(until.is_some() && !live);
            counted.age_us = counted.age_us.max(now.0 - context.at(enqueued).0);
        }
        counted
    }
}

async fn run(context: &Context) -> Judged {
    let mut reader = context.actor("reader").await?;
    let at = |step| context.at(step);
    check_eq("the backlog of an empty store", reader.backlog(at(100)).await?, nothing())?;
    let new = |(id, due, enqueued): &(&str, i64, i64)| NewEvent {
        event: EventId::new(*id),
        due: at(*due),
        enqueued: at(*enqueued),
    };
    reader.enqueue(&EVENTS.iter().map(new).collect::<Vec<_>>()).await?;
    let mut books = Books::default();
    bring_about(context, &mut reader, &mut books).await?;
    let mut a = Worker::new(context, "A").await?;
    at_work(context, &mut a, &mut books).await?;
    let mut compared = 0;
    for now in [at(119), context.just_before(120), at(120)] {
        compared += compare(context, &mut reader, &books, "before the stop", now).await?;
    }
    a.stop();
    if context.offers(StoreCapability::Release) {
        let released = a.release_unstarted(at(120)).await?;
        let promised = vec![(EventId::new("given-back"), Released::Released)];
        check_eq("what A gives back", &released, &promised)?;
        books.of(&released[0].0).until = None;
    }
    for step in [120, 150, 200, 500] {
        for now in [context.just_before(step), at(step)] {
            compared += compare(context, &mut reader, &books, "after the stop", now).await?;
        }
    }
    a.actor.close().await;
    compared += restart(context, &mut reader, &mut books).await?;
    Ok(vec![format!(
        "{compared} reports, each equal to a count over the books of {} events",
        EVENTS.len()
    )])
}

/// The oldest event is done, and one lease is over.
async fn bring_about(
    context: &Context,
    actor: &mut Actor,
    books: &mut Books,
) -> Result<(), Finding> {
    let (oldest, overdue) = (EventId::new("oldest"), EventId::new("overdue"));
    for (event, until) in [(&oldest, context.at(130)), (&overdue, context.at(105))] {
        let token = context.token("before");
        let claimed = actor.claim(event, &token, context.at(90), until).await?;
        check_eq("an earlier worker claims", claimed, Claimed::Claimed)?;
        books.of(event).until = Some(until);
        if event == &oldest {
            let acked = actor.ack(event, &token, context.at(95)).await?;
            check_eq("an earlier worker acks", acked, Acked::Acked)?;
            books.of(event).done = true;
        }
    }
    Ok(())
}

/// A claims four events, acks one, renews one and has begun with two.
async fn at_work(context: &Context, a: &mut Worker, books: &mut Books) -> Result<(), Finding> {
    let at = |step| context.at(step);
    // In order of due instant and id.
    let batch = ["given-back", "handled", "held", "renewed"].map(EventId::new);
    let claimed = a.poll(context, 4, at(100), at(150)).await?;
    check_eq("the events that A claims at 100", claimed.as_slice(), &batch)?;
    for event in &batch {
        books.of(event).until = Some(at(150));
    }
    let [_, handled, held, renewed] = &batch;
    acks(context, a, handled, 110, books).await?;
    for event in [held, renewed] {
        a.start(event, at(110));
    }
    let answer = a.renew(renewed, at(115), at(200)).await?;
    check_eq("A renews to 200", answer, Renewed::Renewed)?;
    books.of(renewed).until = Some(at(200));
    Ok(())
}

async fn acks(
    context: &Context,
    worker: &mut Worker,
    event: &EventId,
    step: i64,
    books: &mut Books,
) -> Result<(), Finding> {
    let now = context.at(step);
    worker.start(event, now);
    let acked = worker.finish(event, now).await?;
    check_eq(&format!("{} acks {event}", worker.actor.name()), acked, Acked::Acked)?;
    books.of(event).done = true;
    Ok(())
}

/// Another worker takes everything over and handles it.
async fn restart(
    context: &Context,
    reader: &mut Actor,
    books: &mut Books,
) -> Result<usize, Finding> {
    let mut b = Worker::new(context, "B").await?;
    let claimed = b.poll(context, 50, context.at(500), context.at(600)).await?;
    for event in &claimed {
        books.of(event).until = Some(context.at(600));
    }
    let mut compared =
        compare(context, reader, books, "after the restart", context.at(510)).await?;
    for event in &claimed {
        acks(context, &mut b, event, 520, books).await?;
        compared += compare(context, reader, books, "after an ack", context.at(520)).await?;
    }
    let report = reader.backlog(context.at(530)).await?;
    check_eq("the backlog when everything is done", report, nothing())?;
    Ok(compared + 2)
}

fn nothing() -> Backlog {
    Backlog { claimable: 0, active: 0, expired: 0, age_us: 0 }
}

/// Compares the report with what the books say; returns 1.
async fn compare(
    context: &Context,
    reader: &mut Actor,
    books: &Books,
    when: &str,
    now: Instant,
) -> Result<usize, Finding> {
    let mut counted = books.count(context, now);
    let mut report = reader.backlog(now).await?;
    if context.clock == Clock::Database {
        // The time that the case itself takes is in what the engine's clock measured.
        let step = context.at(1).0;
        report.age_us -= report.age_us % step;
        counted.age_us -= counted.age_us % step;
    }
    check_eq(&format!("the backlog {when}, at {now}"), report, counted)?;
    Ok(1)
}
