//! Measures a load of claims on one queue, with every instrument, and checks what it left.

use std::sync::Arc;

use leaseproof_engines::EngineError;
use leaseproof_engines::lease::Strategy;

use crate::claim_cycle::{Claimer, EMPTY, OPERATIONS, REFUSED, RETRIES, ROWS, SHORT, TALLIES};
use crate::load::{self, Load, Loaded, Pace};
use crate::measured::Measured;
use crate::sampler::Sampler;
use crate::scenario::Task;
use crate::server::{Filled, Queue};

/// Who claims how.
#[derive(Clone, Copy, Debug)]
pub struct Claims {
    /// How many workers.
    pub workers: usize,
    /// How many events at once.
    pub batch: u32,
    /// By which strategy.
    pub strategy: Strategy,
    /// How turns follow each other.
    pub pace: Pace,
}

/// Measures claims on a queue of their own.
///
/// # Errors
/// When the engine fails in a way that is no result.
pub async fn measure(
    task: Task<'_>,
    queue: Queue,
    claims: Claims,
) -> Result<Measured, EngineError> {
    let mut filled = task.bench.queue(&queue).await?;
    let measured = measure_on(task, &mut filled, queue.depth, claims).await;
    filled.remove().await?;
    measured
}

/// Measures claims on a queue that is there, and stays.
///
/// # Errors
/// When the engine fails in a way that is no result.
pub async fn measure_on(
    task: Task<'_>,
    filled: &mut Filled,
    depth: u64,
    claims: Claims,
) -> Result<Measured, EngineError> {
    let sessions = filled.sessions(claims.workers).await?;
    let held_before = filled.instruments.audit().await?;
    let before = filled.instruments.counters().await?;
    let hz = task.profile.sample_hz;
    let sampler = (hz > 0.0).then(|| Sampler::start(Arc::clone(&filled.store), hz));
    let load = Load {
        warm_up: task.profile.warm_up,
        window: task.profile.window,
        pace: claims.pace,
        seed: task.seed,
        operations: OPERATIONS.len(),
        tallies: TALLIES,
    };
    let workers = Claimer::all(sessions, claims.batch, claims.strategy);
    let loaded = load::run(workers, load).await;
    let samples = sampler.map(Sampler::stop).transpose()?;
    let mut loaded = loaded?;
    for worker in std::mem::take(&mut loaded.workers) {
        worker.session.close().await;
    }
    let change = filled.counters().await?.since(&before);
    let mut measured = Measured::default();
    recorded(&mut measured, &loaded);
    measured.counted(&change, loaded.record.operations(0).all);
    match &samples {
        Some(samples) => measured.sampled(samples),
        None => measured.hidden("sampled_wait_ms", "nobody looked"),
    }
    measured.deadlocks(&change, &loaded.record);
    let mut audit = filled.instruments.audit().await?;
    audit.attempts -= held_before.attempts;
    audit.held -= held_before.held;
    measured.audited(audit, depth, loaded.record.tally(ROWS).all);
    Ok(measured)
}

fn recorded(measured: &mut Measured, loaded: &Loaded<Claimer>) {
    let (record, seconds) = (&loaded.record, loaded.seconds);
    measured.recorded(record, seconds);
    let claims = record.operations(0).window as f64;
    let rows = record.tally(ROWS).window as f64;
    let share = |tally: usize| record.tally(tally).window as f64 / claims.max(1.0);
    measured.value("claims_per_s", claims / seconds);
    measured.value("rows_per_s", rows / seconds);
    measured.value("empty_ratio", share(EMPTY));
    measured.value("short_ratio", share(SHORT));
    measured.value("retries_per_claim", share(RETRIES));
    measured.value("client_cpu_us_per_claim", loaded.cpu_s * 1e6 / claims.max(1.0));
    measured.value("client_cpu_cores", loaded.cpu_s / seconds);
    for (place, operation) in OPERATIONS.iter().enumerate() {
        measured.latency(operation, record.latency(place));
    }
    if let Some(lag) = &loaded.lag {
        measured.latency("lag", Some(lag.clone()));
        measured.value("unsent", loaded.unsent as f64);
    }
    let refused = record.tally(REFUSED).all;
    if refused > 0 {
        let text = format!("{refused} events were taken from a worker whose lease was live");
        measured.violations.push(text);
    }
}
