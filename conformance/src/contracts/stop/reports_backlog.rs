//! The backlog is reported right: what is claimable, held and overdue, and how old it is.
//!
//! # Promise
//! Whoever stops or starts a worker decides by these numbers: the events claimable now, the leases still
//! live, the leases that are over, and the age of the oldest event that is not done. At every instant they
//! are what one gets by reading the rows one by one.
//!
//! # Steps
//! 1. Rows of every kind are brought about: done (the oldest of all), claimable, not due yet, released,
//!    held under three deadlines, and overdue.
//! 2. At instants before, at and after the stop of a worker (the boundaries of due instants and deadlines,
//!    and right before each), and after another one has started, the report is compared with an
//!    independent count over the rows, read one by one.
//! 3. When everything is done, the report is zero in all its parts.
//!
//! # How a violation looks
//! A worker is stopped while work is in flight because nothing seemed to be, an alarm on age stays silent,
//! or overdue leases are counted as live for ever.
//!
//! # Source
//! The worker-shutdown and scheduled-polling examples: record backlog age, claims active at stop and
//! leases expired after the restart.

use leaseproof_engines::lease::{Backlog, Clock, EventId, EventState, Instant, NewEvent};
use leaseproof_reports::Level;

use crate::contract::{Clocks, Contract, Scope};
use crate::harness::actor::Actor;
use crate::harness::context::Context;
use crate::harness::finding::{Finding, Judged, check_eq};
use crate::harness::row::row;
use crate::worker::{Step, Worker};

mod controls;

/// See the module's documentation.
pub static CONTRACT: Contract = Contract {
    id: "stop/reports-backlog",
    promise: "backlog age, claims still active at the stop and leases expired at the restart are reported, and right",
    level: Level::Core,
    requires: &[],
    offers: &[],
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
    bring_about(context, &mut reader).await?;

    let mut compared = 0;
    let mut a = Worker::new(context, "A").await?;
    // In order of due instant and id: `given-back`, `handled`, `held`, `renewed`.
    let claimed = a.poll(context, 4, at(100), at(150)).await?;
    check_eq("the events that A claims", claimed.len(), 4)?;
    let [given_back, handled, held, renewed] =
        ["given-back", "handled", "held", "renewed"].map(EventId::new);
    a.deliver(&handled, at(110), Step::Ack).await?;
    for event in [&held, &renewed] {
        a.start(event, at(110));
    }
    a.renew(&renewed, at(115), at(200)).await?;
    for now in [at(119), context.just_before(120), at(120)] {
        compared += compare(context, &mut reader, "before the stop", now).await?;
    }
    a.stop();
    let released = a.release_unstarted(at(120)).await?.into_iter().map(|(event, _)| event);
    check_eq("what A gives back", released.collect::<Vec<_>>(), vec![given_back])?;
    for step in [120, 150, 200, 500] {
        for now in [context.just_before(step), at(step)] {
            compared += compare(context, &mut reader, "after the stop", now).await?;
        }
    }
    a.actor.close().await;
    compared += restart(context, &mut reader).await?;
    Ok(vec![format!(
        "{compared} reports, each equal to a count over {} rows read one by one",
        EVENTS.len()
    )])
}

/// Another worker takes everything over and handles it.
async fn restart(context: &Context, reader: &mut Actor) -> Result<usize, Finding> {
    let mut b = Worker::new(context, "B").await?;
    let claimed = b.poll(context, 50, context.at(500), context.at(600)).await?;
    let mut compared = compare(context, reader, "after the restart", context.at(510)).await?;
    for event in &claimed {
        b.deliver(event, context.at(520), Step::Ack).await?;
        compared += compare(context, reader, "after an ack", context.at(520)).await?;
    }
    let report = reader.backlog(context.at(530)).await?;
    check_eq("the backlog when everything is done", report, nothing())?;
    Ok(compared + 2)
}

/// The oldest event is done, and one lease is over.
async fn bring_about(context: &Context, actor: &mut Actor) -> Result<(), Finding> {
    let (oldest, overdue) = (EventId::new("oldest"), EventId::new("overdue"));
    for (event, until) in [(&oldest, 130), (&overdue, 105)] {
        let token = context.token("before");
        actor.claim(event, &token, context.at(90), context.at(until)).await?;
        if event == &oldest {
            actor.ack(event, &token, context.at(95)).await?;
        }
    }
    Ok(())
}

fn nothing() -> Backlog {
    Backlog { claimable: 0, active: 0, expired: 0, age_us: 0 }
}

/// Compares the report with a count over the rows; returns 1.
async fn compare(
    context: &Context,
    reader: &mut Actor,
    when: &str,
    now: Instant,
) -> Result<usize, Finding> {
    let mut counted = nothing();
    for (id, due, enqueued) in EVENTS {
        let row = row(reader, &EventId::new(id)).await?;
        if row.state != EventState::Pending {
            continue;
        }
        let live = row.until.is_some_and(|until| now < until);
        let is_due = context.at(due) <= now;
        counted.claimable += i64::from(is_due && !live);
        counted.active += i64::from(live);
        counted.expired += i64::from(row.until.is_some() && !live);
        counted.age_us = counted.age_us.max(now.0 - context.at(enqueued).0);
    }
    let step = format!("the backlog {when}, at {now}");
    let mut report = reader.backlog(now).await?;
    if context.clock == Clock::Database {
        // The time that the case itself takes is in what the engine's clock measured.
        let step = context.at(1).0;
        report.age_us -= report.age_us % step;
        counted.age_us -= counted.age_us % step;
    }
    check_eq(&step, report, counted)?;
    Ok(1)
}
