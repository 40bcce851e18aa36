//! Stores that break `claim/drains-exactly-once`.

use crate::controls::{Control, Planted, SessionFault};
use async_trait::async_trait;
use leaseproof_engines::Capability;
use leaseproof_engines::faults::Fault;
use leaseproof_engines::lease::{Claim, ClaimBatch, Claimed, EventId};
use leaseproof_engines::store::{Isolation, Result as Answer, Session};

/// Each must be found broken.
pub(super) static CONTROLS: &[Control] = &[
    Control::new("claim-without-free-guard", &[Planted::Store(Fault::ClaimWithoutFreeGuard)])
        .seen_in("akeneo/pim-community-dev#7998"),
    Control::new(
        "choice-that-is-not-checked-again",
        &[Planted::Store(Fault::ChoiceThatIsNotCheckedAgain)],
    )
    .requires(&[Capability::Returning, Capability::ConcurrentWriters])
    .seen_in("hangfire-postgres/Hangfire.PostgreSql#130"),
    Control::new(
        "lock-that-is-not-taken",
        &[Planted::Store(Fault::LockThatIsNotTaken), Planted::Isolation(Isolation::ReadCommitted)],
    )
    .requires(&[Capability::SkipLocked])
    .seen_in("pingcap/tidb#69720"),
    Control::new(
        "failed-batch-that-has-won-something",
        &[Planted::Session(|| Box::new(ForgetsWhatItWon))],
    )
    .requires(&[Capability::ConcurrentWriters]),
    Control::new("batch-that-lacks-one", &[Planted::Session(|| Box::new(Lacks))]),
    Control::new("batch-with-one-twice", &[Planted::Session(|| Box::new(Repeats))]),
    Control::new("batch-with-one-too-many", &[Planted::Session(|| Box::new(Invents))]),
];

/// Commits one claim after the other, and forgets them all when one of them fails.
struct ForgetsWhatItWon;

#[async_trait]
impl SessionFault for ForgetsWhatItWon {
    async fn claim_batch(
        &mut self,
        session: &mut dyn Session,
        batch: &ClaimBatch,
    ) -> Answer<Vec<EventId>> {
        let mut events = Vec::new();
        for event in session.candidates(batch.limit, batch.now).await? {
            let ClaimBatch { token, now, until, .. } = batch.clone();
            let claim = Claim { event, token, now, until };
            if session.claim(&claim).await? == Claimed::Claimed {
                events.push(claim.event);
            }
        }
        Ok(events)
    }
}

/// Does not tell of the last event it has claimed.
struct Lacks;

#[async_trait]
impl SessionFault for Lacks {
    async fn claim_batch(
        &mut self,
        session: &mut dyn Session,
        batch: &ClaimBatch,
    ) -> Answer<Vec<EventId>> {
        let mut events = session.claim_batch(batch).await?;
        if events.len() > 1 {
            events.pop();
        }
        Ok(events)
    }
}

/// Tells of its first event twice.
struct Repeats;

#[async_trait]
impl SessionFault for Repeats {
    async fn claim_batch(
        &mut self,
        session: &mut dyn Session,
        batch: &ClaimBatch,
    ) -> Answer<Vec<EventId>> {
        let mut events = session.claim_batch(batch).await?;
        events.extend(events.first().cloned());
        Ok(events)
    }
}

/// Tells of an event that is a part of another one's id.
struct Invents;

#[async_trait]
impl SessionFault for Invents {
    async fn claim_batch(
        &mut self,
        session: &mut dyn Session,
        batch: &ClaimBatch,
    ) -> Answer<Vec<EventId>> {
        let mut events = session.claim_batch(batch).await?;
        let shortened = events.first().map(|event| EventId::new(&event.0[..event.0.len() - 1]));
        events.extend(shortened);
        Ok(events)
    }
}
