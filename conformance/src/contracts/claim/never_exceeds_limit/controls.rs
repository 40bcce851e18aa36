//! Stores that break `claim/never-exceeds-limit`.

use crate::controls::{Control, Planted, SessionFault};
use async_trait::async_trait;
use leaseproof_engines::Capability;
use leaseproof_engines::faults::Fault;
use leaseproof_engines::lease::{ClaimBatch, EventId};
use leaseproof_engines::store::{Result as Answer, Session};

/// Each must be found broken.
pub(super) static CONTROLS: &[Control] = &[
    Control::new("limit-in-a-locking-subquery", &[Planted::Store(Fault::LimitInALockingSubquery)])
        .requires(&[Capability::Returning, Capability::SkipLocked])
        .seen_in("saurabhnanda/odd-jobs#115, rust-playground/relay-rs#22, treeverse/lakeFS#643"),
    Control::new("candidates-without-limit", &[Planted::Store(Fault::CandidatesWithoutLimit)]),
    Control::new(
        "lock-of-a-batch-without-limit",
        &[Planted::Store(Fault::LockOfABatchWithoutLimit)],
    )
    .requires(&[Capability::SkipLocked]),
    Control::new(
        "update-returning-without-limit",
        &[Planted::Store(Fault::UpdateReturningWithoutLimit)],
    )
    .requires(&[Capability::Returning]),
    Control::new(
        "batch-of-one-too-many",
        &[Planted::Session(|| Box::new(OneTooMany { returned: true }))],
    ),
    Control::new(
        "batch-that-changes-one-too-many",
        &[Planted::Session(|| Box::new(OneTooMany { returned: false }))],
    ),
    Control::new(
        "index-that-the-planner-passes-over",
        &[Planted::Store(Fault::IndexThatThePlannerPassesOver)],
    )
    .requires(&[Capability::SkipLocked])
    .unless(&[Capability::Returning])
    .seen_in("sourcegraph/sourcegraph-public-snapshot#37462, riverqueue/river#785"),
    Control::new("index-without-the-order", &[Planted::Store(Fault::IndexWithoutTheOrder)])
        .requires(&[Capability::SkipLocked])
        .unless(&[Capability::Returning])
        .seen_in("OneUptime/oneuptime#3117"),
];

/// Takes one row more, and says so or not.
struct OneTooMany {
    returned: bool,
}

#[async_trait]
impl SessionFault for OneTooMany {
    async fn claim_batch(
        &mut self,
        session: &mut dyn Session,
        batch: &ClaimBatch,
    ) -> Answer<Vec<EventId>> {
        let more = ClaimBatch { limit: batch.limit + 1, ..batch.clone() };
        let mut events = session.claim_batch(&more).await?;
        if !self.returned {
            events.pop();
        }
        Ok(events)
    }
}
