//! A client that has nothing to do with the queue: it reads single rows of a table of its own, at a
//! steady rate, and what it waits is what the queue costs everybody else.

use leaseproof_engines::EngineError;
use leaseproof_engines::store::Session;
use leaseproof_reports::bench::Latency;

use crate::load::{self, Load, Pace, Turn, Worker};
use crate::recorder::Recorder;
use crate::server::{Bench, Filled, Queue, event};

/// Rows of its table.
const ROWS: u64 = 1000;
/// Reads in a second: enough for a tail in a few seconds, and no load.
const PER_S: f64 = 100.0;

/// Such a client, connected.
pub struct Bystander {
    filled: Filled,
    session: Box<dyn Session>,
}

impl Bystander {
    /// Makes its table, and connects.
    ///
    /// # Errors
    /// When the engine refuses.
    pub async fn arrive(bench: &Bench) -> Result<Self, EngineError> {
        let mut filled = bench.queue(&Queue::new(bench.engine, ROWS)).await?;
        let session = filled.sessions(1).await?.remove(0);
        Ok(Self { filled, session })
    }

    /// Reads for as long as `load` lasts; how long each read took from when it was due.
    ///
    /// # Errors
    /// When a read fails.
    pub async fn read(self, load: Load) -> Result<Option<Latency>, EngineError> {
        let load = Load { pace: Pace::Open { per_s: PER_S }, operations: 1, tallies: 0, ..load };
        let loaded = load::run(vec![Reads(self.session)], load).await;
        let latency = match loaded {
            Ok(mut loaded) => {
                for reader in std::mem::take(&mut loaded.workers) {
                    reader.0.close().await;
                }
                Ok(loaded.record.latency(0))
            }
            Err(error) => Err(error),
        };
        self.filled.remove().await?;
        latency
    }
}

struct Reads(Box<dyn Session>);

impl Worker for Reads {
    async fn turn(&mut self, turn: Turn, recorder: &mut Recorder) -> Result<(), EngineError> {
        self.0.event(&event(turn.number % ROWS)).await?;
        recorder.ended(0, turn.due);
        Ok(())
    }
}
