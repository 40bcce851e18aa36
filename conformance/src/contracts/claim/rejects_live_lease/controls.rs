//! Stores that break `claim/rejects-live-lease`.

use crate::controls::{Control, Planted};
use leaseproof_engines::Capability;
use leaseproof_engines::faults::Fault;

/// Each must be found broken.
pub(super) static CONTROLS: &[Control] = &[
    Control::new("claim-without-free-guard", &[Planted::Store(Fault::ClaimWithoutFreeGuard)]),
    Control::new(
        "lock-of-a-batch-without-free-guard",
        &[Planted::Store(Fault::LockOfABatchWithoutFreeGuard)],
    )
    .requires(&[Capability::SkipLocked]),
    Control::new(
        "update-returning-without-free-guard",
        &[Planted::Store(Fault::UpdateReturningWithoutFreeGuard)],
    )
    .requires(&[Capability::Returning]),
    Control::new(
        "claim-that-ends-leases-a-microsecond-early",
        &[Planted::Store(Fault::ClaimThatEndsLeasesAMicrosecondEarly)],
    ),
    Control::new(
        "lock-of-a-batch-that-ends-leases-a-microsecond-early",
        &[Planted::Store(Fault::LockOfABatchThatEndsLeasesAMicrosecondEarly)],
    )
    .requires(&[Capability::SkipLocked]),
    Control::new(
        "update-returning-that-ends-leases-a-microsecond-early",
        &[Planted::Store(Fault::UpdateReturningThatEndsLeasesAMicrosecondEarly)],
    )
    .requires(&[Capability::Returning]),
    Control::new(
        "claim-that-readmits-the-workers-own-rows",
        &[Planted::Store(Fault::ClaimThatReadmitsTheWorkersOwnRows), Planted::OneTokenPerActor],
    )
    .seen_in("collectiveidea/delayed_job#534"),
];
