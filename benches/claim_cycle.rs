//! A worker that claims a batch and gives it back to the tail of the queue, over and over.
//!
//! Invariant: an attempt that failed is part of the turn that it was made for, so that what a failure costs
//! is in the latency and not left out.

use std::time::{Duration, Instant as Clock};

use leaseproof_engines::lease::{ClaimBatch, EventId, FencingToken, Instant, Released, Strategy};
use leaseproof_engines::store::Session;
use leaseproof_engines::{EngineError, ErrorKind};

use crate::load::{Turn, Worker};
use crate::recorder::Recorder;

/// The operations it records, by their places.
pub const OPERATIONS: [&str; 2] = ["claim", "release"];
/// The tallies it keeps, by their places.
pub const TALLIES: usize = 5;

const CLAIM: usize = 0;
const RELEASE: usize = 1;
/// Events that were claimed.
pub const ROWS: usize = 0;
/// Claims that found nothing.
pub const EMPTY: usize = 1;
/// Claims that found fewer than they asked for.
pub const SHORT: usize = 2;
/// Releases that were refused: somebody else had the event.
pub const REFUSED: usize = 3;
/// Errors after which the transaction was run again.
pub const RETRIES: usize = 4;

/// Every event is due long before this instant, however often it went to the tail.
pub const NOW: Instant = Instant(1_000_000_000_000);
/// No lease ends while anything is measured.
pub const UNTIL: Instant = Instant(2_000_000_000_000);

/// A worker on a session of its own.
pub struct Claimer {
    /// The session, for closing it.
    pub session: Box<dyn Session>,
    name: usize,
    limit: u32,
    strategy: Strategy,
    /// Whether each claim is a transaction of its own making, as of one that writes more beside it.
    pub in_unit: bool,
    /// Whether what was claimed is not released: the claim itself sends it to the tail.
    pub keeps: bool,
    /// Whether a claim is made longer on purpose, by half of what the turn before it took.
    pub slowed: bool,
    last_turn: Duration,
}

impl Claimer {
    /// A worker that claims `limit` events at once.
    #[must_use]
    pub fn new(session: Box<dyn Session>, name: usize, limit: u32, strategy: Strategy) -> Self {
        Self {
            session,
            name,
            limit,
            strategy,
            in_unit: false,
            keeps: false,
            slowed: false,
            last_turn: Duration::ZERO,
        }
    }

    /// Workers that claim `limit` events at once, one for each session.
    #[must_use]
    pub fn all(sessions: Vec<Box<dyn Session>>, limit: u32, strategy: Strategy) -> Vec<Self> {
        let worker = |(name, session)| Self::new(session, name, limit, strategy);
        sessions.into_iter().enumerate().map(worker).collect()
    }

    async fn claim(&mut self, batch: &ClaimBatch) -> Result<Vec<EventId>, EngineError> {
        if !self.in_unit {
            return self.session.claim_batch(batch).await;
        }
        self.session.begin().await?;
        let claimed = match self.session.claim_batch(batch).await {
            Ok(events) => self.session.commit().await.map(|()| events),
            Err(error) => Err(error),
        };
        if claimed.is_err() {
            // The first error says what happened.
            drop(self.session.rollback().await);
        }
        claimed
    }

    async fn release(
        &mut self,
        events: &[EventId],
        token: &FencingToken,
        recorder: &mut Recorder,
    ) -> Result<(), EngineError> {
        loop {
            match self.try_release(events, token).await {
                Ok(refused) => {
                    recorder.tally(REFUSED, refused, Clock::now());
                    return Ok(());
                }
                Err(error) if error.is_retryable() => {
                    recorder.failed(&error);
                    recorder.tally(RETRIES, 1, Clock::now());
                }
                Err(error) => return Err(error),
            }
        }
    }

    /// Gives all of them back, or none; how many were not ours to give.
    async fn try_release(
        &mut self,
        events: &[EventId],
        token: &FencingToken,
    ) -> Result<u64, EngineError> {
        if let [event] = events {
            let released = self.session.release(event, token).await?;
            return Ok(u64::from(released == Released::Refused));
        }
        self.session.begin().await?;
        let mut refused = 0;
        for event in events {
            match self.session.release(event, token).await {
                Ok(released) => refused += u64::from(released == Released::Refused),
                Err(error) => {
                    self.session.rollback().await?;
                    return Err(error);
                }
            }
        }
        self.session.commit().await?;
        Ok(refused)
    }
}

impl Worker for Claimer {
    async fn turn(&mut self, turn: Turn, recorder: &mut Recorder) -> Result<(), EngineError> {
        let token = FencingToken::new(format!("worker-{}-{}", self.name, turn.number));
        let batch = ClaimBatch {
            limit: self.limit,
            token,
            now: NOW,
            until: UNTIL,
            strategy: self.strategy,
        };
        let begun = Clock::now();
        let pause = if self.slowed { self.last_turn / 2 } else { Duration::ZERO };
        pause_for(pause);
        let events = loop {
            match self.claim(&batch).await {
                Ok(events) => break events,
                Err(error) if error.kind == ErrorKind::Retryable => {
                    recorder.failed(&error);
                    recorder.tally(RETRIES, 1, Clock::now());
                    if Clock::now() >= turn.until {
                        recorder.gave_up(turn.due);
                        return Ok(());
                    }
                }
                Err(error) => return Err(error),
            }
        };
        let claimed = recorder.ended(CLAIM, turn.due);
        let count = events.len() as u64;
        recorder.tally(ROWS, count, claimed);
        recorder.tally(EMPTY, u64::from(count == 0), claimed);
        recorder.tally(SHORT, u64::from(count > 0 && count < self.limit.into()), claimed);
        if events.is_empty() || self.keeps {
            return Ok(());
        }
        self.release(&events, &batch.token, recorder).await?;
        recorder.ended(RELEASE, claimed);
        self.last_turn = begun.elapsed() - pause;
        Ok(())
    }
}

/// Takes that much time, exactly: the runtime's own timers are a millisecond wide, as long as a claim.
#[expect(
    clippy::disallowed_methods,
    reason = "the fault that a comparison must find is time itself"
)]
fn pause_for(pause: Duration) {
    if !pause.is_zero() {
        tokio::task::block_in_place(|| std::thread::sleep(pause));
    }
}
