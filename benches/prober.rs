//! Watches every wait from its beginning to its end, by looking about a thousand times a second.
//!
//! Only for probes in which nothing else is timed: it looks at everything that the engine shows.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, TryRecvError, channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use leaseproof_engines::EngineError;
use leaseproof_engines::store::{SessionId, Store};
use leaseproof_engines::waits::{Instruments, Look};

/// The pause between two looks.
const PAUSE: Duration = Duration::from_micros(500);

/// One wait as it was seen.
#[derive(Clone, Debug)]
pub struct Seen {
    /// From the first look that saw it to the first that did not.
    pub seen: Duration,
    /// How long it had lasted by the server's clock when it was last seen, and half the time to the
    /// next look; in milliseconds.
    pub server_ms: Option<f64>,
    /// Who was waiting for whom, where that is shown.
    pub pair: Option<String>,
}

struct Open {
    first: Instant,
    last: Instant,
    server_ms: Option<f64>,
    pair: Option<String>,
}

/// A prober that runs.
pub struct Prober {
    stop: Sender<()>,
    thread: JoinHandle<Result<Vec<Seen>, EngineError>>,
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
        let thread = std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
            let runtime = runtime.expect("the system has room for one more event loop");
            let mut instruments = runtime.block_on(store.instruments())?;
            let _ = ready.send(());
            let seen = watch(&runtime, &mut *instruments, &stopped);
            runtime.block_on(instruments.close());
            seen
        });
        // One that has failed is ready, too: its error is the result.
        let _ = is_ready.recv();
        Self { stop, thread }
    }

    /// Ends it.
    ///
    /// # Errors
    /// When the engine could not be asked.
    ///
    /// # Panics
    /// When the prober has panicked.
    pub fn stop(self) -> Result<Vec<Seen>, EngineError> {
        let _ = self.stop.send(());
        self.thread.join().expect("a prober does not panic")
    }
}

#[expect(clippy::disallowed_methods, reason = "a pause between two looks, not a wait for anything")]
fn watch(
    runtime: &tokio::runtime::Runtime,
    instruments: &mut dyn Instruments,
    stopped: &Receiver<()>,
) -> Result<Vec<Seen>, EngineError> {
    let mut seen = Vec::new();
    let mut open: BTreeMap<SessionId, Open> = BTreeMap::new();
    while stopped.try_recv() == Err(TryRecvError::Empty) {
        let waits = runtime.block_on(instruments.waits(Look::Probe))?;
        let now = Instant::now();
        let ended: Vec<SessionId> = open
            .keys()
            .copied()
            .filter(|session| waits.iter().all(|wait| wait.session != *session))
            .collect();
        for session in ended {
            let wait = open.remove(&session).expect("it was just found there");
            seen.push(wait.end(now));
        }
        for wait in waits {
            let entry = open.entry(wait.session).or_insert(Open {
                first: now,
                last: now,
                server_ms: None,
                pair: None,
            });
            entry.last = now;
            entry.server_ms = wait.waited_ms.or(entry.server_ms);
            let pair = wait.blocker.map(|blocker| format!("{} waits for {blocker}", wait.waiter));
            entry.pair = pair.or(entry.pair.take());
        }
        std::thread::sleep(PAUSE);
    }
    let now = Instant::now();
    seen.extend(open.into_values().map(|wait| wait.end(now)));
    Ok(seen)
}

impl Open {
    fn end(self, now: Instant) -> Seen {
        let after = now.duration_since(self.last).as_secs_f64() * 1000.0;
        Seen {
            seen: now.duration_since(self.first),
            server_ms: self.server_ms.map(|ms| ms + after / 2.0),
            pair: self.pair,
        }
    }
}
