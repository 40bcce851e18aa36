//! Stores that break `ack/rejects-stale-token`.

use crate::controls::{Control, Planted};
use leaseproof_engines::faults::Fault;

/// Each must be found broken.
pub(super) static CONTROLS: &[Control] = &[
    Control::new("ack-by-event-id-alone", &[Planted::Store(Fault::AckWithoutTokenGuard)]).seen_in(
        "hangfire-postgres/Hangfire.PostgreSql#130, hexpm/hexpm#1825, nazarli-shabnam/clevis#215",
    ),
    Control::new("ack-with-an-empty-token", &[Planted::Store(Fault::AckWithAnEmptyToken)]),
    Control::new(
        "stale-worker-learns-already-acked",
        &[Planted::Store(Fault::StaleWorkerLearnsAlreadyAcked)],
    ),
    Control::new("ack-of-a-released-event", &[Planted::Store(Fault::AckOfAReleasedEvent)]),
    Control::new(
        "ack-overwrites-a-finished-event",
        &[Planted::Store(Fault::AckOverwritesAFinishedEvent)],
    ),
];
