//! What criterion's groups share: servers, filled stores, and workers that start together.

use std::sync::Arc;
use std::time::{Duration, Instant as Clock};

use leaseproof_engines::REGISTRY;
use leaseproof_engines::instruments::Instruments;
use leaseproof_engines::lease::{Instant, NewEvent};
use leaseproof_engines::servers::{OwnerPid, ProvideOptions, Selection};
use leaseproof_engines::store::{Session, SessionOptions, Store, StoreOptions};
use tokio::runtime::Runtime;
use tokio::sync::Barrier;

use crate::server::{Bench, event};

/// How many workers contend, in every group.
pub const WORKERS: [usize; 3] = [1, 4, 16];

/// A runtime for one group.
///
/// # Panics
/// When the system has no threads left.
#[must_use]
pub fn runtime() -> Runtime {
    tokio::runtime::Builder::new_multi_thread()
        .worker_threads(crate::load::threads())
        .enable_all()
        .build()
        .expect("the system has threads")
}

/// Every engine that can be provided; the others are named on stderr with the reason.
///
/// # Panics
/// When this program's own path is unknown.
#[must_use]
pub fn benches(runtime: &Runtime) -> Vec<Bench> {
    let program = std::env::current_exe().expect("the path of a running program is known");
    let options = ProvideOptions::new(program, OwnerPid::current());
    let mut found = Vec::new();
    for engine in REGISTRY.iter().copied() {
        match runtime.block_on(Bench::provide(&Selection::of(engine), &options, &|_| {})) {
            Ok(bench) => found.push(bench),
            Err(error) => eprintln!("not measured: {error}"),
        }
    }
    found
}

/// A store with its workers' sessions.
pub struct Stocked {
    store: Box<dyn Store>,
    /// What the engine tells of its costs.
    pub instruments: Box<dyn Instruments>,
    /// One session for each worker.
    pub sessions: Vec<Box<dyn Session>>,
}

impl Bench {
    /// A new store with `events` due events and a session for each of `workers`.
    ///
    /// # Panics
    /// When the engine fails: a benchmark without its store has nothing to measure.
    pub async fn stocked(&self, events: usize, workers: usize) -> Stocked {
        let options = StoreOptions { session: self.telling, ..StoreOptions::default() };
        let store = self.engine.open(&self.endpoint, options).await;
        let store = store.expect("a store can be opened");
        let mut sessions = Vec::new();
        for _ in 0..workers {
            let session = store.session(&SessionOptions::default()).await;
            sessions.push(session.expect("a session can be opened"));
        }
        let events: Vec<NewEvent> = (0..events as u64).map(new_event).collect();
        let enqueued = sessions[0].enqueue(&events).await;
        enqueued.expect("a new store takes events");
        let instruments = store.instruments().await.expect("a store of ours has instruments");
        Stocked { store, instruments, sessions }
    }
}

impl Stocked {
    /// Asks the table how often its events were acquired, which must be as often as the workers say.
    ///
    /// # Panics
    /// When an acquisition was lost or doubled, or the table cannot be read.
    pub async fn assert_acquired(&mut self, times: usize) {
        let audit = self.instruments.audit().await.expect("a table of ours can be read");
        assert_eq!(audit.attempts, times as i64, "acquisitions that the table counts");
    }

    /// Closes every session and removes the store.
    ///
    /// # Panics
    /// When the store cannot be removed.
    pub async fn remove(self) {
        for session in self.sessions {
            session.close().await;
        }
        self.instruments.close().await;
        self.store.close().await.expect("a store can be removed");
    }
}

fn new_event(number: u64) -> NewEvent {
    NewEvent { event: event(number), due: Instant(0), enqueued: Instant(0) }
}

/// Lets every session run `work` at once. The clock starts when all of them have met at a barrier,
/// and stops when the last has ended.
///
/// # Panics
/// When a worker panics.
pub async fn together<F, W>(
    sessions: Vec<Box<dyn Session>>,
    work: F,
) -> (Duration, Vec<Box<dyn Session>>)
where
    F: Fn(usize, Box<dyn Session>) -> W,
    W: Future<Output = Box<dyn Session>> + Send + 'static,
{
    let barrier = Arc::new(Barrier::new(sessions.len() + 1));
    let mut workers = Vec::new();
    for (number, session) in sessions.into_iter().enumerate() {
        let barrier = Arc::clone(&barrier);
        let work = work(number, session);
        workers.push(tokio::spawn(async move {
            barrier.wait().await;
            work.await
        }));
    }
    barrier.wait().await;
    let start = Clock::now();
    let mut sessions = Vec::new();
    for worker in workers {
        sessions.push(worker.await.expect("a worker does not panic"));
    }
    (start.elapsed(), sessions)
}
