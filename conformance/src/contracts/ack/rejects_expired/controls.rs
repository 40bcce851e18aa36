//! Stores that break `ack/rejects-expired`.

use crate::controls::{Control, Planted};
use leaseproof_engines::faults::Fault;

/// Each must be found broken.
pub(super) static CONTROLS: &[Control] = &[
    Control::new("ack-without-live-guard", &[Planted::Store(Fault::AckWithoutLiveGuard)]).seen_in(
        "imtms/tagent-core#56, fighthealthinsurance/fighthealthinsurance#972, Soju06/codex-lb#1253",
    ),
    Control::new("ack-at-the-deadline", &[Planted::Store(Fault::AckAtTheDeadline)]),
    Control::new("ack-within-a-grace-period", &[Planted::Store(Fault::AckWithinAGracePeriod)]),
    Control::new("ack-compares-whole-seconds", &[Planted::Store(Fault::AckComparesWholeSeconds)]),
    Control::new(
        "expired-owner-learns-already-acked",
        &[Planted::Store(Fault::ExpiredOwnerLearnsAlreadyAcked)],
    ),
    Control::new(
        "ack-lives-for-the-first-lease",
        &[Planted::Store(Fault::AckLivesForTheFirstLease)],
    ),
];
