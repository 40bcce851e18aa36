//! What looking costs what is looked at.

use async_trait::async_trait;
use leaseproof_engines::{Engine, EngineError};

use crate::cycle::{self, Claims};
use crate::measured::Measured;
use crate::profile::Profile;
use crate::scenario::{Scenario, Spec, Task};
use crate::server::Queue;

const WORKERS: usize = 8;

/// The scenario's one instance.
pub static SCENARIO: ObserverEffect = ObserverEffect;

/// Sampling rates, and whether the engine tells of waits.
pub struct ObserverEffect;

#[async_trait]
impl Scenario for ObserverEffect {
    fn id(&self) -> &'static str {
        "observer-effect"
    }

    fn question(&self) -> &'static str {
        "What do the instruments cost that the other scenarios use?"
    }

    fn headline(&self) -> &'static [&'static str] {
        &[
            "claims_per_s",
            "sampler_server_ms_per_s",
            "sampler_client_cpu_ms_per_s",
            "client_cpu_us_per_claim",
        ]
    }

    fn cells(&self, engine: &dyn Engine, profile: &Profile) -> Vec<Spec> {
        let repeats = profile.few_repeats;
        let mut cells = Vec::new();
        for sample_hz in [0, 10, 100] {
            cells.push(
                Spec::new(repeats, profile.load_s())
                    .with("sample_hz", sample_hz)
                    .with("telling", true),
            );
        }
        if !engine.telling_session().is_empty() {
            cells.push(
                Spec::new(repeats, profile.load_s()).with("sample_hz", 0).with("telling", false),
            );
        }
        cells
    }

    async fn measure(&self, task: Task<'_>) -> Result<Measured, EngineError> {
        let mut queue = Queue::new(task.bench.engine, task.profile.depth);
        queue.telling = task.spec.get("telling");
        let sample_hz = task.spec.get("sample_hz");
        let claims = Claims { sample_hz, ..Claims::closed(task, WORKERS, 10) };
        cycle::measure(task, queue, claims).await
    }
}
