//! How claims scale with workers, by batch and strategy, on a queue that keeps its depth.

use async_trait::async_trait;
use leaseproof_engines::lease::Strategy;
use leaseproof_engines::{Engine, EngineError};

use crate::cycle::{self, Claims};
use crate::measured::Measured;
use crate::profile::Profile;
use crate::scenario::{Scenario, Spec, Task};
use crate::server::Queue;

/// The scenario's one instance.
pub static SCENARIO: ClaimScaling = ClaimScaling;

/// Workers × batch × strategy.
pub struct ClaimScaling;

#[async_trait]
impl Scenario for ClaimScaling {
    fn id(&self) -> &'static str {
        "claim-scaling"
    }

    fn question(&self) -> &'static str {
        "What do more workers, larger batches and each strategy make of claims per second?"
    }

    fn headline(&self) -> &'static [&'static str] {
        &["claims_per_s", "lock_wait_ms", "pages_touched_per_claim", "jain_index"]
    }

    fn cells(&self, engine: &dyn Engine, profile: &Profile) -> Vec<Spec> {
        let mut cells = Vec::new();
        for strategy in engine.strategies() {
            for batch in profile.batches {
                for workers in profile.workers {
                    cells.push(
                        Spec::new(profile.repeats, profile.load_s())
                            .with("strategy", strategy)
                            .with("batch", batch)
                            .with("workers", workers),
                    );
                }
            }
        }
        cells
    }

    async fn measure(&self, task: Task<'_>) -> Result<Measured, EngineError> {
        let queue = Queue::new(task.bench.engine, task.profile.depth);
        let (workers, batch) = (task.spec.get("workers"), task.spec.get("batch"));
        let strategy = strategy(task.spec.text("strategy"));
        let claims = Claims { strategy, ..Claims::closed(task, workers, batch) };
        cycle::measure(task, queue, claims).await
    }
}

/// The strategy of that name.
///
/// # Panics
/// When there is none.
#[must_use]
pub fn strategy(name: &str) -> Strategy {
    let found = Strategy::ALL.into_iter().find(|strategy| strategy.as_str() == name);
    found.expect("a scenario names strategies by their own names")
}
