//! What transactions see of each other, and what is left of one that was aborted.

use futures::future::join;
use leaseproof_engines::faults::Fault;
use leaseproof_engines::lease::{ClaimBatch, Strategy};
use leaseproof_engines::store::{Isolation, Journal, StoreOptions};

use super::{
    Seen, as_they_are, claim, closed, code, event, filled, next, opened, session, told, with,
};
use crate::harness::target::Target;

/// At REPEATABLE READ: B has read, A claims the first event and commits, B claims.
pub(super) async fn snapshot(target: &Target) -> Seen {
    let isolation = target.engine.server().map(|_| Isolation::RepeatableRead);
    let options = StoreOptions { isolation, ..StoreOptions::default() };
    let store = opened(target, as_they_are, options).await?;
    let seen = async {
        let store = store.as_ref();
        let (mut a, mut b) = (filled(store, 2).await?, session(store).await?);
        b.begin_snapshot().await?;
        a.claim(&claim(1, "a")).await?;
        let answer = told(b.claim_batch(&next(target, "b")).await);
        b.rollback().await?;
        Ok(answer)
    };
    let seen = seen.await;
    closed(store, seen).await
}

/// A claims one of two events in an open transaction, by an index on the state alone; B claims one.
pub(super) async fn without_order(target: &Target) -> Seen {
    let store =
        opened(target, with(target, Fault::IndexWithoutOrder), StoreOptions::default()).await?;
    let seen = async {
        let store = store.as_ref();
        let (mut a, mut b) = (filled(store, 10).await?, session(store).await?);
        a.begin().await?;
        a.claim_batch(&next(target, "a")).await?;
        let answer = told(b.claim_batch(&next(target, "b")).await);
        a.rollback().await?;
        Ok(answer)
    };
    let seen = seen.await;
    closed(store, seen).await
}

/// R has read in an open transaction; W claims by a statement that returns rows before its commit.
pub(super) async fn reader(target: &Target) -> Seen {
    let returns = target.engine.strategies().contains(&Strategy::UpdateReturning);
    if target.engine.server().is_some() || !returns {
        return Ok("no rollback journal".to_owned());
    }
    let options = StoreOptions { journal: Journal::Delete, ..StoreOptions::default() };
    let store = opened(target, as_they_are, options).await?;
    let seen = async {
        let store = store.as_ref();
        let (mut w, mut r) = (filled(store, 1).await?, session(store).await?);
        r.begin_snapshot().await?;
        let batch = ClaimBatch { strategy: Strategy::UpdateReturning, ..next(target, "w") };
        let answer = told(w.claim_batch(&batch).await);
        r.rollback().await?;
        let row = w.event(&event(1)).await?;
        let held = row.is_some_and(|row| row.token.is_some());
        let stored = if held { "is claimed" } else { "is still free" };
        Ok(format!("the claim is told: {answer}; the event {stored}"))
    };
    let seen = seen.await;
    closed(store, seen).await
}

/// Two transactions take two rows in opposite order. The victim goes on without a new unit: an effect, then a
/// rollback. Our own sessions would refuse; this one lets it through.
pub(super) async fn after_deadlock(target: &Target) -> Seen {
    let options = StoreOptions { unguarded: true, ..StoreOptions::default() };
    let store = opened(target, as_they_are, options).await?;
    let seen = async {
        let store = store.as_ref();
        let patient = leaseproof_engines::store::SessionOptions::default();
        let mut a = store.session(&patient).await?;
        let mut b = store.session(&patient).await?;
        drop(filled(store, 2).await?);
        a.begin().await?;
        if let Err(error) = b.begin().await {
            return Ok(format!("no deadlock: the second transaction is told {}", code(&error)));
        }
        a.claim(&claim(1, "a")).await?;
        b.claim(&claim(2, "b")).await?;
        let (for_a, for_b) = (claim(2, "a"), claim(1, "b"));
        let (one, other) = join(a.claim(&for_a), b.claim(&for_b)).await;
        let (victim, error, survivor) = match (one, other) {
            (Err(error), _) => (&mut a, error, &mut b),
            (_, Err(error)) => (&mut b, error, &mut a),
            _ => return Ok("no deadlock: both transactions went on".to_owned()),
        };
        survivor.rollback().await?;
        let went_on = victim.apply_effect("fact", &event(1)).await;
        drop(victim.rollback().await);
        let left = survivor.effects("fact", &event(1)).await?;
        let then = match (went_on, left) {
            (Err(refused), _) => format!("refused with {}", code(&refused)),
            (Ok(()), 0) => "accepted, and undone".to_owned(),
            (Ok(()), _) => "run in autocommit: it outlives the rollback".to_owned(),
        };
        Ok(format!("after {}: {then}", code(&error)))
    };
    let seen = seen.await;
    closed(store, seen).await
}
