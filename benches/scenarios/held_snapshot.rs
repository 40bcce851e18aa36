//! What one forgotten transaction makes of a queue that has nothing to do with it.

use std::time::{Duration, Instant};

use async_trait::async_trait;
use leaseproof_engines::instruments::Counter;
use leaseproof_engines::store::{Isolation, Session, SessionOptions};
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
/// Into how many parts a window is divided to see when it has, and over how many of them the claims are
/// counted: half a window, as a shorter one would meet that share by chance.
const PARTS: u32 = 16;
const STRETCH: u32 = PARTS / 2;
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
        let around = profile.load_s() + window * (f64::from(RECOVERY) + 0.5);
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
    let mut measured = ended.finish_beside(filled, DEPTH, 1).await?;
    beside(&mut measured, bystander);
    for counter in [Counter::DeadRows, Counter::HistoryLength] {
        if let Some(observed) = state.0.get(&counter) {
            measured.observed(counter.as_str(), observed);
        }
    }
    let enough = before.number(CLAIMS) * RECOVERED;
    measured.violations.extend(before.violations);
    recover(task, filled, (holder, enough), &mut measured).await?;
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

/// Lets the snapshot go and claims on: when half a window begins in which claims are as quick as before.
async fn recover(
    task: Task<'_>,
    filled: &mut Filled,
    (mut holder, enough): (Box<dyn Session>, f64),
    measured: &mut Measured,
) -> Result<(), EngineError> {
    let part = task.profile.window / PARTS;
    let bound = task.profile.window * RECOVERY;
    let profile =
        Profile { warm_up: Duration::ZERO, window: bound + part * STRETCH, ..*task.profile };
    let task = Task { profile: &profile, ..task };
    holder.rollback().await?;
    holder.close().await;
    let released = Instant::now();
    let claims = Claims { part, ..Claims::closed(task, WORKERS, BATCH) };
    let ended = cycle::load_on(task, filled, claims).await?;
    let before_load = ended.start().saturating_duration_since(released);
    let parts = recovered(ended.series(), enough * part.as_secs_f64());
    let load = ended.finish(filled, DEPTH).await?;
    measured.violations.extend(load.violations);
    match parts {
        // It was over when it was first looked at.
        Some(0) => measured.value("recovery_s", 0.0),
        Some(parts) => {
            let after = before_load + part * u32::try_from(parts).unwrap_or(u32::MAX);
            measured.value("recovery_s", after.as_secs_f64());
        }
        None => {
            let (percent, bound) = (RECOVERED * 100.0, bound.as_secs_f64());
            let reason = format!("not back at {percent} % of before within {bound} s");
            measured.hidden("recovery_s", &reason);
        }
    }
    Ok(())
}

/// After how many parts a stretch begins with `enough` claims in each of its parts on average.
fn recovered(series: &[u64], enough: f64) -> Option<usize> {
    let stretch = STRETCH as usize;
    let enough = enough * f64::from(STRETCH);
    series.windows(stretch).position(|parts| parts.iter().sum::<u64>() as f64 >= enough)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_queue_has_recovered_where_the_claims_stay_up() {
        let mut series = vec![10; 30];
        assert_eq!(recovered(&series, 9.0), Some(0));
        assert_eq!(recovered(&series, 11.0), None);
        series[..12].fill(2);
        // The stretch that begins with one slow part has 72 claims: 9 in each on average.
        assert_eq!(recovered(&series, 9.0), Some(11));
        // One good part alone is chance.
        series[2] = 60;
        assert_eq!(recovered(&series, 9.5), Some(12));
    }
}
