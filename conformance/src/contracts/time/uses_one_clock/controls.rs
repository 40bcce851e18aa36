//! Stores that break `time/uses-one-clock`.

use crate::controls::{Control, Planted};
use leaseproof_engines::faults::Fault;

/// Each must be found broken.
pub(super) static CONTROLS: &[Control] = &[
    Control::new("claim-by-the-worker's-clock", &[Planted::Store(Fault::ClaimByTheWorkersClock)])
        .seen_in(
            "lukas-krecan/ShedLock#231, Krzysztof318/MailFathom#1989, johanhaleby/occurrent#659",
        ),
    Control::new(
        "enqueue-by-the-worker's-clock",
        &[Planted::Store(Fault::EnqueueByTheWorkersClock)],
    )
    .seen_in("constructorfabric/gears-rust#4036"),
    Control::new(
        "renewal-by-the-worker's-clock",
        &[Planted::Store(Fault::RenewalByTheWorkersClock)],
    )
    .seen_in("FoundationDB/fdb-kubernetes-operator#241"),
    Control::new("ack-by-the-worker's-clock", &[Planted::Store(Fault::AckByTheWorkersClock)])
        .seen_in("johanhaleby/occurrent#662"),
    Control::new(
        "confirmation-by-the-worker's-clock",
        &[Planted::Store(Fault::ConfirmationByTheWorkersClock)],
    ),
    Control::new(
        "candidates-by-the-worker's-clock",
        &[Planted::Store(Fault::CandidatesByTheWorkersClock)],
    ),
];
