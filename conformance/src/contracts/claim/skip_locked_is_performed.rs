//! `SKIP LOCKED` is performed, not only accepted: a locked row is passed over, at once, for the next.
//!
//! # Promise
//! Of two free events one is claimed in an open transaction. A second session that claims one is given the
//! other, without waiting. What else an engine may do is told apart: it ignores the clause, it waits, it
//! applies the limit before it looks at locks, or it does not know the clause.
//!
//! # Steps
//! 1. A claims one of two free events in an open transaction.
//! 2. B claims one. If it returns at once with the other event, the promise is kept.
//! 3. If B is seen waiting, A commits. B is then given A's event (the clause was ignored: the row was
//!    chosen although it was locked) or another one (it was waited for).
//! 4. If B returns with nothing, the limit was applied below the lock.
//!
//! # How a violation looks
//! A version check says that the engine has `SKIP LOCKED`; under load workers queue up behind each other,
//! find the queue empty, or share events.
//!
//! # Source
//! Ignored: `pingcap/tidb#69720`, `dolthub/vitess#273`, `vitessio/vitess#5249`. Limit below the lock:
//! `pingcap/tidb#69783`. Not accepted: `codeigniter4/queue#39`, `frankframework/frankframework#6943`,
//! `laravel/framework#44027`. Another storage engine: `orioledb/orioledb#159`.

use std::pin::pin;

use leaseproof_engines::Capability;
use leaseproof_engines::capability::StoreCapability;
use leaseproof_engines::lease::EventId;
use leaseproof_reports::Level;

use crate::contract::{Clocks, Contract, Scope};
use crate::harness::context::{Context, Progress};
use crate::harness::finding::{Finding, Judged};

mod controls;

/// See the module's documentation.
pub static CONTRACT: Contract = Contract {
    id: "claim/skip-locked-is-performed",
    promise: "a row that is locked is passed over at once for the next one, not waited for or shared",
    level: Level::Extended,
    requires: &[Capability::SkipLocked, Capability::WaitObservation],
    offers: &[StoreCapability::CallerTransactions, StoreCapability::ConcurrentSessions],
    scope: Scope::EachSkipping,
    clocks: Clocks::Any,
    source: "pingcap/tidb#69720, pingcap/tidb#69783, dolthub/vitess#273, vitessio/vitess#5249, \
             laravel/framework#44027, codeigniter4/queue#39, frankframework/frankframework#6943, \
             orioledb/orioledb#159",
    controls: controls::CONTROLS,
    doc: include_str!("skip_locked_is_performed.rs"),
    run: |context| Box::pin(run(context)),
};

async fn run(context: &Context) -> Judged {
    let at = |step| context.at(step);
    let (mut a, mut b) = (context.actor("A").await?, context.actor("B").await?);
    let first = context.enqueued(&mut a, "EVENT-1").await?;
    let second = context.enqueued(&mut a, "EVENT-2").await?;
    a.begin().await?;
    let taken = match a.claim_batch(&context.batch("A", 1, at(100), at(150))).await {
        // Any other error says nothing of the clause.
        Err(error) if error.is_not_accepted() => {
            return broken(format!("the clause is not accepted: {error}"));
        }
        outcome => outcome?,
    };
    if taken != [first.clone()] {
        return broken(format!("A claimed one of two free events and was given {taken:?}"));
    }
    b.begin().await?;
    let session = b.id();
    let batch = context.batch("B", 1, at(100), at(150));
    let given = {
        let mut claim = pin!(b.claim_batch(&batch));
        match context.until_stuck(session, claim.as_mut()).await? {
            Progress::Finished(given) => given?,
            Progress::Waiting => {
                a.commit().await?;
                return told(&first, claim.await?);
            }
        }
    };
    if given.is_empty() {
        return broken(format!(
            "the limit is applied below the lock: A holds {first} in an open claim, {second} is free, and B's \
             claim of one was given nothing"
        ));
    }
    if given != [second] {
        return broken(format!(
            "the clause is ignored: A holds {first} in an open claim, and B was given {given:?}"
        ));
    }
    a.commit().await?;
    match b.commit().await {
        Err(error) if error.is_retryable() => context.loser_saw::<()>(&Err(error)),
        outcome => outcome?,
    }
    Ok(vec!["a locked row was passed over for the next one, without a wait".to_owned()])
}

/// What it means that B waited, from what it was given when A had ended.
fn told(first: &EventId, given: Vec<EventId>) -> Judged {
    match given.contains(first) {
        true => broken(format!(
            "the clause is ignored: B waited for A's open claim of {first}, and when that was committed was \
             given {given:?}"
        )),
        false => broken(format!(
            "the locked row is waited for, as without the clause: B was seen waiting for A's open claim of \
             {first}, and then given {given:?}"
        )),
    }
}

fn broken(observed: String) -> Judged {
    Err(Finding::Broken(observed))
}
