//! Stores that break `stop/release-is-claimable`.

use crate::controls::{Control, Planted};
use leaseproof_engines::Capability;
use leaseproof_engines::faults::Fault;

/// Each must be found broken.
pub(super) static CONTROLS: &[Control] = &[
    Control::new(
        "release-clears-only-the-deadline",
        &[Planted::Store(Fault::ReleaseClearsOnlyTheDeadline)],
    )
    .seen_in("rafidahmed870/queue-jobs-worker#1, aegra/aegra#547"),
    Control::new(
        "release-clears-only-the-token",
        &[Planted::Store(Fault::ReleaseClearsOnlyTheToken)],
    ),
    Control::new(
        "release-waits-for-the-deadline",
        &[Planted::Store(Fault::ReleaseWaitsForTheDeadline)],
    ),
    Control::new("release-defers-the-row", &[Planted::Store(Fault::ReleaseDefersTheRow)]),
    Control::new("release-parks-the-row", &[Planted::Store(Fault::ReleaseParksTheRow)]),
    Control::new("release-uses-up-an-attempt", &[Planted::Store(Fault::ReleaseUsesUpAnAttempt)]),
    Control::new(
        "released-row-is-neither-new-nor-expired-to-claim",
        &[Planted::Store(Fault::ReleasedRowIsNeitherNewNorExpiredToClaim)],
    )
    .seen_in("rafidahmed870/queue-jobs-worker#1"),
    Control::new(
        "released-row-is-neither-new-nor-expired-to-candidates",
        &[Planted::Store(Fault::ReleasedRowIsNeitherNewNorExpiredToCandidates)],
    ),
    Control::new(
        "released-row-is-neither-new-nor-expired-to-locked-batch",
        &[Planted::Store(Fault::ReleasedRowIsNeitherNewNorExpiredToLockedBatch)],
    )
    .requires(&[Capability::SkipLocked]),
    Control::new(
        "released-row-is-neither-new-nor-expired-to-returning-batch",
        &[Planted::Store(Fault::ReleasedRowIsNeitherNewNorExpiredToReturningBatch)],
    )
    .requires(&[Capability::Returning]),
    Control::new(
        "expired-row-is-claimable-three-times",
        &[Planted::Store(Fault::ExpiredRowIsClaimableThreeTimes)],
    )
    .seen_in("quartz-scheduler/quartz#145"),
];
