//! Many leases end at one instant, and many workers want them back.

use async_trait::async_trait;
use std::sync::Arc;
use std::time::Instant as Clock;

use leaseproof_engines::lease::{Acked, ClaimBatch, FencingToken, Instant, Strategy};
use leaseproof_engines::store::Session;
use leaseproof_engines::{Engine, EngineError};
use tokio::sync::Barrier;

use crate::claim_cycle::{NOW, UNTIL};
use crate::measured::{DEADLOCKS, Measured};
use crate::profile::Profile;
use crate::recorder::{Record, Recorder};
use crate::scenario::{Scenario, Spec, Task};
use crate::server::Queue;

const WORKERS: usize = 32;
const LIMIT: u32 = 10;
/// How long a worker tries at most.
const BOUND: std::time::Duration = std::time::Duration::from_secs(60);
/// How many of the old owner's acks are tried after its leases were over.
const LATE_ACKS: usize = 50;

/// The scenario's one instance.
pub static SCENARIO: ExpiryStorm = ExpiryStorm;

/// Leases that all expire at once.
pub struct ExpiryStorm;

#[async_trait]
impl Scenario for ExpiryStorm {
    fn id(&self) -> &'static str {
        "expiry-storm"
    }

    fn question(&self) -> &'static str {
        "How long until every lease that expired at once is owned again, and is any owned twice?"
    }

    fn headline(&self) -> &'static [&'static str] {
        &["reclaim_p50_ms", "reclaim_p99_ms", "reclaimed", "late_acks_accepted", "lock_wait_ms"]
    }

    fn cells(&self, _: &dyn Engine, profile: &Profile) -> Vec<Spec> {
        vec![
            Spec::new(profile.few_repeats, 2.5)
                .with("leases", profile.storm)
                .with("workers", WORKERS),
        ]
    }

    async fn measure(&self, task: Task<'_>) -> Result<Measured, EngineError> {
        let leases: u64 = task.spec.get("leases");
        let mut filled = task.bench.queue(&Queue::new(task.bench.engine, leases)).await?;
        let mut owner = filled.sessions(1).await?.remove(0);
        let old = FencingToken::new("old");
        let strategy = task.bench.best_strategy();
        let limit = u32::try_from(leases).unwrap_or(u32::MAX);
        let all =
            ClaimBatch { limit, token: old.clone(), now: NOW, until: Instant(NOW.0 + 1), strategy };
        let owned = owner.claim_batch(&all).await?;
        let sessions = filled.sessions(WORKERS).await?;
        let before = filled.instruments.counters().await?;
        let barrier = Arc::new(Barrier::new(sessions.len()));
        let reclaim =
            |(name, session)| tokio::spawn(reclaim(name, session, strategy, Arc::clone(&barrier)));
        let tasks: Vec<_> = sessions.into_iter().enumerate().map(reclaim).collect();
        let mut recorders = Vec::new();
        for task in tasks {
            recorders.push(task.await.expect("a worker does not panic")?);
        }
        let mut late = 0;
        for event in owned.iter().take(LATE_ACKS) {
            late += u64::from(owner.ack(event, &old, Instant(NOW.0 + 2)).await? != Acked::Refused);
        }
        owner.close().await;
        let record = Record::merge(recorders);
        let change = filled.counters().await?.since(&before);
        let mut measured = Measured::default();
        let won = record.tally(0).all;
        let mut audit = filled.instruments.audit().await?;
        filled.remove().await?;
        // Every event is held: by who reclaimed it.
        audit.held -= i64::try_from(won).unwrap_or(i64::MAX);
        measured.audited(audit, leases, leases + won);
        measured.recorded(&record, BOUND.as_secs_f64());
        measured.repeat.series.clear();
        measured.counted(&change, record.operations(0).all);
        measured.deadlocks(&change, record.all_errors(DEADLOCKS));
        measured.value("reclaimed", won as f64);
        measured.value("late_acks_accepted", late as f64);
        let latency = record.latency(0);
        if let Some(latency) = &latency {
            measured.repeat.seconds = latency.max_us / 1e6;
            measured.value("reclaim_p50_ms", latency.p50_us / 1000.0);
            measured.value("reclaim_p99_ms", latency.p99_us / 1000.0);
        }
        measured.latency("reclaim", latency);
        if won != leases {
            measured.violations.push(format!("{leases} leases were over, {won} were taken"));
        }
        if late > 0 {
            measured.violations.push(format!("{late} acks of the old owner were accepted"));
        }
        Ok(measured)
    }
}

/// Claims until nothing is left. Each event is timed from when all have begun.
async fn reclaim(
    name: usize,
    mut session: Box<dyn Session>,
    strategy: Strategy,
    barrier: Arc<Barrier>,
) -> Result<Recorder, EngineError> {
    let now = Instant(NOW.0 + 2);
    let mut recorder = Recorder::new(1, 1, BOUND);
    barrier.wait().await;
    let start = Clock::now();
    recorder.open(start, start + BOUND);
    for turn in 0.. {
        let token = FencingToken::new(format!("new-{name}-{turn}"));
        let batch = ClaimBatch { limit: LIMIT, token, now, until: UNTIL, strategy };
        match session.claim_batch(&batch).await {
            Ok(events) => {
                let at = Clock::now();
                events.iter().for_each(|_| recorder.ended_at(0, start, at));
                recorder.tally(0, events.len() as u64, at);
                if events.is_empty() && session.candidates(1, now).await?.is_empty() {
                    break;
                }
            }
            Err(error) if error.is_retryable() => recorder.failed(&error),
            Err(error) => return Err(error),
        }
        if start.elapsed() > BOUND {
            break;
        }
    }
    session.close().await;
    Ok(recorder)
}
