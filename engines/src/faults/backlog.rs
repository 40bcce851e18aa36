//! Faults of what the backlog counts, as edits of the reference statements.

use super::Edit::*;
use super::parts::of_backlog;
use super::{Edit, Fault};

pub(super) static EDITS: &[(Fault, &[Edit])] = &[
    (Fault::AgesFromDueInstant, &[of_backlog("enqueued_at", "due_at")]),
    (
        Fault::AgesFromNewestEvent,
        &[EitherOf(&[
            &[of_backlog("min(enqueued_at)", "max(enqueued_at)")],
            &[of_backlog("MIN(enqueued_at)", "MAX(enqueued_at)")],
        ])],
    ),
    (
        Fault::BacklogComparesText,
        &[Replace(
            "backlog",
            "lease_until <= :now",
            "CAST(lease_until AS CHAR(32)) <= CAST(:now AS CHAR(32))",
        )],
    ),
    (Fault::CountsDoneEvents, &[of_backlog("state = 'PENDING'", "state <> 'DEAD'")]),
    (Fault::CountsEventsNotDue, &[of_backlog("due_at <= :now AND ", "")]),
    (Fault::CountsEveryLeaseAsLive, &[of_backlog("lease_until > :now", "claim_token IS NOT NULL")]),
    (
        Fault::CountsLeasesAsLiveAtTheirDeadline,
        &[of_backlog("lease_until > :now", "lease_until >= :now")],
    ),
    (Fault::OverlooksEventsDueNow, &[of_backlog("due_at <= :now", "due_at < :now")]),
    (
        Fault::OverlooksExpiredLeasesAsClaimable,
        &[of_backlog("claim_token IS NULL OR lease_until <= :now", "claim_token IS NULL")],
    ),
    (
        Fault::OverlooksFreeEvents,
        &[of_backlog("claim_token IS NULL OR lease_until <= :now", "lease_until <= :now")],
    ),
];
