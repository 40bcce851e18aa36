//! Stores that break `claim/skip-locked-is-performed`.

use crate::controls::{Control, Planted};
use leaseproof_engines::Capability;
use leaseproof_engines::faults::Fault;
use leaseproof_engines::store::Isolation;

/// Each must be found broken.
pub(super) static CONTROLS: &[Control] = &[
    Control::new(
        "clause-that-is-ignored",
        &[
            Planted::Store(Fault::LockClauseThatDoesNothing),
            Planted::Isolation(Isolation::ReadCommitted),
        ],
    )
    .requires(&[Capability::SkipLocked])
    .seen_in("pingcap/tidb#69720, dolthub/vitess#273, vitessio/vitess#5249"),
    Control::new("clause-that-waits", &[Planted::Store(Fault::LockThatWaits)])
        .requires(&[Capability::SkipLocked])
        .seen_in("laravel/framework#44027"),
    Control::new("limit-below-the-lock", &[Planted::Store(Fault::LimitBelowTheLock)])
        .requires(&[Capability::SkipLocked])
        .seen_in("pingcap/tidb#69783"),
    Control::new("clause-that-is-not-accepted", &[Planted::Store(Fault::ClauseThatIsNotAccepted)])
        .requires(&[Capability::SkipLocked])
        .seen_in("codeigniter4/queue#39, frankframework/frankframework#6943"),
];
