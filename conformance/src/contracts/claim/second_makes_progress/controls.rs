//! Stores that break `claim/second-makes-progress`.

use crate::controls::{Control, Planted};
use leaseproof_engines::Capability;
use leaseproof_engines::faults::Fault;

/// Each must be found broken.
pub(super) static CONTROLS: &[Control] = &[
    Control::new("lock-that-waits", &[Planted::Store(Fault::LockThatWaits)])
        .requires(&[Capability::SkipLocked]),
    Control::new("limit-after-the-lock", &[Planted::Store(Fault::LimitAfterTheLock)])
        .requires(&[Capability::SkipLocked])
        .seen_in("cockroachdb/cockroach#121917, yugabyte/yugabyte-db#31998, timgit/pg-boss#669"),
    Control::new(
        "index-without-the-order",
        &[Planted::Store(Fault::SecondMakesProgressIndexWithoutTheOrder)],
    )
    .requires(&[Capability::SkipLocked])
    .unless(&[Capability::Returning])
    .seen_in("OneUptime/oneuptime#3117, MySQL bug 113472, operaton/operaton#326"),
];
