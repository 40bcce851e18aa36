//! When an engine reads its clock, in an update that has to wait for its row.

use std::pin::pin;
use std::time::Duration;

use leaseproof_engines::EngineError;
use leaseproof_engines::lease::{Clock, EventId, Instant, NewEvent};
use leaseproof_engines::store::{LockWait, Session, SessionOptions, Store, StoreOptions, Waiting};

use super::{Seen, claim, closed, event, filled, opened};
use crate::harness::target::Target;

/// How far the engine's clock must move on while the update waits.
const WAIT_US: i64 = 100_000;

/// For each way of reading the clock: whether the instant that an update writes is that of before or of
/// after the wait.
pub(super) async fn after_wait(target: &Target) -> Seen {
    let mut seen = Vec::new();
    for reading in target.engine.database_clock().readings {
        let function = reading.rsplit_once('(').map_or(*reading, |(head, _)| head);
        let name = named(function);
        seen.push(format!("{name}: {}", one(target, reading).await?));
    }
    Ok(seen.join("; "))
}

/// The function that a reading calls, such as `SYSDATE`.
fn named(head: &str) -> String {
    let word = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
    head.rsplit(|letter| !word(letter)).next().unwrap_or(head).to_owned()
}

async fn one(target: &Target, reading: &str) -> Seen {
    // The plain update that everybody writes first, with the clock in its SET.
    let text = format!(
        "UPDATE lease_event SET due_at = {reading} WHERE event_id = :event AND claim_token = :token"
    );
    let options = StoreOptions { clock: Clock::Database, ..StoreOptions::default() };
    let store = opened(target, |statements| statements.set("ack", &text), options).await?;
    let seen = look(store.as_ref()).await;
    closed(store, seen).await
}

async fn look(store: &dyn Store) -> Seen {
    let mut holder = filled(store, 1).await?;
    let mut waiter = store.session(&SessionOptions::default()).await?;
    let mut observer = store.observer().await?;
    let held = claim(1, "a");
    holder.claim(&held).await?;
    holder.begin().await?;
    holder.lock(&held.event, LockWait::Block).await?;
    let id = waiter.id();
    let let_go;
    {
        let mut update = pin!(waiter.ack(&held.event, &held.token, Instant(0)));
        let mut looks = tokio::time::interval(Duration::from_millis(5));
        loop {
            tokio::select! {
                biased;
                _ = update.as_mut() => return Ok("the update did not wait".to_owned()),
                _ = looks.tick() => if observer.waiting(id).await? == Waiting::Waiting { break },
            }
        }
        // In the holder's transaction, so that no other writer is needed where there can be only one.
        let_go = moved_on(holder.as_mut(), &mut looks).await?;
        holder.commit().await?;
        update.await?;
    }
    let written = due(waiter.as_mut(), &event(1)).await?;
    Ok(if written >= let_go { "after the wait" } else { "before the wait" }.to_owned())
}

/// The engine's clock, when it has moved on enough.
async fn moved_on(
    session: &mut dyn Session,
    looks: &mut tokio::time::Interval,
) -> Result<i64, EngineError> {
    let mut first = None;
    for number in 0_u32.. {
        let id = EventId::new(format!("now-{number}"));
        let new = NewEvent { event: id.clone(), due: Instant(0), enqueued: Instant(0) };
        session.enqueue(&[new]).await?;
        let now = due(session, &id).await?;
        if now - *first.get_or_insert(now) >= WAIT_US {
            return Ok(now);
        }
        looks.tick().await;
    }
    Ok(0)
}

async fn due(session: &mut dyn Session, event: &EventId) -> Result<i64, EngineError> {
    Ok(session.event(event).await?.map_or(0, |row| row.due.0))
}
