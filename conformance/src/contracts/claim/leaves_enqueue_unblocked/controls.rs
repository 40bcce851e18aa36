//! Stores that break `claim/leaves-enqueue-unblocked`.

use crate::controls::{Control, Planted};
use leaseproof_engines::Capability;
use leaseproof_engines::faults::Fault;
use leaseproof_engines::store::Isolation;

/// Each must be found broken.
pub(super) static CONTROLS: &[Control] = &[
    Control::new("unit-that-locks-the-table", &[Planted::Store(Fault::UnitThatLocksTheTable)])
        .requires(&[Capability::UnlocksPassedRows]),
    Control::new(
        "candidates-locked-with-their-gaps",
        &[
            Planted::Store(Fault::CandidatesLockedWithTheirGaps),
            Planted::Isolation(Isolation::RepeatableRead),
        ],
    )
    .requires(&[Capability::ConcurrentWriters])
    .unless(&[Capability::UnlocksPassedRows])
    .seen_in("rails/solid_queue#240, rails/solid_queue#531, RotherOSS/otobo#143"),
];
