//! A transaction that reads and then writes is not refused at once because of a concurrent writer.
//!
//! # Promise
//! A transaction that will write says so when it begins. It may have to wait for a writer, at its beginning or at
//! its first write, or it goes through beside it. It does not get as far as its write only to be told that
//! it can never succeed.
//!
//! # Steps
//! A transaction begins, reads the candidates and claims one. Beside it:
//! 1. A writer holds an open claim of the same event. The transaction is seen waiting. The writer commits: the transaction
//!    loses (or is told to run again, and then loses). The writer rolls back: the transaction wins.
//! 2. After the transaction's read a writer begins and claims another event. It is done with the write, with its
//!    transaction open, or is seen waiting for the transaction. Either way the transaction's claim succeeds, and so does its
//!    commit; then the writer's.
//! 3. The same with a writer that commits at once, if it is not kept waiting.
//!
//! # How a violation looks
//! The write is refused without a wait, each time, as long as anybody writes: under load the transaction starves.
//! Waiting longer or repeating the statement does not help.
//!
//! # Source
//! IntersectMBO/ouroboros-consensus#2233, vjt/grappa-irc#524, danielcopper/romm-tender#1092,
//! WiseLibs/better-sqlite3#836 and #1275, python/cpython#124510.

use leaseproof_engines::EngineError;
use leaseproof_engines::capability::StoreCapability;
use leaseproof_engines::lease::{Claimed, EventId, FencingToken};
use leaseproof_reports::Level;

use crate::contract::{Clocks, Contract, Scope};
use crate::harness::actor::Actor;
use crate::harness::context::{Context, Progress};
use crate::harness::finding::{Finding, Judged, check_eq};
use crate::harness::latch::{End, behind};
use crate::harness::standing::{Standing, check_attempts, check_standing};

mod controls;

/// See the module's documentation.
pub static CONTRACT: Contract = Contract {
    id: "unit/declares-write-intent",
    promise: "a read-then-write transaction is not refused at once by a concurrent writer: it waits or proceeds",
    level: Level::Core,
    requires: &[],
    offers: &[StoreCapability::CallerTransactions, StoreCapability::ConcurrentSessions],
    scope: Scope::Once,
    clocks: Clocks::Any,
    source: "IntersectMBO/ouroboros-consensus#2233, vjt/grappa-irc#524, danielcopper/romm-tender#1092, WiseLibs/better-sqlite3#836, #1275, python/cpython#124510",
    controls: controls::CONTROLS,
    doc: include_str!("declares_write_intent.rs"),
    run: |context| Box::pin(run(context)),
};

async fn run(context: &Context) -> Judged {
    let mut unit = context.actor("unit").await?;
    let mut writer = context.actor("writer").await?;
    let mut evidence = Vec::new();
    for end in [End::Commit, End::Rollback] {
        let retries = behind_writer(context, &mut unit, &mut writer, end).await?;
        evidence.push(format!(
            "the transaction was seen waiting for a writer ({end:?}); run again {retries} times"
        ));
    }
    for until in [Writer::HoldsItsUnitOpen, Writer::Commits] {
        evidence.push(ahead_of_writer(context, &mut unit, &mut writer, until).await?);
    }
    Ok(evidence)
}

/// Reads, then claims, and commits.
async fn read_then_write(
    context: &Context,
    actor: &mut Actor,
    event: &EventId,
    token: &FencingToken,
) -> Result<Claimed, EngineError> {
    let outcome = async {
        actor.begin().await?;
        actor.candidates(10, context.at(100)).await?;
        let claimed = claim(context, actor, event, token).await?;
        actor.commit().await?;
        Ok(claimed)
    };
    let outcome = outcome.await;
    if outcome.is_err() {
        // The first error says what happened; that of the rollback would only hide it.
        drop(actor.rollback().await);
    }
    outcome
}

async fn claim(
    context: &Context,
    actor: &mut Actor,
    event: &EventId,
    token: &FencingToken,
) -> Result<Claimed, EngineError> {
    actor.claim(event, token, context.at(100), context.at(150)).await
}

/// Step 1; returns how often the transaction was run again.
async fn behind_writer(
    context: &Context,
    unit: &mut Actor,
    writer: &mut Actor,
    end: End,
) -> Result<usize, Finding> {
    let event = context.enqueued(writer, &format!("contended-{end:?}")).await?;
    let (of_unit, of_writer) = (context.token("unit"), context.token("writer"));
    writer.begin().await?;
    let claimed = claim(context, writer, &event, &of_writer).await?;
    check_eq("the writer claims", claimed, Claimed::Claimed)?;
    let waiter = unit.id();
    let attempt = read_then_write(context, unit, &event, &of_unit);
    let (answer, proof) = behind(context, writer, end, waiter, attempt).await?;
    let (answer, retries) = match answer {
        Err(error) if error.is_retryable() => {
            if proof.returned_early() {
                return Err(Finding::Broken(format!(
                    "a transaction that had read and then claimed {event}, which a writer held in an open \
                     transaction, was refused without a wait: {error}"
                )));
            }
            // After the wait an engine may say that the transaction has to be run again, as a whole.
            (read_then_write(context, unit, &event, &of_unit).await?, 1)
        }
        answer => (answer?, 0),
    };
    let (promised, token) = match end {
        End::Commit => (Claimed::NotClaimed, of_writer),
        End::Rollback => (Claimed::Claimed, of_unit),
    };
    let step = format!("the transaction's claim of {event} behind a writer ({end:?})");
    check_eq(&step, answer, promised)?;
    check_standing(&step, writer, &event, &Standing::held(&token, context.at(150))).await?;
    check_attempts(&step, writer, &event, 1).await?;
    proof.demand()?;
    Ok(retries)
}

/// How far the writer goes beside the transaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Writer {
    HoldsItsUnitOpen,
    Commits,
}

/// Steps 2 and 3; returns what the writer was seen doing.
async fn ahead_of_writer(
    context: &Context,
    unit: &mut Actor,
    writer: &mut Actor,
    until: Writer,
) -> Result<String, Finding> {
    let event = context.enqueued(writer, &format!("read-{until:?}")).await?;
    let other = context.enqueued(writer, &format!("not-read-{until:?}")).await?;
    unit.begin().await?;
    unit.candidates(10, context.at(100)).await?;
    let waiter = [writer.id()];
    let (of_unit, of_writer) = (context.token("unit"), context.token("writer"));
    let waited = {
        let mut writing = std::pin::pin!(async {
            if until == Writer::HoldsItsUnitOpen {
                writer.begin().await?;
            }
            claim(context, writer, &other, &of_writer).await
        });
        let progress = context.until_waiting(&waiter, writing.as_mut()).await?;
        match claim(context, unit, &event, &of_unit).await {
            Ok(claimed) => {
                check_eq("the transaction's claim beside a writer", claimed, Claimed::Claimed)?
            }
            Err(error) if !error.is_retryable() => return Err(Finding::Errored(error)),
            Err(error) => {
                let message = format!(
                    "a transaction that read first could not write beside a writer: {error}"
                );
                return Err(Finding::Broken(message));
            }
        }
        unit.commit().await?;
        let (waited, claimed) = match progress {
            Progress::Waiting => (true, writing.await?),
            Progress::Finished(claimed) => (false, claimed?),
        };
        check_eq("the writer's claim of another event", claimed, Claimed::Claimed)?;
        waited
    };
    if until == Writer::HoldsItsUnitOpen {
        writer.commit().await?;
    }
    for (event, token) in [(&event, &of_unit), (&other, &of_writer)] {
        let step = format!("{event} was claimed in a transaction that committed ({until:?})");
        check_standing(&step, unit, event, &Standing::held(token, context.at(150))).await?;
    }
    let wait = if waited {
        "was seen waiting for the transaction"
    } else {
        "did not wait for the transaction"
    };
    Ok(format!("a writer ({until:?}) {wait}, which went through"))
}
