//! Worker processes are killed while they hold leases: nothing may be lost, and nothing done twice.

use std::time::{Duration, Instant};

use async_trait::async_trait;
use leaseproof_engines::{Engine, EngineError, ErrorKind};

use crate::measured::Measured;
use crate::process::{Order, Running, Task as Work, order};
use crate::profile::Profile;
use crate::scenario::{Scenario, Spec, Task};
use crate::server::Queue;
use crate::suite::UNMEASURED;

/// The scenario's one instance.
pub static SCENARIO: Crash = Crash;

const WORKERS: usize = 4;
const LEASE: Duration = Duration::from_millis(400);
/// How long a process works before it is killed.
const BETWEEN: Duration = Duration::from_millis(400);
/// The longest drain that is waited for.
const BOUND: Duration = Duration::from_secs(60);

/// Killed workers.
pub struct Crash;

#[async_trait]
impl Scenario for Crash {
    fn id(&self) -> &'static str {
        "crash"
    }

    fn question(&self) -> &'static str {
        "When worker processes are killed, is every event still done, and its effect applied once?"
    }

    fn headline(&self) -> &'static [&'static str] {
        &["kills", "lost", "doubled", "claimed_again", "drain_s"]
    }

    fn cells(&self, _: &dyn Engine, profile: &Profile) -> Vec<Spec> {
        let seconds = BETWEEN.as_secs_f64() * f64::from(profile.kills) + 3.0;
        vec![Spec::new(1, seconds).with("kills", profile.kills).with("workers", WORKERS)]
    }

    async fn measure(&self, task: Task<'_>) -> Result<Measured, EngineError> {
        // Enough that workers are busy until the last one was killed.
        let depth = 2000 * u64::from(task.profile.kills);
        let mut filled = task.bench.queue(&Queue::new(task.bench.engine, depth)).await?;
        let lease_ms = u64::try_from(LEASE.as_millis()).unwrap_or(0);
        let order = order(task.bench, &*filled.store, depth, Work::Drain { lease_ms });
        let begun = Instant::now();
        let kills: u32 = task.spec.get("kills");
        let drained = tokio::time::timeout(BOUND, drain(&order, kills)).await;
        let drain_s = begun.elapsed().as_secs_f64();
        let audit = filled.instruments.audit().await?;
        let effects = filled.instruments.effects().await?;
        filled.remove().await?;
        let killed = drained.map_err(|_| {
            let message = format!("{} of {depth} events were done in {BOUND:?}", audit.done);
            EngineError::new("worker", "drain", ErrorKind::Unavailable, message)
        })??;
        let mut measured = Measured::default();
        measured.repeat.seconds = drain_s;
        let signed = i64::try_from(depth).unwrap_or(i64::MAX);
        let (lost, doubled) = (signed - effects.events, effects.applied - effects.events);
        measured.value("kills", f64::from(killed));
        measured.value("lost", lost as f64);
        measured.value("doubled", doubled as f64);
        measured.value("claimed_again", (audit.attempts - signed) as f64);
        measured.value("drain_s", drain_s);
        measured.value("events_per_s", depth as f64 / drain_s);
        if killed < kills {
            // A machine that is done too soon has shown nothing about kills.
            let text = format!("{killed} of {kills} workers still ran when they were to be killed");
            measured.violations.push(format!("{UNMEASURED}{text}"));
        }
        if audit.events != signed || audit.done != signed || lost != 0 {
            let text = format!("of {depth} events {} are done, {lost} without effect", audit.done);
            measured.violations.push(text);
        }
        if doubled != 0 {
            measured.violations.push(format!("{doubled} effects were applied more than once"));
        }
        Ok(measured)
    }
}

/// Kills one worker after the other, each replaced by a new one, and lets the rest finish.
async fn drain(order: &Order, kills: u32) -> Result<u32, EngineError> {
    let mut workers = Vec::new();
    for name in 0..WORKERS {
        let mut worker = Running::start(&Order { name, ..order.clone() }).await?;
        worker.go().await?;
        workers.push(worker);
    }
    let mut killed = 0;
    let mut interval = tokio::time::interval(BETWEEN);
    interval.tick().await;
    for kill in 0..kills {
        interval.tick().await;
        let mut victim = workers.remove(0);
        let running = victim.child.try_wait().is_ok_and(|ended| ended.is_none());
        // SIGKILL: no time for a goodbye, to the server or to us.
        if running && victim.child.kill().await.is_ok() {
            killed += 1;
        }
        let name = WORKERS + kill as usize;
        let mut worker = Running::start(&Order { name, ..order.clone() }).await?;
        worker.go().await?;
        workers.push(worker);
    }
    for worker in workers {
        worker.answer().await?;
    }
    Ok(killed)
}
