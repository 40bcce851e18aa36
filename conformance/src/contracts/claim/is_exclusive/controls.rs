//! Stores that break `claim/is-exclusive`.

use crate::controls::{Control, Planted};
use leaseproof_engines::faults::Fault;

/// Each must be found broken.
pub(super) static CONTROLS: &[Control] =
    &[Control::new("claim-without-free-guard", &[Planted::Store(Fault::ClaimWithoutFreeGuard)])];
