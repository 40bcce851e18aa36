//! Stores that break `replay/returns-after-lost-ack`.

use crate::controls::{Control, Planted};
use crate::worker::WorkerFault;
use leaseproof_engines::Capability;
use leaseproof_engines::faults::Fault;

/// Each must be found broken.
pub(super) static CONTROLS: &[Control] = &[
    Control::new("ack-before-effect", &[Planted::Worker(WorkerFault::AcksBeforeEffect)])
        .seen_in("KanishJebaMathewM/Truxify#11209, KanishJebaMathewM/Truxify#13133"),
    Control::new("claim-takes-live-lease", &[Planted::Store(Fault::ClaimTakesLiveLease)]),
    Control::new(
        "locked-batch-takes-live-lease",
        &[Planted::Store(Fault::LockOfABatchWithoutFreeGuard)],
    )
    .requires(&[Capability::SkipLocked]),
    Control::new(
        "returning-batch-takes-live-lease",
        &[Planted::Store(Fault::UpdateReturningWithoutFreeGuard)],
    )
    .requires(&[Capability::Returning]),
    Control::new(
        "candidates-overlook-expired-lease",
        &[Planted::Store(Fault::CandidatesOverlookExpiredLease)],
    ),
    Control::new("claim-refuses-expired-lease", &[Planted::Store(Fault::ClaimRefusesExpiredLease)]),
    Control::new(
        "locked-batch-overlooks-expired-lease",
        &[Planted::Store(Fault::LockedBatchOverlooksExpiredLease)],
    )
    .requires(&[Capability::SkipLocked]),
    Control::new(
        "returning-batch-overlooks-expired-lease",
        &[Planted::Store(Fault::ReturningBatchOverlooksExpiredLease)],
    )
    .requires(&[Capability::Returning]),
    Control::new(
        "claim-misses-the-deadline-itself",
        &[Planted::Store(Fault::ClaimAfterTheDeadlineOnly)],
    ),
];
