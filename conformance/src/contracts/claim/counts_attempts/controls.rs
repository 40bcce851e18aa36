//! Stores that break `claim/counts-attempts`.

use crate::controls::{Control, Planted};
use leaseproof_engines::faults::Fault;

/// Each must be found broken.
pub(super) static CONTROLS: &[Control] = &[
    Control::new("claim-that-counts-nothing", &[Planted::Store(Fault::ClaimThatCountsNothing)])
        .seen_in(
            "vectorize-io/hindsight#2675, oban-bg/oban#137, digitallyinduced/ihp#2644, \
             nazarli-shabnam/clevis#130, oluciano/NexJob#143",
        ),
    Control::new("release-that-counts", &[Planted::Store(Fault::ReleaseThatCounts)])
        .seen_in("vectorize-io/hindsight#2834"),
    Control::new("claim-without-a-maximum", &[Planted::Store(Fault::ClaimWithoutAMaximum)]),
    Control::new("batch-without-a-maximum", &[Planted::Store(Fault::BatchWithoutAMaximum)]),
    Control::new("burial-of-a-live-lease", &[Planted::Store(Fault::BurialOfALiveLease)]),
    Control::new("burial-of-what-is-done", &[Planted::Store(Fault::BurialOfWhatIsDone)]),
    Control::new("burial-that-finds-nothing", &[Planted::Store(Fault::BurialThatFindsNothing)]),
];
