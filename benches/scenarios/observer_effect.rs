//! What looking costs what is looked at.

use std::sync::Arc;
use std::time::Instant;

use async_trait::async_trait;
use leaseproof_engines::servers::cpu_of_tree;
use leaseproof_engines::store::Store;
use leaseproof_engines::{Engine, EngineError};

use crate::cycle::{self, Claims};
use crate::measured::Measured;
use crate::profile::Profile;
use crate::sampler::Sampler;
use crate::scenario::{Scenario, Spec, Task};
use crate::server::Queue;

const WORKERS: usize = 8;

/// The scenario's one instance.
pub static SCENARIO: ObserverEffect = ObserverEffect;

/// Sampling rates, and whether the engine tells of waits; and the sampler with nobody else there, whose
/// cost is lost in the noise of a load.
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
            "server_cpu_us_per_claim",
            "server_cpu_ms_per_s",
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
        if engine.server().is_some() {
            for sample_hz in [0, 100] {
                cells.push(
                    Spec::new(repeats, profile.load_s())
                        .with("sample_hz", sample_hz)
                        .with("workers", 0),
                );
            }
        }
        cells
    }

    async fn measure(&self, task: Task<'_>) -> Result<Measured, EngineError> {
        let mut queue = Queue::new(task.bench.engine, task.profile.depth);
        let sample_hz = task.spec.get("sample_hz");
        if task.spec.text("workers") == "0" {
            let filled = task.bench.queue(&queue).await?;
            let measured = alone(task, Arc::clone(&filled.store), sample_hz).await;
            filled.remove().await?;
            return measured;
        }
        queue.telling = task.spec.get("telling");
        let claims = Claims { sample_hz, ..Claims::closed(task, WORKERS, 10) };
        cycle::measure(task, queue, claims).await
    }
}

/// What a server does for the sampler only, or for nobody.
#[expect(clippy::disallowed_methods, reason = "the window is time itself")]
async fn alone(task: Task<'_>, store: Arc<dyn Store>, hz: f64) -> Result<Measured, EngineError> {
    let read = || task.bench.endpoint.process.and_then(cpu_of_tree);
    let sampler = (hz > 0.0).then(|| Sampler::start(store, hz));
    tokio::time::sleep(task.profile.warm_up).await;
    let (start, before) = (Instant::now(), read());
    tokio::time::sleep(task.profile.window).await;
    let (seconds, after) = (start.elapsed().as_secs_f64(), read());
    let mut measured = Measured::default();
    measured.repeat.seconds = seconds;
    if let Some(samples) = sampler.map(Sampler::stop).transpose()? {
        measured.sampled(&samples);
    }
    match before.zip(after) {
        Some((before, after)) => {
            let ms = after.saturating_sub(before).as_secs_f64() * 1000.0;
            measured.value("server_cpu_ms_per_s", ms / seconds);
        }
        None => measured.hidden("server_cpu_ms_per_s", cycle::HIDDEN_CPU),
    }
    Ok(measured)
}
