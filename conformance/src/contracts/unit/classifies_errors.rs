//! Every way in which a transaction can fail is an error of the right kind, whichever statement raises it.
//!
//! # Promise
//! What a caller may do after an error depends on its kind alone. Run the whole transaction again: `retryable`.
//! Conclude nothing about any lease, since the server refuses writes: `fenced`. Connect again, and learn
//! what became of the unit: `unavailable`. Never try again: `fatal`. The kind is the same when `COMMIT`
//! raises the error, and the engine's own code comes with it whenever the engine answered.
//!
//! # Steps
//! Each condition that the engine can have is brought about for real, with two sessions: a deadlock; a lock
//! timeout; a lock refused at once; a row that changed since the snapshot; a serialization failure at
//! `COMMIT`; a file that is busy at the beginning of a transaction and at its `COMMIT`; writing on a read-only
//! session, alone and in a transaction; a connection ended from outside, noticed by a statement and by `COMMIT`; a
//! value that the table refuses.
//!
//! # How a violation looks
//! A worker dies of a deadlock it should have retried, retries for ever what can never work, takes a
//! demoted node's refusal for the loss of its lease, or believes a commit that never happened.
//!
//! # Source
//! k3s-io/kine#721, laravel/framework#56944, DOMjudge/domjudge#2848, Couchers-org/couchers#9439,
//! divviup/janus#358, IntersectMBO/ouroboros-consensus#2233, joker1007/crono_trigger#55,
//! laravel/framework#33933, dotnet/efcore#30851.

use std::fmt::Debug;
use std::time::Duration;

use futures::future::join;
use leaseproof_engines::lease::{Claimed, EventId, FencingToken};
use leaseproof_engines::store::{
    Isolation, Journal, LockWait, Result as Answer, SessionOptions, StoreOptions,
};
use leaseproof_engines::{Capability, ErrorKind};
use leaseproof_reports::Level;

use crate::contract::{Clocks, Contract, Scope};
use crate::harness::actor::Actor;
use crate::harness::context::{Context, Progress};
use crate::harness::finding::{Finding, Judged, check};

mod controls;

/// See the module's documentation.
pub static CONTRACT: Contract = Contract {
    id: "unit/classifies-errors",
    promise: "every way a transaction can fail is reported as retryable, fenced, unavailable or fatal, also when COMMIT raises it",
    level: Level::Core,
    requires: &[],
    offers: &[],
    scope: Scope::Once,
    clocks: Clocks::Any,
    source: "k3s-io/kine#721, laravel/framework#56944, DOMjudge/domjudge#2848, Couchers-org/couchers#9439, divviup/janus#358, IntersectMBO/ouroboros-consensus#2233, joker1007/crono_trigger#55, laravel/framework#33933, dotnet/efcore#30851",
    controls: controls::CONTROLS,
    doc: include_str!("classifies_errors.rs"),
    run: |context| Box::pin(run(context)),
};

async fn run(context: &Context) -> Judged {
    let mut seen = Vec::new();
    if context.has(Capability::ConcurrentWriters) {
        // Both wait for a timer of the server's, so they wait together.
        let (deadlock, timeout) = join(deadlock(context), lock_timeout(context)).await;
        seen.extend([deadlock?, timeout?]);
    } else {
        seen.push(lock_timeout(context).await?);
        seen.push(busy_at_commit(context).await?);
    }
    if context.has(Capability::NoWait) {
        seen.push(refused_lock(context).await?);
    }
    seen.push(stale_snapshot(context).await?);
    if context.has(Capability::Serializable) {
        seen.push(serialization_failure_at_commit(context).await?);
    }
    seen.extend(read_only(context).await?);
    if context.has(Capability::Terminate) {
        seen.extend(lost_connection(context).await?);
    }
    seen.push(refused_value(context).await?);
    Ok(seen)
}

/// The condition must have raised an error of this kind; in words, what it was.
fn classified<T: Debug>(
    condition: &str,
    promised: ErrorKind,
    answer: Answer<T>,
) -> Result<String, Finding> {
    let error = match answer {
        Ok(value) => {
            let message =
                format!("{condition}: answered {value:?} where an error ({promised}) was promised");
            return Err(Finding::Broken(message));
        }
        Err(error) => error,
    };
    check(error.kind == promised, || {
        format!("{condition}: reported as {} where {promised} was promised: {error}", error.kind)
    })?;
    // A connection that is gone may have said nothing.
    check(error.code.is_some() || promised == ErrorKind::Unavailable, || {
        format!("{condition}: reported without the engine's code: {error}")
    })?;
    let code = error
        .code
        .as_deref()
        .map_or("no code, no answer came".to_owned(), |code| format!("code {code}"));
    Ok(format!("{condition} → {code} → {promised}"))
}

fn impatient() -> SessionOptions {
    SessionOptions { lock_timeout: Duration::from_millis(50), ..SessionOptions::default() }
}

async fn claim(context: &Context, actor: &mut Actor, event: &EventId) -> Answer<Claimed> {
    let token = context.token(actor.name());
    actor.claim(event, &token, context.at(100), context.at(150)).await
}

async fn deadlock(context: &Context) -> Result<String, Finding> {
    let mut one = context.actor("one").await?;
    let mut two = context.actor("two").await?;
    let x = context.enqueued(&mut one, "deadlock-x").await?;
    let y = context.enqueued(&mut one, "deadlock-y").await?;
    one.begin().await?;
    one.lock(&x, LockWait::Block).await?;
    two.begin().await?;
    two.lock(&y, LockWait::Block).await?;
    let waiter = [one.id()];
    let (first, second) = {
        let mut first = std::pin::pin!(one.lock(&y, LockWait::Block));
        if let Progress::Finished(answer) = context.until_waiting(&waiter, first.as_mut()).await? {
            let message = format!("no deadlock: locking a locked row returned {answer:?}");
            return Err(Finding::Inconclusive(message));
        }
        join(first, two.lock(&x, LockWait::Block)).await
    };
    drop(one.rollback().await);
    drop(two.rollback().await);
    classified("a deadlock", ErrorKind::Retryable, first.and(second))
}

/// Where there is one writer, it is the transaction's beginning that waits.
async fn lock_timeout(context: &Context) -> Result<String, Finding> {
    let mut holder = context.actor("holder").await?;
    let mut waiter = context.actor_with("waiter", &impatient()).await?;
    let event = context.enqueued(&mut holder, "timeout").await?;
    holder.begin().await?;
    holder.lock(&event, LockWait::Block).await?;
    let answer = match waiter.begin().await {
        Ok(()) => waiter.lock(&event, LockWait::Block).await,
        refused => refused,
    };
    holder.rollback().await?;
    classified("a lock timeout", ErrorKind::Retryable, answer)
}

async fn refused_lock(context: &Context) -> Result<String, Finding> {
    let mut holder = context.actor("holder").await?;
    let mut other = context.actor("other").await?;
    let event = context.enqueued(&mut holder, "nowait").await?;
    holder.begin().await?;
    holder.lock(&event, LockWait::Block).await?;
    other.begin().await?;
    let answer = other.lock(&event, LockWait::NoWait).await;
    holder.rollback().await?;
    classified("a lock refused at once", ErrorKind::Retryable, answer)
}

/// Engines differ: an error, the newest version of the row, or no writer beside a reader.
async fn stale_snapshot(context: &Context) -> Result<String, Finding> {
    let isolation = Some(Isolation::RepeatableRead);
    let context =
        context.on_another_store(StoreOptions { isolation, ..StoreOptions::default() }).await?;
    let mut reader = context.actor("reader").await?;
    let mut writer = context.actor_with("writer", &impatient()).await?;
    let event = context.enqueued(&mut writer, "stale").await?;
    reader.begin_snapshot().await?;
    let written = claim(&context, &mut writer, &event).await;
    if matches!(&written, Err(error) if error.is_retryable()) {
        return classified("a snapshot that holds off a writer", ErrorKind::Retryable, written);
    }
    written?;
    let condition = "a row that changed since the snapshot";
    match claim(&context, &mut reader, &event).await {
        Ok(Claimed::NotClaimed) => {
            Ok(format!("{condition} → no error, the newest version was read"))
        }
        answer => classified(condition, ErrorKind::Retryable, answer),
    }
}

async fn serialization_failure_at_commit(context: &Context) -> Result<String, Finding> {
    let isolation = Some(Isolation::Serializable);
    let context =
        context.on_another_store(StoreOptions { isolation, ..StoreOptions::default() }).await?;
    let mut one = context.actor("one").await?;
    let mut two = context.actor("two").await?;
    let x = context.enqueued(&mut one, "skew-x").await?;
    let y = context.enqueued(&mut one, "skew-y").await?;
    one.begin_snapshot().await?;
    two.begin_snapshot().await?;
    claim(&context, &mut one, &x).await?;
    claim(&context, &mut two, &y).await?;
    one.commit().await?;
    classified("a serialization failure at COMMIT", ErrorKind::Retryable, two.commit().await)
}

/// A reader of a rollback journal holds off the commit, and nothing before it.
async fn busy_at_commit(context: &Context) -> Result<String, Finding> {
    let options = StoreOptions { journal: Journal::Delete, ..StoreOptions::default() };
    let context = context.on_another_store(options).await?;
    let mut reader = context.actor("reader").await?;
    let mut writer = context.actor_with("writer", &impatient()).await?;
    let event = context.enqueued(&mut writer, "busy").await?;
    reader.begin_snapshot().await?;
    writer.begin().await?;
    claim(&context, &mut writer, &event).await?;
    let answer = writer.commit().await;
    reader.rollback().await?;
    classified("a reader that holds off COMMIT", ErrorKind::Retryable, answer)
}

async fn read_only(context: &Context) -> Result<[String; 2], Finding> {
    let options = SessionOptions { read_only: true, ..SessionOptions::default() };
    let mut demoted = context.actor_with("demoted", &options).await?;
    let alone = demoted.enqueue(&[context.new_event("read-only")]).await;
    let in_unit = match demoted.begin().await {
        Ok(()) => demoted.enqueue(&[context.new_event("read-only")]).await,
        Err(refused) => Err(refused),
    };
    Ok([
        classified("a write on a read-only session", ErrorKind::Fenced, alone)?,
        classified("a transaction on a read-only session", ErrorKind::Fenced, in_unit)?,
    ])
}

async fn lost_connection(context: &Context) -> Result<[String; 3], Finding> {
    let mut idle = context.actor("idle").await?;
    let event = context.enqueued(&mut idle, "lost").await?;
    context.terminate(idle.id()).await?;
    let first = claim(context, &mut idle, &event).await;
    let second = claim(context, &mut idle, &event).await;
    let mut busy = context.actor("busy").await?;
    busy.begin().await?;
    claim(context, &mut busy, &event).await?;
    context.terminate(busy.id()).await?;
    let commit = busy.commit().await;
    let kind = ErrorKind::Unavailable;
    Ok([
        classified("the first statement on a lost connection", kind, first)?,
        classified("the next one", kind, second)?,
        classified("COMMIT on a lost connection", kind, commit)?,
    ])
}

async fn refused_value(context: &Context) -> Result<String, Finding> {
    let mut actor = context.actor("actor").await?;
    let event = context.enqueued(&mut actor, "refused").await?;
    let token = FencingToken::new("t".repeat(65));
    let answer = actor.claim(&event, &token, context.at(100), context.at(150)).await;
    classified("a value that the table refuses", ErrorKind::Fatal, answer)
}
