//! Enqueues new events at a steady rate beside the workers, each with a key that no other has.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use leaseproof_engines::EngineError;
use leaseproof_engines::lease::{EventId, Instant, NewEvent};
use leaseproof_engines::store::Session;
use tokio::task::JoinHandle;

use crate::measured::DEADLOCKS;

/// What a feeder did.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Fed {
    /// How many events it enqueued.
    pub events: u64,
    /// How long it did so, in seconds: a server that is slower than the rate gets fewer.
    pub seconds: f64,
    /// Its errors by code.
    pub errors: BTreeMap<String, u64>,
}

impl Fed {
    /// How many deadlocks it was told of.
    #[must_use]
    pub fn deadlocks(&self) -> u64 {
        let counted = self.errors.iter().filter(|(code, _)| DEADLOCKS.contains(&code.as_str()));
        counted.map(|(_, count)| count).sum()
    }
}

/// A feeder that runs.
pub struct Feeder {
    stop: Arc<AtomicBool>,
    task: JoinHandle<Result<Fed, EngineError>>,
}

impl Feeder {
    /// Begins to enqueue that many events in a second, due where `due` says the queue's middle is.
    #[must_use]
    pub fn start(session: Box<dyn Session>, per_s: f64, due: u64) -> Self {
        let stop = Arc::new(AtomicBool::new(false));
        let stopped = Arc::clone(&stop);
        let task = tokio::spawn(feed(session, per_s, due, stopped));
        Self { stop, task }
    }

    /// Ends it.
    ///
    /// # Errors
    /// When the engine failed in a way that is no result.
    ///
    /// # Panics
    /// When the feeder has panicked.
    pub async fn stop(self) -> Result<Fed, EngineError> {
        self.stop.store(true, Ordering::SeqCst);
        self.task.await.expect("a feeder does not panic")
    }
}

async fn feed(
    mut session: Box<dyn Session>,
    per_s: f64,
    due: u64,
    stopped: Arc<AtomicBool>,
) -> Result<Fed, EngineError> {
    let mut fed = Fed::default();
    let begun = std::time::Instant::now();
    // A tick that came late is made up for: the rate is what was asked for.
    let mut ticks = tokio::time::interval(Duration::from_secs_f64(1.0 / per_s));
    while !stopped.load(Ordering::SeqCst) {
        ticks.tick().await;
        let number = fed.events;
        let event = EventId::new(format!("fed-{number:08}"));
        let due = Instant(i64::try_from(due).unwrap_or(0));
        match session.enqueue(&[NewEvent { event, due, enqueued: Instant(0) }]).await {
            Ok(new) => fed.events += new,
            Err(error) if error.is_retryable() => {
                let code = error.code.clone().unwrap_or_default();
                *fed.errors.entry(code).or_default() += 1;
            }
            Err(error) => return Err(error),
        }
    }
    fed.seconds = begun.elapsed().as_secs_f64();
    session.close().await;
    Ok(fed)
}
