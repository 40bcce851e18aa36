//! Drives workers against a store: all begin together, in a closed loop or on a schedule.
//!
//! Invariants: the clock starts after all workers have met; on a schedule every turn is timed from
//! when it was due, none is left out because the workers were late, and what was never begun is
//! counted; the window is cut by time, not by count.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use leaseproof_engines::EngineError;
use leaseproof_engines::servers::{ProcessId, cpu_of_tree};
use nix::sys::resource::{UsageWho, getrusage};
use nix::sys::time::TimeValLike as _;
use rand::{RngExt as _, SeedableRng as _, rngs::StdRng};
use tokio::sync::{Barrier, Semaphore};

use crate::recorder::{Record, Recorder};

/// How turns follow each other.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Pace {
    /// Each worker begins its next turn when its last one has ended: saturation.
    Closed,
    /// Turns are due at random instants, that many in a second, whatever the workers do.
    Open {
        /// Turns due in a second, over all workers.
        per_s: f64,
    },
}

/// A load on a store.
#[derive(Clone, Copy, Debug)]
pub struct Load {
    /// How long the workers run before anything counts.
    pub warm_up: Duration,
    /// How long they are measured.
    pub window: Duration,
    /// How turns follow each other.
    pub pace: Pace,
    /// How long each part of the series is.
    pub part: Duration,
    /// The seed of the schedule.
    pub seed: u64,
    /// How many kinds of operations are recorded.
    pub operations: usize,
    /// How many tallies are kept.
    pub tallies: usize,
    /// The server's first process, where its processor time can be read.
    pub server: Option<ProcessId>,
}

/// One turn of a worker.
#[derive(Clone, Copy, Debug)]
pub struct Turn {
    /// Its number among the worker's own.
    pub number: u64,
    /// When it was due, from which its latency counts; in a closed loop, when it began.
    pub due: Instant,
    /// When the load ends: until then an attempt that failed is made again, and the time that it took is
    /// part of the turn.
    pub until: Instant,
}

/// What a worker does, over and over.
pub trait Worker: Send + 'static {
    /// One turn. A retryable error is recorded by the worker; one that is returned ends the load.
    fn turn(
        &mut self,
        turn: Turn,
        recorder: &mut Recorder,
    ) -> impl Future<Output = Result<(), EngineError>> + Send;
}

/// What a load came to.
pub struct Loaded<W> {
    /// The workers, for closing their sessions.
    pub workers: Vec<W>,
    /// What they recorded.
    pub record: Record,
    /// When the clock started.
    pub start: Instant,
    /// The length of the window in seconds.
    pub seconds: f64,
    /// Processor time that this program used inside the window, in seconds.
    pub cpu_s: f64,
    /// The same of the server, where it can be read.
    pub server_cpu_s: Option<f64>,
    /// Turns that were due inside the load and had not begun when it ended; 0 in a closed loop.
    pub unsent: u64,
    /// How late turns began, on a schedule.
    pub lag: Option<leaseproof_reports::bench::Latency>,
}

struct Shared {
    load: Load,
    barrier: Barrier,
    start: OnceLock<Instant>,
    /// When each turn is due, in order; empty in a closed loop.
    schedule: Vec<Duration>,
    next: AtomicUsize,
    due: Semaphore,
}

impl Shared {
    /// The instant at which the clock starts: the first one to pass the barrier reads it.
    fn start(&self) -> Instant {
        *self.start.get_or_init(Instant::now)
    }

    fn end(&self) -> Instant {
        self.start() + self.load.warm_up + self.load.window
    }
}

/// How many threads of the runtime serve the workers: a quarter of the processors, and at least one.
///
/// On a machine that the server shares, the threads of a generator wake each other for work that one of
/// them had done with less, and what they use is taken from the server.
#[must_use]
pub fn threads() -> usize {
    std::thread::available_parallelism().map_or(1, |cores| cores.get().div_ceil(4))
}

/// Runs a load until its window has ended.
///
/// # Errors
/// The first error that a worker returned.
///
/// # Panics
/// When a worker panics.
pub async fn run<W: Worker>(workers: Vec<W>, load: Load) -> Result<Loaded<W>, EngineError> {
    let schedule = schedule(&load);
    let shared = Arc::new(Shared {
        load,
        barrier: Barrier::new(workers.len() + 1),
        start: OnceLock::new(),
        schedule,
        next: AtomicUsize::new(0),
        due: Semaphore::new(0),
    });
    // The lag has a place of its own, behind the scenario's operations.
    let recorder = || {
        let recorder = Recorder::new(load.operations + 1, load.tallies, load.window);
        recorder.in_parts_of(load.part, load.window)
    };
    let tasks: Vec<_> = workers
        .into_iter()
        .map(|worker| tokio::spawn(drive(worker, recorder(), Arc::clone(&shared))))
        .collect();
    shared.barrier.wait().await;
    let pacer = matches!(load.pace, Pace::Open { .. }).then(|| {
        let shared = Arc::clone(&shared);
        std::thread::spawn(move || pace(&shared))
    });
    let (cpu_s, server_cpu_s) = cpu_inside(&shared).await;
    let mut workers = Vec::new();
    let mut recorders = Vec::new();
    let mut failure = None;
    for task in tasks {
        match task.await.expect("a worker does not panic") {
            Ok((worker, recorder)) => {
                workers.push(worker);
                recorders.push(recorder);
            }
            Err(error) => failure = failure.or(Some(error)),
        }
    }
    if let Some(pacer) = pacer {
        pacer.join().expect("the pacer does not panic");
    }
    if let Some(error) = failure {
        return Err(error);
    }
    let begun = shared.next.load(Ordering::SeqCst).min(shared.schedule.len());
    let record = Record::merge(recorders);
    Ok(Loaded {
        workers,
        start: shared.start(),
        seconds: load.window.as_secs_f64(),
        cpu_s,
        server_cpu_s,
        unsent: (shared.schedule.len() - begun) as u64,
        lag: record.latency(load.operations),
        record,
    })
}

async fn drive<W: Worker>(
    mut worker: W,
    mut recorder: Recorder,
    shared: Arc<Shared>,
) -> Result<(W, Recorder), EngineError> {
    shared.barrier.wait().await;
    let (start, end) = (shared.start(), shared.end());
    recorder.open(start + shared.load.warm_up, end);
    for number in 0.. {
        let due = match shared.load.pace {
            Pace::Closed => Some(Instant::now()).filter(|now| *now < end),
            Pace::Open { .. } => next_due(&shared, &mut recorder).await,
        };
        let Some(due) = due else { break };
        let turn = worker.turn(Turn { number, due, until: end }, &mut recorder).await;
        if let Err(error) = turn {
            // The others would wait for turns that nobody needs any more.
            shared.due.close();
            return Err(error);
        }
    }
    Ok((worker, recorder))
}

/// Waits for the next turn that is due and takes it.
async fn next_due(shared: &Shared, recorder: &mut Recorder) -> Option<Instant> {
    shared.due.acquire().await.ok()?.forget();
    if Instant::now() >= shared.end() {
        // It stays among those that were never begun.
        return None;
    }
    let due = *shared.schedule.get(shared.next.fetch_add(1, Ordering::SeqCst))?;
    let due = shared.start() + due;
    recorder.ended(shared.load.operations, due);
    Some(due)
}

/// The instants at which turns are due, from the start: a Poisson process.
fn schedule(load: &Load) -> Vec<Duration> {
    let Pace::Open { per_s } = load.pace else {
        return Vec::new();
    };
    let mut random = StdRng::seed_from_u64(load.seed);
    let length = (load.warm_up + load.window).as_secs_f64();
    let mut schedule = Vec::new();
    let mut at = 0.0;
    loop {
        let uniform: f64 = random.random();
        at += -(1.0 - uniform).ln() / per_s;
        if at >= length {
            return schedule;
        }
        schedule.push(Duration::from_secs_f64(at));
    }
}

/// Lets workers go when their turn is due. A thread of its own: the runtime's timers are a
/// millisecond wide.
#[expect(clippy::disallowed_methods, reason = "the schedule of a load is time itself")]
fn pace(shared: &Shared) {
    let start = shared.start();
    for due in &shared.schedule {
        let due = start + *due;
        let now = Instant::now();
        if due > now {
            std::thread::sleep(due - now);
        }
        if shared.due.is_closed() {
            return;
        }
        shared.due.add_permits(1);
    }
    let left = shared.end().saturating_duration_since(Instant::now());
    std::thread::sleep(left);
    shared.due.close();
}

/// The processor time that this program and the server use between the window's beginning and its end.
#[expect(clippy::disallowed_methods, reason = "the window of a load is time itself")]
async fn cpu_inside(shared: &Shared) -> (f64, Option<f64>) {
    let server = || shared.load.server.and_then(cpu_of_tree);
    tokio::time::sleep_until((shared.start() + shared.load.warm_up).into()).await;
    let before = (cpu_s(UsageWho::RUSAGE_SELF), server());
    tokio::time::sleep_until(shared.end().into()).await;
    let of_server = server().zip(before.1).map(|(after, before)| after.saturating_sub(before));
    (cpu_s(UsageWho::RUSAGE_SELF) - before.0, of_server.map(|time| time.as_secs_f64()))
}

/// User and system time so far.
pub(crate) fn cpu_s(who: UsageWho) -> f64 {
    let Ok(usage) = getrusage(who) else {
        return 0.0;
    };
    (usage.user_time() + usage.system_time()).num_microseconds() as f64 / 1e6
}

#[cfg(test)]
mod tests;
