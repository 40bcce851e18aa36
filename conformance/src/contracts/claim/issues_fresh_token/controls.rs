//! Stores that break `claim/issues-fresh-token`.

use crate::controls::{Control, Planted};
use leaseproof_engines::faults::Fault;

/// Each must be found broken.
pub(super) static CONTROLS: &[Control] = &[
    Control::new("one-token-for-each-worker", &[Planted::OneTokenPerActor])
        .seen_in("aegra/aegra#502, aegra/aegra#547"),
    Control::new("renew-by-event-id-only", &[Planted::Store(Fault::RenewByEventIdOnly)])
        .seen_in("brendanlong/lion-reader#917"),
    Control::new("ack-by-event-id-only", &[Planted::Store(Fault::AckWithoutTokenGuard)])
        .seen_in("maxcountryman/underway#111"),
    Control::new("release-by-event-id-only", &[Planted::Store(Fault::ReleaseByEventIdOnly)]),
    Control::new(
        "repeated-ack-by-event-id-only",
        &[Planted::Store(Fault::StaleWorkerLearnsAlreadyAcked)],
    ),
    Control::new(
        "claim-that-keeps-the-workers-token",
        &[Planted::Store(Fault::ClaimThatKeepsTheWorkersToken)],
    ),
    Control::new("claim-without-free-guard", &[Planted::Store(Fault::ClaimWithoutFreeGuard)])
        .seen_in("collectiveidea/delayed_job#534"),
];
