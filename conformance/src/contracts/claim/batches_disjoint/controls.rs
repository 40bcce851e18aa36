//! Stores that break `claim/batches-disjoint`.

use crate::controls::{Control, Planted};
use leaseproof_engines::Capability;
use leaseproof_engines::faults::Fault;
use leaseproof_engines::store::Isolation;

/// Each must be found broken.
pub(super) static CONTROLS: &[Control] = &[
    Control::new(
        "lock-clause-that-does-nothing",
        &[
            Planted::Store(Fault::LockClauseThatDoesNothing),
            Planted::Isolation(Isolation::ReadCommitted),
        ],
    )
    .requires(&[Capability::SkipLocked])
    .seen_in("pingcap/tidb#69720, dolthub/vitess#273, vitessio/vitess#5249"),
    Control::new(
        "batch-that-takes-live-leases",
        &[Planted::Store(Fault::BatchThatTakesLiveLeases)],
    )
    .requires(&[Capability::SkipLocked]),
    Control::new("rollback-that-commits", &[Planted::Store(Fault::RollbackThatCommits)])
        .requires(&[Capability::SkipLocked]),
];
