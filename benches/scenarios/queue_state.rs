//! What a claim costs in the states that a real queue is in, and a fresh one is not.

use std::time::{Duration, Instant};

use async_trait::async_trait;
use leaseproof_engines::store::{Isolation, Session, SessionOptions};
use leaseproof_engines::{Engine, EngineError};

use crate::claim_cycle::{Claimer, OPERATIONS, TALLIES};
use crate::cycle::{self, Claims};
use crate::load::{Turn, Worker as _};
use crate::measured::Measured;
use crate::profile::Profile;
use crate::recorder::Recorder;
use crate::scenario::{Scenario, Spec, Task};
use crate::server::{Filled, Queue};

/// How many events are due while all others wait; more than one claim takes.
const READY: u64 = 64;
/// Later than any instant at which an event is claimed here.
const LATER: u64 = 4_000_000_000_000;
/// How often every event is rewritten, each time leaving a dead version of its row.
const REWRITES: u32 = 4;
const BATCH: u32 = 10;
/// How many turns of one worker are counted.
const TURNS: u64 = 20;

/// The scenario's one instance.
pub static SCENARIO: QueueState = QueueState;

/// States × workers.
pub struct QueueState;

/// Whether all events are ready or few, and whether their dead versions can be cleaned up.
const STATES: [&str; 4] = ["all-ready", "few-ready", "dead-rows", "held-snapshot"];

#[async_trait]
impl Scenario for QueueState {
    fn id(&self) -> &'static str {
        "queue-state"
    }

    fn question(&self) -> &'static str {
        "What does a claim cost when few events are ready, or many versions of them are dead?"
    }

    fn headline(&self) -> &'static [&'static str] {
        &[
            "claims_per_s",
            "pages_touched_per_claim",
            "rows_read_per_claim",
            "lock_requests_per_claim",
            "vm_steps_per_claim",
        ]
    }

    fn judges_upgrades(&self) -> bool {
        true
    }

    fn cells(&self, engine: &dyn Engine, profile: &Profile) -> Vec<Spec> {
        let has = |state: &&str| *state != "dead-rows" || engine.keeps_dead_rows();
        let cell = |state: &str, workers: usize| {
            Spec::new(profile.few_repeats, profile.load_s())
                .with("state", state)
                .with("workers", workers)
        };
        let alone = STATES.into_iter().filter(has).map(|state| cell(state, 1));
        let contended = profile.workers.last().copied().unwrap_or(1);
        alone.chain([cell("all-ready", contended)]).collect()
    }

    async fn measure(&self, task: Task<'_>) -> Result<Measured, EngineError> {
        let depth = task.profile.depth;
        let mut filled = task.bench.queue(&Queue::new(task.bench.engine, depth)).await?;
        let holder = bring_about(task, &mut filled, depth).await?;
        let workers = task.spec.get("workers");
        let counted = match workers {
            1 => Some(count(task, &mut filled, i64::from(holder.is_some())).await?),
            _ => None,
        };
        let claims = Claims::closed(task, workers, BATCH);
        let ended = cycle::load_on(task, &mut filled, claims).await?;
        if let Some(mut holder) = holder {
            // The work of all sessions is counted once they are closed, and this is one of them.
            holder.rollback().await?;
            holder.close().await;
        }
        let mut measured = ended.finish(&mut filled, depth).await?;
        if let Some(counted) = counted {
            measured.repeat.readings.extend(counted.repeat.readings);
        }
        filled.remove().await?;
        Ok(measured)
    }
}

/// Counts the work of a known number of turns. In a time, a slow machine makes fewer claims, each of which
/// bears more of what the queue's state costs only once.
async fn count(task: Task<'_>, filled: &mut Filled, open: i64) -> Result<Measured, EngineError> {
    const ANY: Duration = Duration::from_secs(600);
    let session = filled.sessions(1).await?.remove(0);
    let mut claimer = Claimer::new(session, 0, BATCH, task.bench.best_strategy());
    let mut recorder = Recorder::new(OPERATIONS.len(), TALLIES, ANY);
    let start = Instant::now();
    recorder.open(start, start + ANY);
    let before = filled.instruments.counters().await?;
    for number in 0..TURNS {
        claimer
            .turn(Turn { number, due: Instant::now(), until: start + ANY }, &mut recorder)
            .await?;
    }
    claimer.session.close().await;
    let change = filled.counters_beside(open).await?.since(&before);
    let mut measured = Measured::default();
    measured.counted(&change, TURNS);
    measured.repeat.readings.retain(|name, _| name.ends_with("_per_claim"));
    Ok(measured)
}

/// Brings a fresh queue into the state; who holds the snapshot, where one is held.
async fn bring_about(
    task: Task<'_>,
    filled: &mut Filled,
    depth: u64,
) -> Result<Option<Box<dyn Session>>, EngineError> {
    let state = task.spec.text("state");
    if state == "few-ready" {
        let later =
            format!("UPDATE lease_event SET due_at = due_at + {LATER} WHERE due_at >= {READY}");
        filled.instruments.alter(&later).await?;
        filled.instruments.settle().await?;
    }
    if !matches!(state, "dead-rows" | "held-snapshot") {
        return Ok(None);
    }
    // While a snapshot is held, no engine cleans up what is rewritten.
    let isolation = task.bench.engine.server().map(|_| Isolation::RepeatableRead);
    let options = SessionOptions { isolation, ..SessionOptions::default() };
    let mut holder = filled.store.session(&options).await?;
    holder.begin_snapshot().await?;
    let rewrite = format!("UPDATE lease_event SET due_at = due_at + {depth}");
    for _ in 0..REWRITES {
        filled.instruments.alter(&rewrite).await?;
    }
    if state == "held-snapshot" {
        return Ok(Some(holder));
    }
    holder.rollback().await?;
    holder.close().await;
    Ok(None)
}
