//! Measures a load of claims on one queue, with every instrument, and checks what it left.

use std::sync::Arc;
use std::time::{Duration, Instant};

use leaseproof_engines::EngineError;
use leaseproof_engines::instruments::{Audit, Counters};
use leaseproof_engines::lease::Strategy;

use crate::claim_cycle::{Claimer, EMPTY, OPERATIONS, REFUSED, RETRIES, ROWS, SHORT, TALLIES};
use crate::load::{self, Load, Loaded, Pace};
use crate::measured::{DEADLOCKS, Measured};
use crate::producer::{Fed, Feeder};
use crate::recorder::SECOND;
use crate::sampler::{Sampler, Samples};
use crate::scenario::Task;
use crate::server::{Fault, Filled, Queue};

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
    /// How long each part of the series is.
    pub part: Duration,
    /// How often the server is looked at in a second; 0 for never.
    pub sample_hz: f64,
    /// How many events are enqueued beside them in a second; 0 for none.
    pub fed_per_s: f64,
}

impl Claims {
    /// Claims in a closed loop by the engine's best strategy, with nothing beside them.
    #[must_use]
    pub fn closed(task: Task<'_>, workers: usize, batch: u32) -> Self {
        Self {
            workers,
            batch,
            strategy: task.bench.best_strategy(),
            pace: Pace::Closed,
            part: SECOND,
            sample_hz: task.profile.sample_hz,
            fed_per_s: 0.0,
        }
    }
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
    load_on(task, filled, claims).await?.finish(filled, depth).await
}

/// Why the processor time of a server is not known.
pub const HIDDEN_CPU: &str = "the server is no process on this machine that we have started";

/// A load that has ended, before its queue was looked at.
pub struct Ended {
    loaded: Loaded<Claimer>,
    samples: Option<Samples>,
    fed: Option<Fed>,
    before: Counters,
    audit_before: Audit,
    /// Why the server's processor time is not known, where it is not.
    hidden_cpu: &'static str,
}

/// The load that the profile asks for.
#[must_use]
pub fn load_of(task: Task<'_>, pace: Pace) -> Load {
    Load {
        warm_up: task.profile.warm_up,
        window: task.profile.window,
        pace,
        part: SECOND,
        seed: task.seed,
        operations: OPERATIONS.len(),
        tallies: TALLIES,
        server: task.bench.endpoint.process,
    }
}

/// Lets workers claim, and closes their sessions.
///
/// # Errors
/// When the engine fails in a way that is no result.
pub async fn load_on(
    task: Task<'_>,
    filled: &mut Filled,
    claims: Claims,
) -> Result<Ended, EngineError> {
    let sessions = filled.sessions(claims.workers).await?;
    let audit_before = filled.instruments.audit().await?;
    let before = filled.instruments.counters().await?;
    let mut feeder = None;
    if claims.fed_per_s > 0.0 {
        let session = filled.sessions(1).await?.remove(0);
        let middle = task.profile.depth / 2;
        feeder = Some(Feeder::start(session, claims.fed_per_s, middle));
    }
    let hz = claims.sample_hz;
    let sampler = (hz > 0.0).then(|| Sampler::start(Arc::clone(&filled.store), hz));
    let load = Load { part: claims.part, ..load_of(task, claims.pace) };
    let mut workers = Claimer::all(sessions, claims.batch, claims.strategy);
    let slowed = task.bench.fault == Fault::SlowClaim;
    workers.iter_mut().for_each(|worker| worker.slowed = slowed);
    let loaded = load::run(workers, load).await;
    let samples = sampler.map(Sampler::stop).transpose()?;
    let fed = match feeder {
        Some(feeder) => Some(feeder.stop().await?),
        None => None,
    };
    let mut loaded = loaded?;
    for worker in std::mem::take(&mut loaded.workers) {
        worker.session.close().await;
    }
    let hidden_cpu = match task.bench.engine.server() {
        Some(_) => HIDDEN_CPU,
        None => "an embedded engine works in the client's processes",
    };
    Ok(Ended { loaded, samples, fed, before, audit_before, hidden_cpu })
}

impl Ended {
    /// When the clock of the load started.
    #[must_use]
    pub fn start(&self) -> Instant {
        self.loaded.start
    }

    /// Claims that ended in each part of the window.
    #[must_use]
    pub fn series(&self) -> &[u64] {
        &self.loaded.record.series
    }

    /// Reads what the load cost, and checks what it left on a queue of `depth` events.
    ///
    /// # Errors
    /// When the engine cannot be asked.
    pub async fn finish(self, filled: &mut Filled, depth: u64) -> Result<Measured, EngineError> {
        self.finish_beside(filled, depth, 0).await
    }

    /// The same while that many other sessions stay open.
    ///
    /// # Errors
    /// When the engine cannot be asked.
    pub async fn finish_beside(
        self,
        filled: &mut Filled,
        depth: u64,
        open: i64,
    ) -> Result<Measured, EngineError> {
        let record = &self.loaded.record;
        let change = filled.counters_beside(open).await?.since(&self.before);
        let mut measured = Measured::default();
        recorded(&mut measured, &self.loaded, self.hidden_cpu);
        let claims = record.operations(0).all;
        measured.counted(&change, claims);
        let rows = record.tally(ROWS).all;
        measured.value("rows_per_claim", rows as f64 / claims.max(1) as f64);
        match &self.samples {
            Some(samples) => measured.sampled(samples),
            None => measured.hidden("sampled_wait_ms", "nobody looked"),
        }
        let fed = self.fed.unwrap_or_default();
        if fed.events > 0 {
            measured.value("fed", fed.events as f64);
            measured.value("fed_per_s", fed.events as f64 / fed.seconds);
        }
        for (code, count) in &fed.errors {
            *measured.repeat.errors.entry(format!("enqueue:{code}")).or_default() += count;
        }
        measured.deadlocks(&change, record.all_errors(DEADLOCKS) + fed.deadlocks());
        let mut audit = filled.instruments.audit().await?;
        audit.attempts -= self.audit_before.attempts;
        audit.held -= self.audit_before.held;
        measured.audited(audit, depth + fed.events, rows);
        Ok(measured)
    }
}

fn recorded(measured: &mut Measured, loaded: &Loaded<Claimer>, hidden_cpu: &str) {
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
    measured.value("unfinished", record.unfinished.count as f64);
    measured.value("unfinished_worst_ms", record.unfinished.longest.as_secs_f64() * 1000.0);
    measured.value("client_cpu_us_per_claim", loaded.cpu_s * 1e6 / claims.max(1.0));
    measured.value("client_cpu_cores", loaded.cpu_s / seconds);
    match loaded.server_cpu_s {
        Some(cpu_s) => measured.value("server_cpu_us_per_claim", cpu_s * 1e6 / claims.max(1.0)),
        None => measured.hidden("server_cpu_us_per_claim", hidden_cpu),
    }
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
