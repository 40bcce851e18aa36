//! What one forgotten transaction makes of a queue that has nothing to do with it.

use std::time::{Duration, Instant};

use async_trait::async_trait;
use leaseproof_engines::store::{Isolation, SessionOptions};
use leaseproof_engines::waits::Counter;
use leaseproof_engines::{Engine, EngineError};
use leaseproof_reports::bench::Latency;

use crate::bystander::Bystander;
use crate::cycle::{self, Claims, Ended};
use crate::measured::Measured;
use crate::profile::Profile;
use crate::scenario::{Scenario, Spec, Task};
use crate::server::{Filled, Queue};

const WORKERS: usize = 8;
/// A smaller queue comes round more often, and what cannot be cleaned up gathers faster.
const DEPTH: u64 = 1000;
/// How much longer than another load, for it is a slow poison.
const LONGER: u32 = 2;
/// For how many windows the queue may recover when the snapshot is gone.
const RECOVERY: u32 = 2;
/// The share of the claims of before at which it has.
const RECOVERED: f64 = 0.9;
const BATCH: u32 = 10;
const CLAIMS: &str = "claims_per_s";

/// The scenario's one instance.
pub static SCENARIO: HeldSnapshot = HeldSnapshot;

/// A snapshot that is held while others claim.
pub struct HeldSnapshot;

#[async_trait]
impl Scenario for HeldSnapshot {
    fn id(&self) -> &'static str {
        "held-snapshot"
    }

    fn question(&self) -> &'static str {
        "What does a snapshot that somebody keeps open cost claims and bystanders, and how soon is it over?"
    }

    fn headline(&self) -> &'static [&'static str] {
        &[
            "claims_per_s",
            "pages_touched_per_claim",
            "dead_rows",
            "history_length",
            "vm_steps_per_claim",
            "bystander_p99_us",
            "recovery_s",
        ]
    }

    fn cells(&self, _: &dyn Engine, profile: &Profile) -> Vec<Spec> {
        let window = profile.window.as_secs_f64();
        let load = profile.load_s() + window * f64::from(LONGER - 1);
        let around = profile.load_s() + window * f64::from(RECOVERY);
        let cell = |held: bool| {
            let seconds = if held { load + around } else { load };
            Spec::new(profile.few_repeats, seconds).with("held", held)
        };
        [false, true].into_iter().map(cell).collect()
    }

    async fn measure(&self, task: Task<'_>) -> Result<Measured, EngineError> {
        let mut filled = task.bench.queue(&Queue::new(task.bench.engine, DEPTH)).await?;
        let measured = match task.spec.get("held") {
            true => held(task, &mut filled).await,
            false => {
                let loaded = beside_bystander(task, &mut filled).await?;
                let (ended, bystander) = loaded;
                let mut measured = ended.finish(&mut filled, DEPTH).await?;
                beside(&mut measured, bystander);
                Ok(measured)
            }
        };
        filled.remove().await?;
        measured
    }
}

/// Before, while and after a snapshot is held.
async fn held(task: Task<'_>, filled: &mut Filled) -> Result<Measured, EngineError> {
    let claims = Claims::closed(task, WORKERS, BATCH);
    let before = cycle::measure_on(task, filled, DEPTH, claims).await?;
    let isolation = task.bench.engine.server().map(|_| Isolation::RepeatableRead);
    let options = SessionOptions { isolation, ..SessionOptions::default() };
    let mut holder = filled.store.session(&options).await?;
    holder.begin_snapshot().await?;
    let (ended, bystander) = beside_bystander(task, filled).await?;
    // Read while the snapshot is held: when it is gone, what it kept may be cleaned up.
    let state = filled.instruments.counters().await?;
    holder.rollback().await?;
    holder.close().await;
    let released = Instant::now();
    let mut measured = ended.finish(filled, DEPTH).await?;
    beside(&mut measured, bystander);
    for counter in [Counter::DeadRows, Counter::HistoryLength] {
        if let Some(observed) = state.0.get(&counter) {
            measured.observed(counter.as_str(), observed);
        }
    }
    let enough = before.number(CLAIMS) * RECOVERED;
    measured.violations.extend(before.violations);
    recover(task, filled, (released, enough), &mut measured).await?;
    Ok(measured)
}

/// The load, and somebody beside it who has nothing to do with the queue. In an embedded engine he would
/// have another file, and share nothing with it.
async fn beside_bystander(
    task: Task<'_>,
    filled: &mut Filled,
) -> Result<(Ended, Option<Latency>), EngineError> {
    let profile = Profile { window: task.profile.window * LONGER, ..*task.profile };
    let task = Task { profile: &profile, ..task };
    let claims = Claims::closed(task, WORKERS, BATCH);
    if task.bench.engine.server().is_none() {
        return Ok((cycle::load_on(task, filled, claims).await?, None));
    }
    let bystander = Bystander::arrive(task.bench).await?;
    let reads = bystander.read(cycle::load_of(task, claims.pace));
    let (ended, latency) = futures::future::join(cycle::load_on(task, filled, claims), reads).await;
    Ok((ended?, latency?))
}

/// Sets what the bystander waited.
fn beside(measured: &mut Measured, bystander: Option<Latency>) {
    match bystander {
        Some(latency) => {
            measured.value("bystander_p99_us", latency.p99_us);
            measured.latency("bystander", Some(latency));
        }
        None => measured.hidden("bystander_p99_us", "another file shares nothing with this one"),
    }
}

/// Claims on, in pieces of half a window, until a piece is as quick as before the snapshot was held.
async fn recover(
    task: Task<'_>,
    filled: &mut Filled,
    (released, enough): (Instant, f64),
    measured: &mut Measured,
) -> Result<(), EngineError> {
    let bound = task.profile.window * RECOVERY;
    let profile =
        Profile { warm_up: Duration::ZERO, window: task.profile.window / 2, ..*task.profile };
    let task = Task { profile: &profile, ..task };
    while released.elapsed() < bound {
        let claims = Claims::closed(task, WORKERS, BATCH);
        let piece = cycle::measure_on(task, filled, DEPTH, claims).await?;
        measured.violations.extend(piece.violations.iter().cloned());
        if piece.number(CLAIMS) >= enough {
            measured.value("recovery_s", released.elapsed().as_secs_f64());
            return Ok(());
        }
    }
    let percent = RECOVERED * 100.0;
    let reason = format!("not back at {percent} % of before within {} s", bound.as_secs_f64());
    measured.hidden("recovery_s", &reason);
    Ok(())
}
