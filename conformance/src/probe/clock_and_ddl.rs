//! Probes that need a statement of their own in place of a reference one.

use leaseproof_engines::lease::{Clock, EventId, Instant, NewEvent};
use leaseproof_engines::store::{Session, SessionOptions, Store, StoreOptions};
use leaseproof_engines::{EngineError, ErrorKind};

use super::Answer;
use crate::runner::Target;

/// How many events are enqueued at most until the engine's clock has moved on; far more than fit in a
/// second.
const MOST_EVENTS: u32 = 20_000;

const MICROS_PER_SECOND: i64 = 1_000_000;

/// A store in which `name` is another statement; for none it is the reference store.
async fn store(
    target: &Target,
    replaced: &[(&str, &str)],
    clock: Clock,
) -> Result<Box<dyn Store>, EngineError> {
    let mut statements = target.engine.statements_on(clock);
    for (name, text) in replaced {
        statements.set(name, text).map_err(|error| {
            EngineError::new(target.engine.name(), "probe", ErrorKind::Fatal, error.to_string())
        })?;
    }
    let statements = Some(statements);
    target
        .engine
        .open(&target.endpoint, StoreOptions { statements, clock, ..StoreOptions::default() })
        .await
}

/// Removes the store, whatever the probe found.
async fn closed(store: Box<dyn Store>, answer: Answer) -> Answer {
    let closed = store.close().await;
    let answer = answer?;
    closed?;
    Ok(answer)
}

/// Sessions of two zones read the hour.
pub(super) async fn session_time_zone(target: &Target) -> Answer {
    const HOUR: &str = "SELECT event_id FROM lease_event \
         WHERE event_id = CONCAT('hour-', EXTRACT(HOUR FROM CURRENT_TIMESTAMP))";
    let store = store(target, &[("candidates", HOUR)], Clock::Logical).await?;
    let answer = hours(store.as_ref()).await;
    closed(store, answer).await
}

async fn hours(store: &dyn Store) -> Answer {
    let mut seen = Vec::new();
    for zone in ["+00:00", "+05:00"] {
        let options = SessionOptions { time_zone: Some(zone), ..SessionOptions::default() };
        let mut session = store.session(&options).await?;
        if seen.is_empty() {
            let hours: Vec<_> = (0..24).map(|hour| new(&format!("hour-{hour}"))).collect();
            session.enqueue(&hours).await?;
        }
        match session.candidates(1, Instant(0)).await {
            Ok(hour) => seen.push(hour),
            Err(error) if error.kind == ErrorKind::Fatal => {
                return Ok((false, format!("local time cannot be asked for: {error}")));
            }
            Err(error) => return Err(error),
        }
        session.close().await;
    }
    Ok((seen[0] != seen[1], format!("at UTC and five hours east of it sessions read {seen:?}")))
}

/// Two events that are enqueued one after the other are due by the engine's clock.
pub(super) async fn sub_second_instants(target: &Target) -> Answer {
    let store = store(target, &[], Clock::Database).await?;
    let answer = instants(store.as_ref()).await;
    closed(store, answer).await
}

async fn instants(store: &dyn Store) -> Answer {
    let mut session = store.session(&SessionOptions::default()).await?;
    let mut first = None;
    for number in 0..MOST_EVENTS {
        let due = due(session.as_mut(), &format!("event-{number}")).await?;
        let step = due - *first.get_or_insert(due);
        if step != 0 {
            let detail = format!("the clock was seen to move on by {step} µs");
            return Ok((step % MICROS_PER_SECOND != 0, detail));
        }
    }
    Ok((false, format!("the clock stood still for {MOST_EVENTS} inserts")))
}

async fn due(session: &mut dyn Session, id: &str) -> Result<i64, EngineError> {
    session.enqueue(&[new(id)]).await?;
    Ok(session.event(&EventId::new(id)).await?.map_or(0, |row| row.due.0))
}

/// A unit creates a table and is rolled back; then the same table is created again.
pub(super) async fn transactional_ddl(target: &Target) -> Answer {
    const CREATE: &str = "CREATE TABLE transactional_ddl (one INT)";
    let store = store(target, &[("apply_effect", CREATE)], Clock::Logical).await?;
    let answer = tables(store.as_ref()).await;
    closed(store, answer).await
}

async fn tables(store: &dyn Store) -> Answer {
    let mut session = store.session(&SessionOptions::default()).await?;
    let event = EventId::new("event");
    session.begin().await?;
    session.apply_effect("probe", &event).await?;
    session.rollback().await?;
    match session.apply_effect("probe", &event).await {
        Ok(()) => Ok((true, "a table was gone when its unit was rolled back".to_owned())),
        Err(error) if error.kind == ErrorKind::Fatal => {
            Ok((false, format!("a table outlived the rollback of its unit: {error}")))
        }
        Err(error) => Err(error),
    }
}

fn new(id: &str) -> NewEvent {
    NewEvent { event: EventId::new(id), due: Instant(0), enqueued: Instant(0) }
}
