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
//! What was answered with success must be so: the event is claimed, the new one there. A condition that did
//! not come about, as where the engine found a serial order after all, decides nothing.
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
use leaseproof_engines::capability::StoreCapability;
use leaseproof_engines::lease::{Claimed, EventId, FencingToken, Renewed};
use leaseproof_engines::store::{
    Isolation, Journal, LockWait, Result as Answer, SessionOptions, StoreOptions,
};
use leaseproof_engines::{Capability, ErrorKind};
use leaseproof_reports::Level;

use crate::contract::{Clocks, Contract, Scope};
use crate::harness::actor::Actor;
use crate::harness::context::{Context, Progress};
use crate::harness::finding::{Finding, Judged, check};
use crate::harness::standing::{Standing, check_standing};

mod controls;

/// See the module's documentation.
pub static CONTRACT: Contract = Contract {
    id: "unit/classifies-errors",
    promise: "every way a transaction can fail is reported as retryable, fenced, unavailable or fatal, also when COMMIT raises it",
    level: Level::Core,
    requires: &[],
    offers: &[StoreCapability::CallerTransactions, StoreCapability::ConcurrentSessions],
    scope: Scope::Once,
    clocks: Clocks::Any,
    source: "k3s-io/kine#721, laravel/framework#56944, DOMjudge/domjudge#2848, Couchers-org/couchers#9439, divviup/janus#358, IntersectMBO/ouroboros-consensus#2233, joker1007/crono_trigger#55, laravel/framework#33933, dotnet/efcore#30851",
    controls: controls::CONTROLS,
    doc: include_str!("classifies_errors.rs"),
    run: |context| Box::pin(run(context)),
};

async fn run(context: &Context) -> Judged {
    let mut told = Vec::new();
    if context.has(Capability::ConcurrentWriters) {
        // Both wait for a timer of the server's, so they wait together.
        let (deadlock, timeout) = join(deadlock(context), lock_timeout(context)).await;
        told.extend([deadlock, timeout]);
    } else {
        told.push(lock_timeout(context).await);
        told.push(busy_at_commit(context).await);
    }
    if context.has(Capability::NoWait) {
        told.push(refused_lock(context).await);
    }
    told.push(stale_snapshot(context).await);
    if context.has(Capability::Serializable) {
        told.push(serialization_failure_at_commit(context).await);
    }
    told.extend(read_only(context).await);
    if context.has(Capability::Terminate) {
        told.extend(lost_connection(context).await?);
    }
    told.push(refused_value(context).await);
    // One condition that did not come about says nothing of the others.
    let is_broken = |told: &Result<String, Finding>| matches!(told, Err(Finding::Broken(_)));
    told.sort_by_key(|told| !is_broken(told));
    told.into_iter().collect()
}

/// The error that the condition raised must be of this kind; in words, what it was. That there was none is
/// judged by whoever knows what the answer promised.
fn classified<T: Debug>(
    condition: &str,
    promised: ErrorKind,
    answer: Answer<T>,
) -> Result<String, Finding> {
    let error = match answer {
        Ok(value) => {
            let message = format!("{condition} did not come about: the answer was {value:?}");
            return Err(Finding::Inconclusive(message));
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
    claim_with(context, actor, event, &context.token(actor.name())).await
}

async fn claim_with(
    context: &Context,
    actor: &mut Actor,
    event: &EventId,
    token: &FencingToken,
) -> Answer<Claimed> {
    actor.claim(event, token, context.at(100), context.at(150)).await
}

/// Goes on unless success was told of a claim that is not there.
async fn is_so<T>(
    context: &Context,
    condition: &str,
    event: &EventId,
    token: &FencingToken,
    answer: &Answer<T>,
) -> Result<(), Finding> {
    if answer.is_err() {
        return Ok(());
    }
    let step = format!("{condition}, and success was told of a claim of {event} with `{token}`");
    let held = Standing::held(token, context.at(150));
    check_standing(&step, &mut context.actor("probe").await?, event, &held).await
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
        Ok(Claimed::Claimed) => Err(Finding::Broken(format!(
            "{condition}: the writer had claimed {event}, and the reader was told that it owns it as well"
        ))),
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
    let token = context.token("two");
    let claimed = claim_with(&context, &mut two, &y, &token).await;
    one.commit().await?;
    let condition = "a serialization failure at COMMIT";
    let answer = match claimed {
        // The engine may know as early as here.
        Err(error) => Err(error),
        Ok(_) => two.commit().await,
    };
    drop(two.rollback().await);
    is_so(&context, condition, &y, &token, &answer).await?;
    classified(condition, ErrorKind::Retryable, answer)
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
    let token = context.token("writer");
    claim_with(&context, &mut writer, &event, &token).await?;
    let answer = writer.commit().await;
    reader.rollback().await?;
    let condition = "a reader that holds off COMMIT";
    is_so(&context, condition, &event, &token, &answer).await?;
    classified(condition, ErrorKind::Retryable, answer)
}

async fn read_only(context: &Context) -> [Result<String, Finding>; 2] {
    [written_alone(context).await, written_in_transaction(context).await]
}

async fn demoted(context: &Context) -> Result<Actor, Finding> {
    let options = SessionOptions { read_only: true, ..SessionOptions::default() };
    Ok(context.actor_with("demoted", &options).await?)
}

async fn written_alone(context: &Context) -> Result<String, Finding> {
    let new = context.new_event("read-only");
    let answer = demoted(context).await?.enqueue(std::slice::from_ref(&new)).await;
    refused_write(context, "a write on a read-only session", &new.event, answer).await
}

async fn written_in_transaction(context: &Context) -> Result<String, Finding> {
    let (new, mut demoted) = (context.new_event("read-only-unit"), demoted(context).await?);
    let answer = match demoted.begin().await {
        Ok(()) => match demoted.enqueue(std::slice::from_ref(&new)).await {
            Ok(count) => demoted.commit().await.map(|()| count),
            refused => refused,
        },
        Err(refused) => Err(refused),
    };
    refused_write(context, "a transaction on a read-only session", &new.event, answer).await
}

/// Success of a write is told only of what is there.
async fn refused_write(
    context: &Context,
    condition: &str,
    event: &EventId,
    answer: Answer<u64>,
) -> Result<String, Finding> {
    if let Ok(count) = &answer {
        let step = format!("{condition}: an enqueue of {event} was told that {count} were new");
        let free = Standing::free(context.at(100));
        check_standing(&step, &mut context.actor("probe").await?, event, &free).await?;
    }
    classified(condition, ErrorKind::Fenced, answer)
}

async fn lost_connection(context: &Context) -> Result<[Result<String, Finding>; 3], Finding> {
    let mut idle = context.actor("idle").await?;
    let (first, second) = (
        context.enqueued(&mut idle, "lost").await?,
        context.enqueued(&mut idle, "lost-next").await?,
    );
    let mut busy = context.actor("busy").await?;
    let last = context.enqueued(&mut busy, "lost-at-commit").await?;
    context.terminate(idle.id()).await?;
    let token = context.token("idle");
    let answer = claim_with(context, &mut idle, &first, &token).await;
    let at_first =
        lost(context, "the first statement on a lost connection", &first, &token, answer).await;
    let answer = claim_with(context, &mut idle, &second, &token).await;
    let at_next = lost(context, "the next one", &second, &token, answer).await;
    let token = context.token("busy");
    busy.begin().await?;
    claim_with(context, &mut busy, &last, &token).await?;
    context.terminate(busy.id()).await?;
    let answer = busy.commit().await;
    let at_commit = lost(context, "COMMIT on a lost connection", &last, &token, answer).await;
    Ok([at_first, at_next, at_commit])
}

async fn lost<T: Debug>(
    context: &Context,
    condition: &str,
    event: &EventId,
    token: &FencingToken,
    answer: Answer<T>,
) -> Result<String, Finding> {
    is_so(context, condition, event, token, &answer).await?;
    classified(condition, ErrorKind::Unavailable, answer)
}

/// A token longer than the reference table takes. A table that takes it has to take all of it.
async fn refused_value(context: &Context) -> Result<String, Finding> {
    let mut actor = context.actor("actor").await?;
    let event = context.enqueued(&mut actor, "refused").await?;
    let (token, cut) = (FencingToken::new("t".repeat(65)), FencingToken::new("t".repeat(64)));
    let condition = "a value that the table refuses";
    let answer = claim_with(context, &mut actor, &event, &token).await;
    if answer.is_ok() {
        is_so(context, condition, &event, &token, &answer).await?;
        let renewed = actor.renew(&event, &cut, context.at(110), context.at(200)).await?;
        check(renewed == Renewed::Refused, || {
            format!(
                "{event} was claimed with a token of 65 bytes, and the first 64 of them renew it"
            )
        })?;
        return Ok("a token of 65 bytes → no error, all of it was kept".to_owned());
    }
    classified(condition, ErrorKind::Fatal, answer)
}
