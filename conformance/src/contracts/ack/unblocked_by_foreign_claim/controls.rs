//! Stores that break `ack/unblocked-by-foreign-claim`.

use crate::controls::{Control, Planted};
use leaseproof_engines::Capability;
use leaseproof_engines::faults::Fault;

/// Each must be found broken.
pub(super) static CONTROLS: &[Control] = &[
    Control::new(
        "candidates-are-locked-before-they-are-filtered",
        &[Planted::Store(Fault::CandidatesAreLockedBeforeTheyAreFiltered)],
    )
    .requires(&[Capability::ConcurrentWriters])
    .seen_in(
        "laravel/framework#31660, rails/solid_queue#162, symfony/symfony#41541, \
             collectiveidea/delayed_job_active_record#63, apache/airflow#66794",
    ),
    Control::new(
        "batch-is-locked-before-it-is-filtered",
        &[Planted::Store(Fault::BatchIsLockedBeforeItIsFiltered)],
    )
    .requires(&[Capability::SkipLocked, Capability::UnlocksPassedRows]),
];
