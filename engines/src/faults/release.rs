//! Faults of releases, as edits of the reference statements.

use super::Edit::*;
use super::parts::{CUT, NEW_OR_EXPIRED, USES_ATTEMPT};
use super::{Edit, Fault};

pub(super) static EDITS: &[(Fault, &[Edit])] = &[
    (Fault::ReleaseByEventIdOnly, &[DisableGuard("release", "token")]),
    (Fault::ReleaseCutsLongTokens, &[ReplaceGuard("release", "token", CUT)]),
    (
        Fault::ReleaseDefersTheRow,
        &[Replace("release", "SET claim_token", "SET due_at = lease_until, claim_token")],
    ),
    (
        Fault::ReleaseParksTheRow,
        &[Replace("release", "SET claim_token", "SET state = 'DEAD', claim_token")],
    ),
    (
        Fault::ReleaseSkipsRowsThatBecameDueLater,
        &[ReplaceGuard("release", "pending", "state = 'PENDING' AND due_at <= enqueued_at")],
    ),
    (
        Fault::ReleaseSkipsSecondAttempts,
        &[ReplaceGuard("release", "pending", "state = 'PENDING' AND attempt < 2")],
    ),
    (Fault::ReleaseThatCounts, &[Replace("release", "attempt = attempt - 1", "attempt = attempt")]),
    (Fault::ReleaseUsesUpAnAttempt, &[USES_ATTEMPT]),
    (
        Fault::ReleaseWaitsForTheDeadline,
        &[Replace("release", "claim_token = NULL,\n       lease_until = NULL,\n       ", "")],
    ),
    (
        Fault::ReleasedRowIsNeitherNewNorExpiredToCandidates,
        &[USES_ATTEMPT, ReplaceGuard("candidates", "free", NEW_OR_EXPIRED)],
    ),
    (
        Fault::ReleasedRowIsNeitherNewNorExpiredToClaim,
        &[USES_ATTEMPT, ReplaceGuard("claim", "free", NEW_OR_EXPIRED)],
    ),
    (
        Fault::ReleasedRowIsNeitherNewNorExpiredToLockedBatch,
        &[USES_ATTEMPT, ReplaceGuard("claim_batch_lock", "free", NEW_OR_EXPIRED)],
    ),
    (
        Fault::ReleasedRowIsNeitherNewNorExpiredToReturningBatch,
        &[USES_ATTEMPT, ReplaceGuard("claim_batch", "free", NEW_OR_EXPIRED)],
    ),
];
