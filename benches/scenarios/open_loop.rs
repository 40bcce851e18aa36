//! How long a claim takes at a rate that does not wait for the workers.

use async_trait::async_trait;
use std::time::Duration;

use leaseproof_engines::{Engine, EngineError};

use crate::cycle::{self, Claims};
use crate::load::Pace;
use crate::measured::Measured;
use crate::profile::Profile;
use crate::scenario::{Scenario, Spec, Task};
use crate::server::Queue;

const WORKERS: usize = 16;
/// How long the engine's capacity is measured before; the offered rate is a share of it.
const CAPACITY_WINDOW: Duration = Duration::from_millis(1500);

/// The scenario's one instance.
pub static SCENARIO: OpenLoop = OpenLoop;

/// Offered rates below and above what the engine can do.
pub struct OpenLoop;

#[async_trait]
impl Scenario for OpenLoop {
    fn id(&self) -> &'static str {
        "open-loop"
    }

    fn question(&self) -> &'static str {
        "How late are claims at a given rate, from when they were due?"
    }

    fn headline(&self) -> &'static [&'static str] {
        &["capacity_per_s", "offered_per_s", "claims_per_s", "claim_p99_us", "unsent"]
    }

    fn cells(&self, _: &dyn Engine, profile: &Profile) -> Vec<Spec> {
        let shares: &[u32] = if profile.repeats > 3 { &[50, 70, 90, 110] } else { &[70, 110] };
        let seconds = profile.load_s() + CAPACITY_WINDOW.as_secs_f64() + 0.5;
        let cell = |percent: &u32| Spec::new(1, seconds).with("percent", percent);
        shares.iter().map(cell).collect()
    }

    async fn measure(&self, task: Task<'_>) -> Result<Measured, EngineError> {
        let queue = Queue::new(task.bench.engine, task.profile.depth);
        let mut filled = task.bench.queue(&queue).await?;
        let closed = Claims::closed(task, WORKERS, 10);
        let brief = Profile { window: CAPACITY_WINDOW, ..*task.profile };
        let capacity =
            cycle::measure_on(Task { profile: &brief, ..task }, &mut filled, queue.depth, closed)
                .await?;
        let before = capacity.violations.iter().map(|text| format!("at capacity: {text}"));
        let before: Vec<String> = before.collect();
        let capacity = capacity.number("claims_per_s");
        let percent: f64 = task.spec.get("percent");
        let per_s = (capacity * percent / 100.0).max(1.0);
        let open = Claims { pace: Pace::Open { per_s }, ..closed };
        let measured = cycle::measure_on(task, &mut filled, queue.depth, open).await;
        filled.remove().await?;
        let mut measured = measured?;
        measured.violations.extend(before);
        measured.value("capacity_per_s", capacity);
        measured.value("offered_per_s", per_s);
        let p99_us = measured.repeat.latencies.get("claim").map(|latency| latency.p99_us);
        if let Some(p99_us) = p99_us {
            measured.value("claim_p99_us", p99_us);
        }
        Ok(measured)
    }
}
