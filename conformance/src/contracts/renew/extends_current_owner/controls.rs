//! Stores that break `renew/extends-current-owner`.

use crate::controls::{Control, Planted};
use leaseproof_engines::faults::Fault;

/// Each must be found broken.
pub(super) static CONTROLS: &[Control] = &[
    Control::new("renew-that-changes-nothing", &[Planted::Store(Fault::RenewThatChangesNothing)]),
    Control::new("renew-without-token-guard", &[Planted::Store(Fault::RenewByEventIdOnly)]),
    Control::new("renew-without-longer-guard", &[Planted::Store(Fault::RenewWithoutLongerGuard)]),
    Control::new("renew-without-live-guard", &[Planted::Store(Fault::RenewWithoutLiveGuard)]),
];
