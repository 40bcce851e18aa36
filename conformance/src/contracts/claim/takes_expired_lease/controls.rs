//! Stores that break `claim/takes-expired-lease`.

use crate::controls::{Control, Planted};
use leaseproof_engines::Capability;
use leaseproof_engines::faults::Fault;

/// Each must be found broken.
pub(super) static CONTROLS: &[Control] = &[
    Control::new(
        "claim-that-ends-leases-a-microsecond-late",
        &[Planted::Store(Fault::ClaimThatEndsLeasesAMicrosecondLate)],
    ),
    Control::new(
        "candidates-that-end-leases-a-microsecond-late",
        &[Planted::Store(Fault::CandidatesThatEndLeasesAMicrosecondLate)],
    ),
    Control::new(
        "lock-of-a-batch-that-ends-leases-a-microsecond-late",
        &[Planted::Store(Fault::LockOfABatchThatEndsLeasesAMicrosecondLate)],
    )
    .requires(&[Capability::SkipLocked]),
    Control::new(
        "update-returning-that-ends-leases-a-microsecond-late",
        &[Planted::Store(Fault::UpdateReturningThatEndsLeasesAMicrosecondLate)],
    )
    .requires(&[Capability::Returning]),
    Control::new("claim-that-never-takes-over", &[Planted::Store(Fault::ClaimThatNeverTakesOver)]),
    Control::new("claim-that-ends-leases-early", &[Planted::Store(Fault::ClaimWithoutFreeGuard)]),
    Control::new(
        "claim-that-keeps-the-old-token",
        &[Planted::Store(Fault::ClaimThatKeepsTheWorkersToken)],
    ),
    Control::new("renew-without-token-guard", &[Planted::Store(Fault::RenewByEventIdOnly)]),
    Control::new("ack-without-token-guard", &[Planted::Store(Fault::AckWithoutTokenGuard)]),
    Control::new("release-without-token-guard", &[Planted::Store(Fault::ReleaseByEventIdOnly)]),
    Control::new(
        "repeated-ack-without-token-guard",
        &[Planted::Store(Fault::StaleWorkerLearnsAlreadyAcked)],
    ),
];
