//! What a deeper backlog makes of a claim.

use async_trait::async_trait;
use leaseproof_engines::{Engine, EngineError};

use crate::cycle::{self, Claims};
use crate::measured::Measured;
use crate::profile::Profile;
use crate::scenario::{Scenario, Spec, Task};
use crate::server::Queue;

const WORKERS: usize = 8;

/// The scenario's one instance.
pub static SCENARIO: BacklogDepth = BacklogDepth;

/// Depth of the queue.
pub struct BacklogDepth;

#[async_trait]
impl Scenario for BacklogDepth {
    fn id(&self) -> &'static str {
        "backlog-depth"
    }

    fn question(&self) -> &'static str {
        "Does a claim cost more when more events wait?"
    }

    fn headline(&self) -> &'static [&'static str] {
        &["claims_per_s", "pages_touched_per_claim", "rows_read_per_claim", "vm_steps_per_claim"]
    }

    fn cells(&self, _: &dyn Engine, profile: &Profile) -> Vec<Spec> {
        let repeats = profile.few_repeats;
        let cell = |depth: &u64| {
            // Filling takes about a second for 50,000 events.
            let seconds = profile.load_s() + *depth as f64 / 50_000.0;
            Spec::new(repeats, seconds).with("depth", depth)
        };
        profile.depths.iter().map(cell).collect()
    }

    async fn measure(&self, task: Task<'_>) -> Result<Measured, EngineError> {
        let queue = Queue::new(task.bench.engine, task.spec.get("depth"));
        cycle::measure(task, queue, Claims::closed(task, WORKERS, 10)).await
    }
}
