//! After a deadlock, a lock timeout or a serialization failure nothing of the transaction stays.
//!
//! # Promise
//! When the engine ends a transaction, neither what came before the failed statement stays, nor what comes after
//! it, even if the caller overlooks the error, goes on, and then commits. Some engines roll the whole
//! transaction back and run what follows in autocommit; some undo the one statement and leave the rest
//! open. In either case the commit has to fail, and the transaction has to be run again from its start.
//!
//! # Steps
//! For each way in which the engine can end a transaction (a deadlock; a lock timeout; a lock refused at once; a row
//! that changed since the snapshot; a serialization failure at `COMMIT`; a lost connection; where there is
//! one writer, a busy file at the transaction's beginning and at its `COMMIT`), with a commit or a rollback at the
//! end:
//! 1. The victim begins and does its head: an effect, and a claim. Then the transaction is ended by the engine.
//! 2. The victim goes on with its tail: an effect, a claim, and a new event. Then it commits, which fails, or
//!    it rolls back.
//! 3. The events of head and tail are as free as before, there is no effect, and no new event.
//! 4. The transaction is run again, as a whole. Now all of it is there.
//!
//! The same is asked of a transaction that the caller rolled back.
//!
//! # How a violation looks
//! The event is marked as sent and its business row is missing, or the other way round: half a transaction.
//!
//! # Source
//! civicrm/civicrm-packages#446, roundcube/roundcubemail#7528, mysql-otp/mysql-otp#158,
//! jruby/activerecord-jdbc-adapter#947, sequelize/sequelize#8352.

use std::time::Duration;

use futures::future::join;
use leaseproof_engines::capability::StoreCapability;
use leaseproof_engines::lease::EventId;
use leaseproof_engines::store::{
    Isolation, Journal, LockWait, Result as Answer, SessionOptions, StoreOptions,
};
use leaseproof_engines::{Capability, EngineError};
use leaseproof_reports::Level;

use crate::contract::{Clocks, Contract, Scope};
use crate::harness::context::{Context, Progress};
use crate::harness::finding::{Finding, Judged, check, check_eq};
use crate::harness::latch::End;
use crate::harness::party::Party;

mod controls;

/// See the module's documentation.
pub static CONTRACT: Contract = Contract {
    id: "unit/aborted-leaves-nothing",
    promise: "after a deadlock, a lock timeout or a serialization error nothing of the transaction stays, neither head nor tail",
    level: Level::Core,
    requires: &[],
    offers: &[StoreCapability::CallerTransactions, StoreCapability::ConcurrentSessions],
    scope: Scope::Once,
    clocks: Clocks::Any,
    source: "civicrm/civicrm-packages#446, roundcube/roundcubemail#7528, mysql-otp/mysql-otp#158, jruby/activerecord-jdbc-adapter#947, sequelize/sequelize#8352",
    controls: controls::CONTROLS,
    doc: include_str!("aborted_leaves_nothing.rs"),
    run: |context| Box::pin(run(context)),
};

/// What ends a transaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Cause {
    Deadlock,
    LockTimeout,
    LockRefused,
    StaleSnapshot,
    SerializationFailure,
    LostConnection,
    BusyAtBegin,
    BusyAtCommit,
    Caller,
}

impl Cause {
    /// Those that the engine can have and that need no timer of the server's.
    fn all(context: &Context) -> Vec<Self> {
        let mut causes = vec![Self::Caller, Self::StaleSnapshot];
        if !context.has(Capability::ConcurrentWriters) {
            causes.extend([Self::BusyAtBegin, Self::BusyAtCommit]);
        }
        let more = [
            (Capability::NoWait, Self::LockRefused),
            (Capability::Serializable, Self::SerializationFailure),
            (Capability::Terminate, Self::LostConnection),
        ];
        causes.extend(
            more.iter().filter(|(wanted, _)| context.has(*wanted)).map(|(_, cause)| *cause),
        );
        causes
    }

    /// How a store has to be opened on which it can happen, if not like any.
    fn options(self) -> Option<StoreOptions> {
        let mut options = StoreOptions::default();
        match self {
            Self::StaleSnapshot => options.isolation = Some(Isolation::RepeatableRead),
            Self::SerializationFailure => options.isolation = Some(Isolation::Serializable),
            Self::BusyAtCommit => options.journal = Journal::Delete,
            _ => return None,
        }
        Some(options)
    }

    /// What the caller does afterwards. A wait for a timer of the server's is made once, with the end
    /// that was seen to hurt: a deadlock undoes the head, a timeout does not.
    fn ends(self) -> &'static [End] {
        match self {
            Self::Caller | Self::Deadlock => &[End::Rollback],
            Self::LockTimeout => &[End::Commit],
            _ => &[End::Commit, End::Rollback],
        }
    }

    /// Whether the transaction is over when its error is raised.
    fn is_raised_by_commit(self) -> bool {
        matches!(self, Self::SerializationFailure | Self::BusyAtCommit)
    }
}

async fn run(context: &Context) -> Judged {
    let mut evidence = Vec::new();
    for cause in Cause::all(context) {
        let own = match cause.options() {
            Some(options) => Some(context.on_another_store(options).await?),
            None => None,
        };
        let context = own.as_ref().unwrap_or(context);
        evidence.extend(aborted(context, cause, cause.ends()).await?);
    }
    if context.has(Capability::ConcurrentWriters) {
        // Each waits for a timer of the server's, so they wait together.
        let (deadlock, timeout) = join(
            aborted(context, Cause::Deadlock, Cause::Deadlock.ends()),
            aborted(context, Cause::LockTimeout, Cause::LockTimeout.ends()),
        )
        .await;
        evidence.extend(deadlock?);
        evidence.extend(timeout?);
    }
    Ok(evidence)
}

/// Aborts a transaction for each end that it is given afterwards.
async fn aborted(context: &Context, cause: Cause, ends: &[End]) -> Result<Vec<String>, Finding> {
    let (patient, mut impatient) = (SessionOptions::default(), SessionOptions::default());
    impatient.lock_timeout = Duration::from_millis(50);
    let (of_victim, of_other) = match cause {
        Cause::LockTimeout | Cause::BusyAtBegin | Cause::BusyAtCommit => (&impatient, &patient),
        Cause::StaleSnapshot => (&patient, &impatient),
        _ => (&patient, &patient),
    };
    let mut victim = Party::new(context.actor_with("victim", of_victim).await?);
    let mut other = Party::new(context.actor_with("other", of_other).await?);
    let mut evidence = Vec::new();
    for end in ends {
        let id = format!("{cause:?}-{end:?}");
        victim.prepare(context, &id).await?;
        other.prepare(context, &id).await?;
        evidence.push(aborted_once(context, cause, *end, &mut victim, &mut other).await?);
    }
    Ok(evidence)
}

/// Aborts one transaction, goes on with it, and looks at what is left.
async fn aborted_once(
    context: &Context,
    cause: Cause,
    end: End,
    victim: &mut Party,
    other: &mut Party,
) -> Result<String, Finding> {
    let contested =
        context.enqueued(&mut other.actor, &format!("contested-{cause:?}-{end:?}")).await?;
    let error = if cause == Cause::Deadlock {
        deadlock(context, victim, other).await?
    } else {
        fail(context, cause, victim, other, &contested).await?
    };
    let when = format!("{cause:?}, then {end:?}");
    let Some(error) = error else {
        return Ok(format!("{when}: this engine raises no error"));
    };

    let mut answers = Vec::new();
    if !cause.is_raised_by_commit() && cause != Cause::Caller {
        answers = victim.tail(context).await;
    }
    let committed = match end {
        End::Commit => victim.actor.commit().await.is_ok(),
        End::Rollback => {
            drop(victim.actor.rollback().await);
            false
        }
    };
    victim.left_nothing(context, &mut other.actor, &when).await?;
    check(!committed, || {
        format!("{when}: COMMIT of a transaction that had failed was answered with success")
    })?;
    let refused = answers.iter().filter(|answer| answer.is_err()).count();
    check_eq(&format!("{when}: later statements refused"), refused, answers.len())?;
    if cause == Cause::LostConnection {
        victim.actor = context.actor("victim").await?;
    }
    victim.runs_again(context, &when).await?;
    let refused =
        if refused > 0 { format!(", {refused} later statements refused") } else { String::new() };
    Ok(format!("{when}: {error}{refused}; nothing left, and all there when run again"))
}

/// Brings the victim's transaction to its error; `None` where the engine raises none. Whatever held the transaction up
/// is gone afterwards, so that nothing but the error can keep its statements from taking effect.
async fn fail(
    context: &Context,
    cause: Cause,
    victim: &mut Party,
    other: &mut Party,
    contested: &EventId,
) -> Result<Option<String>, Finding> {
    match cause {
        Cause::LockTimeout | Cause::LockRefused | Cause::BusyAtBegin => {
            other.actor.begin().await?;
            other.actor.lock(contested, LockWait::Block).await?;
        }
        Cause::BusyAtCommit | Cause::SerializationFailure => other.actor.begin_snapshot().await?,
        _ => {}
    }
    let failed = unit(context, cause, victim, other, contested).await;
    match cause {
        Cause::LockTimeout | Cause::LockRefused | Cause::BusyAtBegin | Cause::BusyAtCommit => {
            other.actor.rollback().await?;
        }
        _ => {}
    }
    match failed {
        Ok(()) if cause == Cause::Caller => Ok(Some("no error".to_owned())),
        // The newest version of the row was read, or nobody could change it.
        Ok(()) if cause == Cause::StaleSnapshot => {
            victim.actor.rollback().await?;
            Ok(None)
        }
        Ok(()) => Err(Finding::Inconclusive(format!(
            "{cause:?} did not happen: the transaction went through"
        ))),
        Err(error) if error.is_retryable() || cause == Cause::LostConnection => {
            Ok(Some(in_short(&error)))
        }
        Err(error) => Err(Finding::Errored(error)),
    }
}

/// The victim's transaction, up to its error.
async fn unit(
    context: &Context,
    cause: Cause,
    victim: &mut Party,
    other: &mut Party,
    contested: &EventId,
) -> Answer<()> {
    match cause {
        Cause::StaleSnapshot => {
            victim.actor.begin_snapshot().await?;
            // Where a reader holds off every writer, its snapshot cannot become stale.
            if other.claim(context, contested).await.is_err() {
                return Ok(());
            }
        }
        Cause::SerializationFailure => victim.actor.begin_snapshot().await?,
        _ => victim.actor.begin().await?,
    }
    victim.head(context).await?;
    match cause {
        Cause::LockRefused => victim.actor.lock(contested, LockWait::NoWait).await,
        Cause::LockTimeout | Cause::StaleSnapshot => victim.claim(context, contested).await,
        Cause::LostConnection => {
            context.terminate(victim.actor.id()).await?;
            victim.claim(context, contested).await
        }
        Cause::SerializationFailure => {
            victim.whole_tail(context).await?;
            other.claim(context, contested).await?;
            other.actor.commit().await?;
            victim.actor.commit().await
        }
        Cause::BusyAtCommit => {
            victim.whole_tail(context).await?;
            victim.actor.commit().await
        }
        Cause::Caller => {
            victim.whole_tail(context).await?;
            victim.actor.rollback().await
        }
        Cause::Deadlock | Cause::BusyAtBegin => Ok(()),
    }
}

/// Two transactions that want each other's row. The one that the engine ends is the victim from here on; the
/// other commits.
async fn deadlock(
    context: &Context,
    victim: &mut Party,
    other: &mut Party,
) -> Result<Option<String>, Finding> {
    let x = context.enqueued(&mut victim.actor, "x").await?;
    let y = context.enqueued(&mut victim.actor, "y").await?;
    for (party, event) in [(&mut *victim, &x), (&mut *other, &y)] {
        party.actor.begin().await?;
        party.head(context).await?;
        party.claim(context, event).await?;
    }
    let waiter = [victim.actor.id()];
    let (first, second) = {
        let mut first = std::pin::pin!(victim.claim(context, &y));
        match context.until_waiting(&waiter, first.as_mut()).await? {
            Progress::Waiting => join(first, other.claim(context, &x)).await,
            Progress::Finished(answer) => {
                let message = format!("no deadlock: a claim of a locked row returned {answer:?}");
                return Err(Finding::Inconclusive(message));
            }
        }
    };
    if second.is_err() {
        std::mem::swap(victim, other);
    }
    match first.is_err() && second.is_err() {
        // Under SERIALIZABLE the one that then got the row may be refused as well, and has nothing to commit.
        true => other.actor.rollback().await?,
        false => other.actor.commit().await?,
    }
    match first.and(second) {
        Ok(()) => {
            Err(Finding::Inconclusive("no deadlock: both transactions went through".to_owned()))
        }
        Err(error) if error.is_retryable() => Ok(Some(in_short(&error))),
        Err(error) => Err(Finding::Errored(error)),
    }
}

fn in_short(error: &EngineError) -> String {
    format!("{} error, code {}", error.kind, error.code.as_deref().unwrap_or("none"))
}
