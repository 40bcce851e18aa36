//! Looks at who waits for whom while a load runs, from a thread and a connection of its own.
//!
//! Its cost is part of what it reports: a measurement that does not know what it costs proves nothing.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use leaseproof_engines::EngineError;
use leaseproof_engines::instruments::Look;
use leaseproof_engines::store::Store;
use nix::sys::resource::UsageWho;

use crate::load::cpu_s;

/// What a sampler saw.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Samples {
    /// How often it looked.
    pub looks: u64,
    /// How many sessions it saw waiting, summed over all looks.
    pub waiting: u64,
    /// The longest wait that it saw, by the server's clock, in milliseconds; 0 where none was told.
    pub longest_ms: f64,
    /// Who was seen waiting for whom, and how often.
    pub blockers: BTreeMap<String, u64>,
    /// Why the engine did not let the sampler look, where it did not; then nothing was seen.
    pub refused: Option<String>,
    /// Whether a wait was seen whose blocker the engine does not show.
    pub unnamed: bool,
    /// How long its looks took, in milliseconds: an upper bound of what they cost the server.
    pub took_ms: f64,
    /// The processor time that it used itself, in milliseconds.
    pub cpu_ms: f64,
    /// How long it ran, in seconds.
    pub seconds: f64,
}

impl Samples {
    /// The time that sessions spent waiting, as far as the looks tell, in milliseconds: each look stands
    /// for its share of the time, so that looks that came late do not make it less.
    #[must_use]
    pub fn wait_ms(&self) -> f64 {
        self.waiting as f64 * self.seconds / self.looks.max(1) as f64 * 1000.0
    }
}

/// A sampler that runs.
pub struct Sampler {
    stop: Sender<()>,
    thread: JoinHandle<Result<Samples, EngineError>>,
}

impl Sampler {
    /// Begins to look at a store, that often in a second.
    #[must_use]
    pub fn start(store: Arc<dyn Store>, hz: f64) -> Self {
        let (stop, stopped) = channel();
        let interval = Duration::from_secs_f64(1.0 / hz);
        let thread = std::thread::spawn(move || {
            // The connection must live in a runtime that the workers do not share.
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
            let runtime = runtime.expect("the system has room for one more event loop");
            sample(&runtime, &*store, interval, &stopped)
        });
        Self { stop, thread }
    }

    /// Ends it.
    ///
    /// # Errors
    /// When the engine could not be asked.
    ///
    /// # Panics
    /// When the sampler has panicked.
    pub fn stop(self) -> Result<Samples, EngineError> {
        // One that has failed listens no more; its error is the result.
        let _ = self.stop.send(());
        self.thread.join().expect("a sampler does not panic")
    }
}

fn sample(
    runtime: &tokio::runtime::Runtime,
    store: &dyn Store,
    interval: Duration,
    stopped: &Receiver<()>,
) -> Result<Samples, EngineError> {
    let mut instruments = runtime.block_on(store.instruments())?;
    let interval = interval.max(instruments.shortest_interval());
    let mut samples = Samples::default();
    let start = Instant::now();
    let cpu = cpu_s(UsageWho::RUSAGE_THREAD);
    let mut next = start + interval;
    loop {
        let left = next.saturating_duration_since(Instant::now());
        if stopped.recv_timeout(left) != Err(RecvTimeoutError::Timeout) {
            break;
        }
        // A look that came late is not made up for: it would see the same waits twice.
        next = (next + interval).max(Instant::now());
        let look = Instant::now();
        let waits = match runtime.block_on(instruments.waits(Look::Timed)) {
            Ok(waits) => waits,
            Err(error) if error.is_no_right() => {
                samples.refused = Some(error.to_string());
                break;
            }
            Err(error) => return Err(error),
        };
        samples.took_ms += look.elapsed().as_secs_f64() * 1000.0;
        samples.looks += 1;
        let mut sessions: Vec<_> = waits.iter().map(|wait| wait.session).collect();
        sessions.sort_unstable();
        sessions.dedup();
        samples.waiting += sessions.len() as u64;
        for wait in waits {
            samples.longest_ms = samples.longest_ms.max(wait.waited_ms.unwrap_or(0.0));
            match wait.blocker {
                Some(blocker) => {
                    let pair = format!("{} waits for {blocker}", wait.waiter);
                    *samples.blockers.entry(pair).or_default() += 1;
                }
                None => samples.unnamed = true,
            }
        }
    }
    samples.cpu_ms = (cpu_s(UsageWho::RUSAGE_THREAD) - cpu) * 1000.0;
    samples.seconds = start.elapsed().as_secs_f64();
    runtime.block_on(instruments.close());
    Ok(samples)
}
