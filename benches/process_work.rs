//! What a worker process does with its one session.

use std::time::{Duration, Instant as Clock, SystemTime};

use leaseproof_engines::EngineError;
use leaseproof_engines::lease::{Acked, ClaimBatch, Confirmed, EventId, FencingToken, Instant};
use leaseproof_engines::store::Session;

use crate::claim_cycle::{Claimer, REFUSED, ROWS, TALLIES};
use crate::load::{Turn, Worker as _};
use crate::process::{Answer, Order, Unit};
use crate::recorder::{Record, Recorder};

/// The consumer whose effect a drained event has.
pub const CONSUMER: &str = "bench";

/// Claims and releases until the window has ended.
pub(crate) async fn cycle(
    session: Box<dyn Session>,
    order: &Order,
    (warm_up, window): (Duration, Duration),
    unit: Unit,
) -> Result<Answer, EngineError> {
    let mut recorder = Recorder::new(2, TALLIES, window);
    let mut claimer = Claimer::new(session, order.name, order.batch, order.strategy);
    claimer.in_unit = unit != Unit::None;
    let start = Clock::now();
    let end = start + warm_up + window;
    recorder.open(start + warm_up, end);
    for number in 0.. {
        let due = Clock::now();
        if due >= end {
            break;
        }
        claimer.turn(Turn { number, due, until: end }, &mut recorder).await?;
    }
    claimer.session.close().await;
    let record = Record::merge(vec![recorder]);
    Ok(Answer {
        claims: record.operations(0).window,
        rows: record.tally(ROWS).all,
        refused: record.tally(REFUSED).all,
        errors: record.errors().collect(),
        latency: record.latency(0),
        unfinished: record.unfinished.count,
        unfinished_ms: record.unfinished.longest.as_secs_f64() * 1000.0,
        ..Answer::default()
    })
}

/// Claims, applies the effect of each event beside its ack, until no event is pending.
pub(crate) async fn drain(
    mut session: Box<dyn Session>,
    order: &Order,
    lease: Duration,
) -> Result<Answer, EngineError> {
    let mut answer = Answer::default();
    for turn in 0.. {
        let now = wall_clock();
        let token = FencingToken::new(format!("process-{}-{turn}", order.name));
        let batch = ClaimBatch {
            limit: order.batch,
            token: token.clone(),
            now,
            until: now.after(lease),
            strategy: order.strategy,
        };
        match session.claim_batch(&batch).await {
            Ok(events) if events.is_empty() => {
                let backlog = session.backlog(wall_clock()).await?;
                if backlog.claimable + backlog.active + backlog.expired == 0 {
                    break;
                }
                // What is left is somebody's lease, and nobody can tell when it is given up.
                tokio::task::yield_now().await;
            }
            Ok(events) => {
                answer.rows += events.len() as u64;
                for event in &events {
                    let acked = handle(&mut session, event, &token).await;
                    match acked {
                        Ok(acked) => answer.acked += u64::from(acked),
                        // The lease runs out, and somebody claims the event again.
                        Err(error) if error.is_retryable() => {}
                        Err(error) => return Err(error),
                    }
                }
            }
            Err(error) if error.is_retryable() => {}
            Err(error) => return Err(error),
        }
    }
    session.close().await;
    Ok(answer)
}

/// Effect and ack in one transaction; whether the event was still ours.
async fn handle(
    session: &mut Box<dyn Session>,
    event: &EventId,
    token: &FencingToken,
) -> Result<bool, EngineError> {
    session.begin().await?;
    let outcome = async {
        let now = wall_clock();
        if session.confirm(event, token, now).await? == Confirmed::Refused {
            return Ok(false);
        }
        session.apply_effect(CONSUMER, event).await?;
        Ok(session.ack(event, token, now).await? == Acked::Acked)
    }
    .await;
    match outcome {
        Ok(true) => session.commit().await.map(|()| true),
        Ok(false) => session.rollback().await.map(|()| false),
        Err(error) => {
            // The first error says what happened.
            drop(session.rollback().await);
            Err(error)
        }
    }
}

/// The processes of one machine share a clock, and leases must end by it when one is killed.
#[expect(clippy::disallowed_methods, reason = "a lease that ends by itself needs a clock")]
pub(crate) fn wall_clock() -> Instant {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    Instant(0).after(since)
}
