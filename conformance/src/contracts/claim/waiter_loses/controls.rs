//! Stores that break `claim/waiter-loses`.

use crate::controls::{Control, Planted, SessionFault};
use async_trait::async_trait;
use leaseproof_engines::Capability;
use leaseproof_engines::faults::Fault;
use leaseproof_engines::lease::{Claim, Claimed};
use leaseproof_engines::store::{Isolation, LockWait, Result as Answer, Session};

/// Each must be found broken.
pub(super) static CONTROLS: &[Control] = &[
    Control::new("claim-without-free-guard", &[Planted::Store(Fault::ClaimWithoutFreeGuard)])
        .seen_in("dereuromark/cakephp-queue#121, seatgeek/djjob#2"),
    Control::new(
        "choice-that-is-not-checked-again",
        &[Planted::Store(Fault::ChoiceThatIsNotCheckedAgain)],
    )
    .requires(&[Capability::Returning, Capability::ConcurrentWriters])
    .seen_in("hangfire-postgres/Hangfire.PostgreSql#73, quartz-scheduler/quartz#107"),
    Control::new(
        "batch-that-locks-nothing",
        &[Planted::Store(Fault::LockThatIsNotTaken), Planted::Isolation(Isolation::ReadCommitted)],
    )
    .requires(&[Capability::SkipLocked]),
    Control::new(
        "claim-that-gives-up-at-a-locked-row",
        &[Planted::Session(|| Box::new(GivesUpAtLock))],
    )
    .requires(&[Capability::NoWait]),
];

/// Takes a row that is locked for one that is lost, although its holder may roll back.
struct GivesUpAtLock;

#[async_trait]
impl SessionFault for GivesUpAtLock {
    async fn claim(&mut self, session: &mut dyn Session, claim: &Claim) -> Answer<Claimed> {
        // A transaction that the caller opened would be lost with the lock; there the fault does not show.
        if session.begin().await.is_err() {
            return session.claim(claim).await;
        }
        let locked = session.lock(&claim.event, LockWait::NoWait).await;
        session.rollback().await?;
        match locked {
            Ok(()) => session.claim(claim).await,
            Err(_) => Ok(Claimed::NotClaimed),
        }
    }
}
