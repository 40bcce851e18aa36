//! Facts in which engines differ and none is wrong, measured: what a team has to know when it moves.
//!
//! A fact is no verdict. Each is seen with two or three sessions on a store of its own, some with a
//! statement that is not the reference one, because that one avoids the difference.

use std::collections::BTreeMap;

use futures::future::{BoxFuture, join_all};
use leaseproof_engines::EngineError;
use leaseproof_engines::faults::{CannotPlant, Fault};
use leaseproof_engines::lease::{
    Claim, ClaimBatch, EventId, FencingToken, Instant, NewEvent, Strategy,
};
use leaseproof_engines::statement::Statements;
use leaseproof_engines::store::{Session, SessionOptions, Store};

use crate::harness::edited_store::{closed, opened};
use crate::harness::target::Target;

mod clock;
mod compare;
mod unit;

/// What was seen, or why it could not be.
pub type Seen = Result<String, EngineError>;

type Look = for<'target> fn(&'target Target) -> BoxFuture<'target, Seen>;

/// The facts by what they answer, in report order.
const FACTS: &[(&str, Look)] = &[
    ("a claim behind a snapshot, after another claim", |target| Box::pin(unit::snapshot(target))),
    ("a claim while another is open, by an index without the order", |target| {
        Box::pin(unit::without_order(target))
    }),
    ("a reader while a claim commits, in a rollback journal", |target| {
        Box::pin(unit::reader(target))
    }),
    ("a statement after a deadlock, then a rollback", |target| {
        Box::pin(unit::after_deadlock(target))
    }),
    ("an update that changes nothing", |target| Box::pin(compare::no_change(target))),
    ("text that is equal by default", |target| Box::pin(compare::by_default(target))),
    ("text that is equal in utf8mb4_bin", |target| Box::pin(compare::in_utf8mb4_bin(target))),
    ("the clock of an update that waited for its row", |target| {
        Box::pin(clock::after_wait(target))
    }),
];

/// Looks at every fact, side by side. What could not be seen is said, not left out.
pub async fn measure(target: &Target) -> BTreeMap<String, String> {
    let looks = FACTS.iter().map(|(name, look)| async move {
        let seen = look(target).await.unwrap_or_else(|error| format!("could not be seen: {error}"));
        ((*name).to_owned(), seen)
    });
    join_all(looks).await.into_iter().collect()
}

/// The reference statements as they are.
fn as_they_are(_: &mut Statements) -> Result<(), CannotPlant> {
    Ok(())
}

/// The reference statements with a fault.
fn with(target: &Target, fault: Fault) -> impl FnOnce(&mut Statements) -> Result<(), CannotPlant> {
    move |statements| target.engine.plant(fault, statements)
}

/// How long a session waits for a lock where a wait is what may be seen.
const IMPATIENT: std::time::Duration = std::time::Duration::from_millis(200);

async fn session(store: &dyn Store) -> Result<Box<dyn Session>, EngineError> {
    store.session(&SessionOptions { lock_timeout: IMPATIENT, ..SessionOptions::default() }).await
}

/// A session, and `count` events named `event-1` and so on.
async fn filled(store: &dyn Store, count: u32) -> Result<Box<dyn Session>, EngineError> {
    let mut session = session(store).await?;
    let new = |number| NewEvent {
        event: event(number),
        due: Instant(number.into()),
        enqueued: Instant(0),
    };
    session.enqueue(&(1..=count).map(new).collect::<Vec<_>>()).await?;
    Ok(session)
}

fn event(number: u32) -> EventId {
    EventId::new(format!("event-{number}"))
}

fn claim(number: u32, token: &str) -> Claim {
    let token = FencingToken::new(token);
    Claim { event: event(number), token, now: Instant(100), until: Instant(200) }
}

/// A claim of one event, past what others hold where the engine can.
fn next(target: &Target, token: &str) -> ClaimBatch {
    let skips = |strategy: &&Strategy| **strategy == Strategy::SkipLocked;
    let strategy = target.engine.strategies().iter().find(skips).copied();
    ClaimBatch {
        limit: 1,
        token: FencingToken::new(token),
        now: Instant(100),
        until: Instant(200),
        strategy: strategy.unwrap_or(Strategy::ConditionalUpdate),
    }
}

/// What a claim of one was told, in words.
fn told(answer: Result<Vec<EventId>, EngineError>) -> String {
    match answer {
        Ok(events) if events.is_empty() => "no event".to_owned(),
        Ok(events) if events == [event(1)] => "the first event".to_owned(),
        Ok(_) => "the next event".to_owned(),
        Err(error) => code(&error),
    }
}

fn code(error: &EngineError) -> String {
    format!("error {} ({})", error.code.as_deref().unwrap_or("without a code"), error.kind)
}
