//! Stores that break `renew/rejects-expired`.

use crate::controls::{Control, Planted};
use leaseproof_engines::faults::Fault;

/// Each must be found broken.
pub(super) static CONTROLS: &[Control] = &[
    Control::new("renew-without-live-guard", &[Planted::Store(Fault::RenewWithoutLiveGuard)])
            .seen_in("imtms/tagent-core#56, fighthealthinsurance/fighthealthinsurance#972, Soju06/codex-lb#1253"),
    Control::new("renew-at-the-deadline", &[Planted::Store(Fault::RenewAtTheDeadline)]),
    Control::new("renew-within-a-grace-period", &[Planted::Store(Fault::RenewWithinAGracePeriod)]),
    Control::new("renew-compares-whole-seconds", &[Planted::Store(Fault::RenewComparesWholeSeconds)]),
    Control::new("renew-ends-too-early", &[Planted::Store(Fault::RenewEndsTooEarly)]),
    Control::new("renew-judges-by-the-new-deadline", &[Planted::Store(Fault::RenewJudgesByTheNewDeadline)]),
];
