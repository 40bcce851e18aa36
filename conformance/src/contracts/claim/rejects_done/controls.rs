//! Stores that break `claim/rejects-done`.

use crate::controls::{Control, Planted};
use leaseproof_engines::Capability;
use leaseproof_engines::faults::Fault;

/// Each must be found broken.
pub(super) static CONTROLS: &[Control] = &[
    Control::new("claim-without-pending-guard", &[Planted::Store(Fault::ClaimWithoutPendingGuard)]),
    Control::new(
        "candidates-without-pending-guard",
        &[Planted::Store(Fault::CandidatesWithoutPendingGuard)],
    ),
    Control::new(
        "claims-without-pending-guard",
        &[Planted::Store(Fault::ClaimsWithoutPendingGuard)],
    ),
    Control::new(
        "lock-of-a-batch-without-pending-guard",
        &[Planted::Store(Fault::LockOfABatchWithoutPendingGuard)],
    )
    .requires(&[Capability::SkipLocked]),
    Control::new(
        "update-returning-without-pending-guard",
        &[Planted::Store(Fault::UpdateReturningWithoutPendingGuard)],
    )
    .requires(&[Capability::Returning]),
    Control::new(
        "ack-that-changes-nothing",
        &[Planted::Store(Fault::RejectsDoneAckThatChangesNothing)],
    ),
    Control::new(
        "enqueue-that-revives-what-is-done",
        &[Planted::Store(Fault::EnqueueThatRevivesWhatIsDone)],
    ),
];
