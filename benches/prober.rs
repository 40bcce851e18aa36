//! Watches every wait from its beginning to its end, by looking about a thousand times a second.
//!
//! Only for probes in which nothing else is timed: it looks at everything that the engine shows.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, Sender, TryRecvError, channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use leaseproof_engines::EngineError;
use leaseproof_engines::instruments::{Instruments, Look};
use leaseproof_engines::store::{SessionId, Store};

/// The pause between two looks.
const PAUSE: Duration = Duration::from_micros(500);

/// One wait as it was seen.
#[derive(Clone, Debug)]
pub struct Seen {
    /// From the first look that saw it to the first that did not.
    pub seen: Duration,
    /// The time between the looks at its two ends: it may have been so much shorter or longer.
    pub resolution: Duration,
    /// How long it had lasted by the server's clock when it was last seen, and half the time to the
    /// next look; in milliseconds.
    pub server_ms: Option<f64>,
}

struct Open {
    before: Instant,
    first: Instant,
    last: Instant,
    server_ms: Option<f64>,
    /// When it was first not seen, and by how many looks in a row.
    missed: Option<Instant>,
    misses: u32,
}

/// Everything a prober saw.
#[derive(Debug, Default)]
pub struct Probed {
    /// The waits that ended.
    pub waits: Vec<Seen>,
    /// Who was seen waiting for whom, and how often.
    pub pairs: BTreeMap<String, u64>,
}

/// A prober that runs.
pub struct Prober {
    stop: Sender<()>,
    looks: Arc<AtomicU64>,
    thread: JoinHandle<Result<Probed, EngineError>>,
}

impl Prober {
    /// Begins to watch a store; returns when it is connected.
    ///
    /// # Panics
    /// When the prober has panicked.
    #[must_use]
    pub fn start(store: Arc<dyn Store>) -> Self {
        let (stop, stopped) = channel();
        let (ready, is_ready) = channel();
        let looks = Arc::new(AtomicU64::new(0));
        let counted = Arc::clone(&looks);
        let thread = std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
            let runtime = runtime.expect("the system has room for one more event loop");
            let mut instruments = runtime.block_on(store.instruments())?;
            let _ = ready.send(());
            let seen = watch(&runtime, &mut *instruments, &stopped, &counted);
            runtime.block_on(instruments.close());
            seen
        });
        // One that has failed is ready, too: its error is the result.
        let _ = is_ready.recv();
        Self { stop, looks, thread }
    }

    /// Lets it look often enough that it sees that a wait has ended before the next one begins.
    pub async fn looked(&self) {
        let enough = self.looks.load(Ordering::SeqCst) + 4;
        while self.looks.load(Ordering::SeqCst) < enough && !self.thread.is_finished() {
            tokio::task::yield_now().await;
        }
    }

    /// Ends it.
    ///
    /// # Errors
    /// When the engine could not be asked.
    ///
    /// # Panics
    /// When the prober has panicked.
    pub fn stop(self) -> Result<Probed, EngineError> {
        let _ = self.stop.send(());
        self.thread.join().expect("a prober does not panic")
    }
}

#[expect(clippy::disallowed_methods, reason = "a pause between two looks, not a wait for anything")]
fn watch(
    runtime: &tokio::runtime::Runtime,
    instruments: &mut dyn Instruments,
    stopped: &Receiver<()>,
    looks: &AtomicU64,
) -> Result<Probed, EngineError> {
    let mut probed = Probed::default();
    let mut named = Instant::now();
    let mut previous = named;
    let mut open: BTreeMap<SessionId, Open> = BTreeMap::new();
    while stopped.try_recv() == Err(TryRecvError::Empty) {
        let waits = runtime.block_on(instruments.waits(Look::Probe))?;
        let now = Instant::now();
        // A waiter that looks for a deadlock is for a moment not seen waiting, so two looks must miss it.
        for (session, wait) in &mut open {
            if waits.iter().all(|wait| wait.session != *session) {
                wait.missed.get_or_insert(now);
                wait.misses += 1;
            }
        }
        let ended: Vec<SessionId> =
            open.iter().filter(|(_, wait)| wait.misses >= 2).map(|(session, _)| *session).collect();
        for session in ended {
            let wait = open.remove(&session).expect("it was just found there");
            probed.waits.push(wait.end(now));
        }
        for wait in waits {
            let before = previous;
            let fresh =
                Open { before, first: now, last: now, server_ms: None, missed: None, misses: 0 };
            let entry = open.entry(wait.session).or_insert(fresh);
            (entry.last, entry.missed, entry.misses) = (now, None, 0);
            entry.server_ms = wait.waited_ms.or(entry.server_ms);
            if let Some(blocker) = wait.blocker {
                let pair = format!("{} waits for {blocker}", wait.waiter);
                *probed.pairs.entry(pair).or_default() += 1;
            }
        }
        // Where the newest picture does not show who holds the lock, an older one may.
        let due = named.elapsed() > instruments.shortest_interval().max(PAUSE * 20);
        if due && probed.pairs.is_empty() && !open.is_empty() {
            for wait in runtime.block_on(instruments.waits(Look::Timed))? {
                if let Some(blocker) = wait.blocker {
                    let pair = format!("{} waits for {blocker}", wait.waiter);
                    *probed.pairs.entry(pair).or_default() += 1;
                }
            }
            named = Instant::now();
        }
        previous = now;
        looks.fetch_add(1, Ordering::SeqCst);
        std::thread::sleep(PAUSE);
    }
    let now = Instant::now();
    probed.waits.extend(open.into_values().map(|wait| wait.end(now)));
    Ok(probed)
}

impl Open {
    fn end(self, now: Instant) -> Seen {
        let now = self.missed.unwrap_or(now);
        let after = now.duration_since(self.last).as_secs_f64() * 1000.0;
        Seen {
            seen: now.duration_since(self.first),
            resolution: self.first.duration_since(self.before) + now.duration_since(self.last),
            server_ms: self.server_ms.map(|ms| ms + after / 2.0),
        }
    }
}
