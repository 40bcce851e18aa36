//! What one forgotten transaction makes of a queue that has nothing to do with it.

use async_trait::async_trait;
use leaseproof_engines::store::{Isolation, SessionOptions};
use leaseproof_engines::waits::Counter;
use leaseproof_engines::{Engine, EngineError};

use crate::cycle::{self, Claims};
use crate::measured::Measured;
use crate::profile::Profile;
use crate::scenario::{Scenario, Spec, Task};
use crate::server::Queue;

const WORKERS: usize = 8;
/// A smaller queue comes round more often, and what cannot be cleaned up gathers faster.
const DEPTH: u64 = 1000;
/// How much longer than another load, for it is a slow poison.
const LONGER: u32 = 2;

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
        "What does a snapshot that somebody keeps open cost claims?"
    }

    fn headline(&self) -> &'static [&'static str] {
        &[
            "claims_per_s",
            "pages_touched_per_claim",
            "dead_rows",
            "history_length",
            "vm_steps_per_claim",
        ]
    }

    fn cells(&self, _: &dyn Engine, profile: &Profile) -> Vec<Spec> {
        let seconds = profile.load_s() + profile.window.as_secs_f64() * f64::from(LONGER - 1);
        let repeats = profile.few_repeats;
        let cell = |held: bool| Spec::new(repeats, seconds).with("held", held);
        [false, true].into_iter().map(cell).collect()
    }

    async fn measure(&self, task: Task<'_>) -> Result<Measured, EngineError> {
        let mut filled = task.bench.queue(&Queue::new(task.bench.engine, DEPTH)).await?;
        let mut holder = None;
        if task.spec.get("held") {
            let isolation = task.bench.engine.server().map(|_| Isolation::RepeatableRead);
            let options = SessionOptions { isolation, ..SessionOptions::default() };
            let mut session = filled.store.session(&options).await?;
            session.begin_snapshot().await?;
            holder = Some(session);
        }
        let profile = Profile { window: task.profile.window * LONGER, ..*task.profile };
        let task = Task { profile: &profile, ..task };
        let load = cycle::load_on(task, &mut filled, Claims::closed(task, WORKERS, 10)).await?;
        // Read while the snapshot is held: when it is gone, what it kept may be cleaned up.
        let state = filled.instruments.counters().await?;
        if let Some(mut session) = holder {
            session.rollback().await?;
            session.close().await;
        }
        let mut measured = load.finish(&mut filled, DEPTH).await?;
        for counter in [Counter::DeadRows, Counter::HistoryLength] {
            if let Some(observed) = state.0.get(&counter) {
                measured.observed(counter.as_str(), observed);
            }
        }
        filled.remove().await?;
        Ok(measured)
    }
}
