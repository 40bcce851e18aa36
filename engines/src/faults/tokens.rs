//! Faults of how tokens are compared, as edits of the reference statements.

use super::parts::{COLLATED, NUMERIC, PADDED, PATTERN, WITHOUT_NUL, by_dialect};
use super::{Edit, Fault};

pub(super) static EDITS: &[(Fault, &[Edit])] = &[
    (Fault::AckComparesNumbers, &[by_dialect("ack", NUMERIC)]),
    (Fault::AckMatchesAPattern, &[by_dialect("ack", PATTERN)]),
    (Fault::AckPadsBlanks, &[by_dialect("ack", PADDED)]),
    (Fault::AckUnderATextCollation, &[by_dialect("ack", COLLATED)]),
    (Fault::ConfirmUnderATextCollation, &[by_dialect("confirm", COLLATED)]),
    (Fault::EarlierAckPadsBlanks, &[by_dialect("acked_by", PADDED)]),
    (Fault::EarlierAckUnderATextCollation, &[by_dialect("acked_by", COLLATED)]),
    (Fault::ReleaseUnderATextCollation, &[by_dialect("release", COLLATED)]),
    (Fault::RenewComparesNumbers, &[by_dialect("renew", NUMERIC)]),
    (Fault::RenewDropsNul, &[by_dialect("renew", WITHOUT_NUL)]),
    (Fault::RenewPadsBlanks, &[by_dialect("renew", PADDED)]),
    (Fault::RenewUnderATextCollation, &[by_dialect("renew", COLLATED)]),
];
