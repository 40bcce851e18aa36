//! Stores that break `renew/rejects-expired-after-wait`.

use crate::controls::{Control, Planted};
use leaseproof_engines::faults::Fault;

/// Each must be found broken.
pub(super) static CONTROLS: &[Control] = &[
    Control::new("renew-without-live-guard", &[Planted::Store(Fault::RenewWithoutLiveGuard)]),
    Control::new("ack-without-live-guard", &[Planted::Store(Fault::AckWithoutLiveGuard)]),
    Control::new(
        "renew-by-the-clock-of-the-statements-start",
        &[Planted::Store(Fault::RenewByTheClockOfTheStatementsStart)],
    )
    .seen_in("nextlyhq/nextly#777, event-driven-io/emmett#339, Soju06/codex-lb#1253")
    .requires(&[leaseproof_engines::Capability::ConcurrentWriters]),
    Control::new(
        "ack-by-the-clock-of-the-statements-start",
        &[Planted::Store(Fault::AckByTheClockOfTheStatementsStart)],
    )
    .requires(&[leaseproof_engines::Capability::ConcurrentWriters]),
];
