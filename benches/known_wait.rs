//! A lock that is held for a known time while another session waits for it.

use std::time::{Duration, Instant};

use leaseproof_engines::EngineError;
use leaseproof_engines::store::{LockWait, Session};

use crate::server::event;

/// What a runtime's timer may be late by.
const ROUNDING: Duration = Duration::from_millis(3);

/// One known wait, by the clock of this program.
#[derive(Clone, Copy, Debug)]
pub struct Known {
    /// From the waiter's first word to the server until the holder's lock had been given up.
    pub held: Duration,
    /// How much of that the giving up took: when the server did it is known no better.
    pub release: Duration,
    /// From the waiter's first word until it had the lock.
    pub waited: Duration,
}

/// Lets `waiter` wait for a row that `holder` keeps for `hold` after the waiter has begun. An engine
/// that locks its whole file lets a transaction wait where it begins.
///
/// # Errors
/// When the engine fails.
///
/// # Panics
/// When the waiter's task panics.
#[expect(
    clippy::disallowed_methods,
    reason = "the time for which the lock is held is what is known"
)]
pub async fn hold(
    holder: &mut Box<dyn Session>,
    mut waiter: Box<dyn Session>,
    hold: Duration,
    locks_rows: bool,
) -> Result<(Known, Box<dyn Session>), EngineError> {
    let row = event(0);
    holder.begin().await?;
    holder.lock(&row, LockWait::Block).await?;
    if locks_rows {
        waiter.begin().await?;
    }
    let (tell, told) = tokio::sync::oneshot::channel();
    let waiting = tokio::spawn(async move {
        // The clock starts with the waiter's first word to the server, not when it was asked to speak.
        let begun = Instant::now();
        let _ = tell.send(begun);
        if !locks_rows {
            waiter.begin().await?;
        }
        waiter.lock(&event(0), LockWait::Block).await?;
        let had = Instant::now();
        waiter.rollback().await?;
        Ok::<_, EngineError>((waiter, had))
    });
    let begun = told.await.expect("a waiter tells its beginning first");
    // The runtime's timers are a millisecond wide, so the rest is slept by a thread.
    let end = begun + hold;
    tokio::time::sleep_until((end - hold.min(ROUNDING)).into()).await;
    tokio::task::block_in_place(|| {
        std::thread::sleep(end.saturating_duration_since(Instant::now()));
    });
    let releasing = Instant::now();
    holder.rollback().await?;
    let (held, release) = (begun.elapsed(), releasing.elapsed());
    let (waiter, had) = waiting.await.expect("a waiter does not panic")?;
    Ok((Known { held, release, waited: had.saturating_duration_since(begun) }, waiter))
}
