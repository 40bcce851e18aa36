//! Faults of claims by id, as edits of the reference statements.

use super::Edit::*;
use super::parts::{
    CLAIM_LOCKS, COUNTS_NOTHING, EARLY, FREE_AS_TEXT, FREE_BY_LOCAL_TIME, LATE, NEVER, OWN_ROWS,
    RELEASE_UNLOCKS,
};
use super::{Edit, Fault};

pub(super) static EDITS: &[(Fault, &[Edit])] = &[
    (
        Fault::ClaimAfterTheDeadlineOnly,
        &[ReplaceGuard("claim", "free", "(claim_token IS NULL OR lease_until < :now)")],
    ),
    (Fault::ClaimByALockOfTheSession, &[CLAIM_LOCKS, RELEASE_UNLOCKS]),
    (
        Fault::ClaimByEventIdOnly,
        &[
            DisableGuard("claim", "pending"),
            DisableGuard("claim", "due"),
            DisableGuard("claim", "free"),
        ],
    ),
    (Fault::ClaimByLocalTime, &[ReplaceGuardByDialect("claim", "free", FREE_BY_LOCAL_TIME)]),
    (Fault::ClaimByTheWorkersClock, &[WorkerClock("claim")]),
    (Fault::ClaimComparesText, &[ReplaceGuard("claim", "free", FREE_AS_TEXT)]),
    (Fault::ClaimRefusesExpiredLease, &[ReplaceGuard("claim", "free", "claim_token IS NULL")]),
    (Fault::ClaimThatCountsNothing, &[COUNTS_NOTHING]),
    (Fault::ClaimThatEndsLeasesAMicrosecondEarly, &[ReplaceGuard("claim", "free", EARLY)]),
    (Fault::ClaimThatEndsLeasesAMicrosecondLate, &[ReplaceGuard("claim", "free", LATE)]),
    (
        Fault::ClaimThatKeepsTheWorkersToken,
        &[Replace("claim", "claim_token = :token", "claim_token = COALESCE(claim_token, :token)")],
    ),
    (Fault::ClaimThatNeverTakesOver, &[ReplaceGuard("claim", "free", NEVER)]),
    (Fault::ClaimThatReadmitsTheWorkersOwnRows, &[ReplaceGuard("claim", "free", OWN_ROWS)]),
    (Fault::ClaimWithoutAMaximum, &[DisableGuard("claim", "attempts")]),
    (Fault::ClaimWithoutFreeGuard, &[DisableGuard("claim", "free")]),
    (Fault::ClaimWithoutPendingGuard, &[DisableGuard("claim", "pending")]),
    (
        Fault::ExpiredRowIsClaimableThreeTimes,
        &[ReplaceGuard(
            "claim",
            "free",
            "(claim_token IS NULL OR (lease_until <= :now AND attempt < 3))",
        )],
    ),
];
