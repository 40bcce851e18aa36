//! Probes that need a statement of their own in place of a reference one.

use leaseproof_engines::lease::{Clock, EventId, Instant, NewEvent};
use leaseproof_engines::statement::Statements;
use leaseproof_engines::store::{Session, SessionOptions, Store, StoreOptions};
use leaseproof_engines::{EngineError, ErrorKind};

use super::Answer;
use crate::harness::edited_store::{closed, opened};
use crate::harness::target::Target;

/// How many events are enqueued at most until the engine's clock has moved on; far more than fit in a
/// second.
const MOST_EVENTS: u32 = 20_000;

const MICROS_PER_SECOND: i64 = 1_000_000;

/// Sessions of two zones read the hour.
pub(super) async fn session_time_zone(target: &Target) -> Answer {
    const HOUR: &str = "SELECT event_id FROM lease_event \
         WHERE event_id = CONCAT('hour-', EXTRACT(HOUR FROM CURRENT_TIMESTAMP))";
    let edit = |statements: &mut Statements| statements.set("candidates", HOUR);
    let store = opened(target, edit, StoreOptions::default()).await?;
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
    let options = StoreOptions { clock: Clock::Database, ..StoreOptions::default() };
    let store = target.engine.open(&target.endpoint, options).await?;
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

/// A transaction creates a table and is rolled back; then the same table is created again.
pub(super) async fn transactional_ddl(target: &Target) -> Answer {
    const CREATE: &str = "CREATE TABLE transactional_ddl (one INT)";
    let edit = |statements: &mut Statements| statements.set("apply_effect", CREATE);
    let store = opened(target, edit, StoreOptions::default()).await?;
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
        Ok(()) => Ok((true, "a table was gone when its transaction was rolled back".to_owned())),
        Err(error) if error.kind == ErrorKind::Fatal => {
            Ok((false, format!("a table outlived the rollback of its unit: {error}")))
        }
        Err(error) => Err(error),
    }
}

fn new(id: &str) -> NewEvent {
    NewEvent { event: EventId::new(id), due: Instant(0), enqueued: Instant(0) }
}
