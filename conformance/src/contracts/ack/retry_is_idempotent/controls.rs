//! Stores that break `ack/retry-is-idempotent`.

use crate::controls::{Control, Planted};
use leaseproof_engines::faults::Fault;

/// Each must be found broken.
pub(super) static CONTROLS: &[Control] = &[
    Control::new("repeated-ack-is-refused", &[Planted::Store(Fault::RepeatedAckIsRefused)])
        .seen_in("get-convex/convex-backend#559, Particular/docs.particular.net#1816"),
    Control::new("ack-forgets-who-acked", &[Planted::Store(Fault::AckForgetsWhoAcked)]),
    Control::new(
        "anybody-learns-already-acked",
        &[Planted::Store(Fault::StaleWorkerLearnsAlreadyAcked)],
    ),
    Control::new(
        "expired-owner-learns-already-acked",
        &[Planted::Store(Fault::ExpiredOwnerLearnsAlreadyAcked)],
    ),
    Control::new("repeated-ack-counts-as-new", &[Planted::Store(Fault::RepeatedAckCountsAsNew)]),
    Control::new(
        "repeated-ack-is-refused-after-the-deadline",
        &[Planted::Store(Fault::RepeatedAckIsRefusedAfterTheDeadline)],
    ),
];
