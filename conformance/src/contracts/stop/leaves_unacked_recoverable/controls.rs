//! Stores that break `stop/leaves-unacked-recoverable`.

use crate::controls::{Control, Planted};
use crate::worker::WorkerFault;
use leaseproof_engines::Capability;
use leaseproof_engines::faults::Fault;

/// Each must be found broken.
pub(super) static CONTROLS: &[Control] = &[
    Control::new("stop-acks-what-was-not-started", &[Planted::Worker(WorkerFault::AcksUnstarted)]),
    Control::new(
        "stop-forgets-what-was-not-started",
        &[Planted::Worker(WorkerFault::ForgetsUnstarted)],
    )
    .seen_in("hangfire-postgres/Hangfire.PostgreSql#352, kodustech/kodus-ai#1589"),
    Control::new(
        "stop-keeps-renewing-what-it-gave-up",
        &[Planted::Worker(WorkerFault::RenewsAbandoned)],
    )
    .seen_in("rails/solid_queue#748"),
    Control::new(
        "release-skips-second-attempts",
        &[Planted::Store(Fault::ReleaseSkipsSecondAttempts)],
    )
    .seen_in("graphile/worker#241, janbjorge/pgqueuer#475"),
    Control::new(
        "release-skips-rows-that-became-due-later",
        &[Planted::Store(Fault::ReleaseSkipsRowsThatBecameDueLater)],
    )
    .seen_in("graphile/worker#241"),
    Control::new("release-parks-the-row", &[Planted::Store(Fault::ReleaseParksTheRow)]),
    Control::new(
        "candidates-skip-expired-second-attempts",
        &[Planted::Store(Fault::CandidatesSkipExpiredSecondAttempts)],
    ),
    Control::new(
        "locked-batch-skips-expired-second-attempts",
        &[Planted::Store(Fault::LockedBatchSkipsExpiredSecondAttempts)],
    )
    .requires(&[Capability::SkipLocked]),
    Control::new(
        "returning-batch-skips-expired-second-attempts",
        &[Planted::Store(Fault::ReturningBatchSkipsExpiredSecondAttempts)],
    )
    .requires(&[Capability::Returning]),
];
