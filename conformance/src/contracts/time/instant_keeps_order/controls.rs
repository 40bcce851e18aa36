//! Stores that break `time/instant-keeps-order`.

use crate::controls::{Control, Planted};
use leaseproof_engines::Capability;
use leaseproof_engines::faults::Fault;

/// Each must be found broken.
pub(super) static CONTROLS: &[Control] = &[
    Control::new("renew-compares-text", &[Planted::Store(Fault::RenewComparesText)]).seen_in(
        "getsentry/taskbroker#106, openwallet-foundation/askar#260, rusqlite/rusqlite#1858",
    ),
    Control::new("longer-compares-text", &[Planted::Store(Fault::LongerComparesText)]),
    Control::new("claim-compares-text", &[Planted::Store(Fault::ClaimComparesText)])
        .seen_in("jpicklyk/task-orchestrator#267, ujeenet/rustango#1464"),
    Control::new("candidates-compare-text", &[Planted::Store(Fault::CandidatesCompareText)]),
    Control::new("candidates-sort-text", &[Planted::Store(Fault::CandidatesSortText)]),
    Control::new("locked-batch-compares-text", &[Planted::Store(Fault::LockedBatchComparesText)])
        .requires(&[Capability::SkipLocked]),
    Control::new(
        "returning-batch-compares-text",
        &[Planted::Store(Fault::ReturningBatchComparesText)],
    )
    .requires(&[Capability::Returning]),
    Control::new("backlog-compares-text", &[Planted::Store(Fault::BacklogComparesText)]),
    Control::new("renew-drops-the-fraction", &[Planted::Store(Fault::RenewDropsTheFraction)]),
    Control::new(
        "renew-rounds-to-floating-point",
        &[Planted::Store(Fault::RenewRoundsToFloatingPoint)],
    ),
    Control::new("renew-ends-in-2038", &[Planted::Store(Fault::RenewEndsIn2038)]),
    Control::new("renew-forgets-the-sign", &[Planted::Store(Fault::RenewForgetsTheSign)]),
];
