//! Stores that break `stop/never-acks-expired`.

use crate::controls::{Control, Planted};
use crate::worker::WorkerFault;
use leaseproof_engines::faults::Fault;

/// Each must be found broken.
pub(super) static CONTROLS: &[Control] = &[
    Control::new(
        "worker-never-looks-at-the-deadline",
        &[Planted::Worker(WorkerFault::WorksPastDeadline)],
    )
    .seen_in("RamaAditya49/titen#151, deltawi/deltallm#249"),
    Control::new(
        "neither-worker-nor-store-looks-at-the-deadline",
        &[
            Planted::Store(Fault::AckWithoutLiveGuard),
            Planted::Worker(WorkerFault::WorksPastDeadline),
        ],
    )
    .seen_in("hexpm/hexpm#1825"),
    Control::new("ack-without-live-guard", &[Planted::Store(Fault::AckWithoutLiveGuard)])
        .seen_in("imtms/tagent-core#56"),
    Control::new("ack-at-the-deadline-itself", &[Planted::Store(Fault::AckAtTheDeadline)]),
    Control::new("ack-without-token-guard", &[Planted::Store(Fault::AckWithoutTokenGuard)]),
];
