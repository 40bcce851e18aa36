//! Stores that break `fence/compares-exactly`.

use crate::controls::{Control, Planted};
use leaseproof_engines::faults::Fault;

/// Each must be found broken.
pub(super) static CONTROLS: &[Control] = &[
    Control::new(
        "renew-under-a-text-collation",
        &[Planted::Store(Fault::RenewUnderATextCollation)],
    )
    .seen_in("indigo-iam/iam#1136"),
    Control::new("ack-under-a-text-collation", &[Planted::Store(Fault::AckUnderATextCollation)]),
    Control::new(
        "confirm-under-a-text-collation",
        &[Planted::Store(Fault::ConfirmUnderATextCollation)],
    ),
    Control::new(
        "release-under-a-text-collation",
        &[Planted::Store(Fault::ReleaseUnderATextCollation)],
    ),
    Control::new(
        "earlier-ack-under-a-text-collation",
        &[Planted::Store(Fault::EarlierAckUnderATextCollation)],
    ),
    Control::new("renew-pads-blanks", &[Planted::Store(Fault::RenewPadsBlanks)])
        .seen_in("indigo-iam/iam#1136"),
    Control::new("ack-pads-blanks", &[Planted::Store(Fault::AckPadsBlanks)]),
    Control::new("earlier-ack-pads-blanks", &[Planted::Store(Fault::EarlierAckPadsBlanks)]),
    Control::new("renew-compares-numbers", &[Planted::Store(Fault::RenewComparesNumbers)])
        .seen_in("laravel/framework#21741, catfan/Medoo#781, pingcap/tidb#22626"),
    Control::new("ack-compares-numbers", &[Planted::Store(Fault::AckComparesNumbers)])
        .seen_in("laravel/framework#21741, catfan/Medoo#781, pingcap/tidb#22626"),
    Control::new("renew-drops-nul", &[Planted::Store(Fault::RenewDropsNul)]),
    Control::new("ack-matches-a-pattern", &[Planted::Store(Fault::AckMatchesAPattern)]),
    Control::new("renew-cuts-long-tokens", &[Planted::Store(Fault::RenewCutsLongTokens)]),
    Control::new("release-cuts-long-tokens", &[Planted::Store(Fault::ReleaseCutsLongTokens)]),
    Control::new("release-by-event-id-alone", &[Planted::Store(Fault::ReleaseByEventIdOnly)]),
];
