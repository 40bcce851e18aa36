//! What each isolation level costs claims, with new events coming in beside them.

use async_trait::async_trait;
use leaseproof_engines::engine::Setup;
use leaseproof_engines::store::Isolation;
use leaseproof_engines::{Engine, EngineError};

use crate::cycle::{self, Claims};
use crate::measured::Measured;
use crate::profile::Profile;
use crate::scenario::{Scenario, Spec, Task};
use crate::server::Queue;

const LEVELS: [(&str, Isolation); 3] = [
    ("read-committed", Isolation::ReadCommitted),
    ("repeatable-read", Isolation::RepeatableRead),
    ("serializable", Isolation::Serializable),
];

/// How many workers claim, and how many events come in beside them in a second.
const WORKERS: usize = 16;
const FED_PER_S: f64 = 500.0;

/// The scenario's one instance.
pub static SCENARIO: IsolationLevels = IsolationLevels;

/// Isolation levels under claims and inserts.
pub struct IsolationLevels;

#[async_trait]
impl Scenario for IsolationLevels {
    fn id(&self) -> &'static str {
        "isolation"
    }

    fn question(&self) -> &'static str {
        "What does a stricter isolation cost, in locks, waits and errors?"
    }

    fn headline(&self) -> &'static [&'static str] {
        &[
            "claims_per_s",
            "lock_requests_per_claim",
            "lock_wait_ms",
            "client_deadlocks",
            "retries_per_claim",
        ]
    }

    fn cells(&self, engine: &dyn Engine, profile: &Profile) -> Vec<Spec> {
        if engine.server().is_none() {
            // It has one isolation level.
            return Vec::new();
        }
        let repeats = profile.few_repeats;
        let cell = |name: &str| Spec::new(repeats, profile.load_s()).with("isolation", name);
        let levels = LEVELS.into_iter().map(|(name, _)| name);
        levels.chain(switched(engine).map(|setup| setup.name)).map(cell).collect()
    }

    async fn measure(&self, task: Task<'_>) -> Result<Measured, EngineError> {
        let name = task.spec.text("isolation");
        let mut queue = Queue::new(task.bench.engine, task.profile.depth);
        let level = LEVELS.into_iter().find(|(level, _)| *level == name);
        queue.isolation = level.map(|(_, level)| level);
        if let Some(setup) = switched(task.bench.engine).find(|setup| setup.name == name) {
            (queue.isolation, queue.session) = (setup.isolation, setup.session);
        }
        let claims = Claims { fed_per_s: FED_PER_S, ..Claims::closed(task, WORKERS, 10) };
        cycle::measure(task, queue, claims).await
    }
}

/// The ways beside its levels in which an engine lets a session choose what it sees.
fn switched(engine: &dyn Engine) -> impl Iterator<Item = &'static Setup> + use<> {
    engine.setups().iter().filter(|setup| !setup.session.is_empty() && setup.isolation.is_some())
}
