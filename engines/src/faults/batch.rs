//! Faults of claims of batches and what they read, as edits of the reference statements.

use super::Edit::*;
use super::parts::{
    BATCH_WITHOUT_MAXIMUM, BY_INDEX, CHOOSE_THEN_UPDATE, DUE_AS_TEXT, EARLY, FIRST_ATTEMPTS,
    FREE_AS_TEXT, FREE_BY_LOCAL_TIME, IGNORED, LATE, LIMIT_BELOW, LOCKED_FIRST, LOCKING_SUBQUERY,
    LOCKS_A_BLOCK, NOT_ACCEPTED, PLAIN, TAKES_LIVE, WAITS,
};
use super::{Edit, Fault};

pub(super) static EDITS: &[(Fault, &[Edit])] = &[
    (
        Fault::BatchIsLockedBeforeItIsFiltered,
        &[
            EitherOf(&[
                &[Replace("claim_batch_lock", PLAIN, LOCKED_FIRST)],
                &[Replace("claim_batch_lock", BY_INDEX, LOCKED_FIRST)],
            ]),
            Replace("claim_batch_lock", "FOR UPDATE SKIP LOCKED", ""),
        ],
    ),
    (Fault::BatchThatTakesLiveLeases, &[TAKES_LIVE]),
    (Fault::BatchWithoutAMaximum, &[BATCH_WITHOUT_MAXIMUM]),
    (
        Fault::CandidatesAreLockedBeforeTheyAreFiltered,
        &[EitherOf(&[
            &[Replace("candidates", PLAIN, LOCKED_FIRST)],
            &[Replace("candidates", BY_INDEX, LOCKED_FIRST)],
        ])],
    ),
    (
        Fault::CandidatesByLocalTime,
        &[ReplaceGuardByDialect("candidates", "free", FREE_BY_LOCAL_TIME)],
    ),
    (Fault::CandidatesByTheWorkersClock, &[WorkerClock("candidates")]),
    (Fault::CandidatesCompareText, &[ReplaceGuard("candidates", "due", DUE_AS_TEXT)]),
    (
        Fault::CandidatesLockedWithTheirGaps,
        &[Replace("candidates", "LIMIT :limit", "LIMIT :limit FOR UPDATE")],
    ),
    (
        Fault::CandidatesOverlookExpiredLease,
        &[ReplaceGuard("candidates", "free", "claim_token IS NULL")],
    ),
    (
        Fault::CandidatesSkipExpiredSecondAttempts,
        &[ReplaceGuard("candidates", "free", FIRST_ATTEMPTS)],
    ),
    (
        Fault::CandidatesSortText,
        &[Replace("candidates", "ORDER BY due_at", "ORDER BY CAST(due_at AS CHAR(32))")],
    ),
    (Fault::CandidatesThatEndLeasesAMicrosecondLate, &[ReplaceGuard("candidates", "free", LATE)]),
    (Fault::CandidatesWithoutLimit, &[Replace("candidates", "LIMIT :limit", "")]),
    (Fault::CandidatesWithoutPendingGuard, &[DisableGuard("candidates", "pending")]),
    (Fault::ChoiceThatIsNotCheckedAgain, &[Set("claim_batch", CHOOSE_THEN_UPDATE)]),
    (
        Fault::ClaimTakesLiveLease,
        &[DisableGuard("candidates", "free"), DisableGuard("claim", "free")],
    ),
    (
        Fault::ClaimsWithoutPendingGuard,
        &[DisableGuard("candidates", "pending"), DisableGuard("claim", "pending")],
    ),
    (Fault::ClauseThatIsNotAccepted, &[NOT_ACCEPTED]),
    (
        Fault::IndexThatThePlannerPassesOver,
        &[Replace("claim_batch_lock", "FORCE INDEX", "IGNORE INDEX")],
    ),
    (Fault::LimitAfterTheLock, &[LOCKS_A_BLOCK]),
    (Fault::LimitBelowTheLock, &[LIMIT_BELOW]),
    (Fault::LimitInALockingSubquery, &[Set("claim_batch", LOCKING_SUBQUERY)]),
    (Fault::LockClauseThatDoesNothing, &[IGNORED]),
    (
        Fault::LockOfABatchThatEndsLeasesAMicrosecondEarly,
        &[ReplaceGuard("claim_batch_lock", "free", EARLY)],
    ),
    (
        Fault::LockOfABatchThatEndsLeasesAMicrosecondLate,
        &[ReplaceGuard("claim_batch_lock", "free", LATE)],
    ),
    (Fault::LockOfABatchWithoutFreeGuard, &[DisableGuard("claim_batch_lock", "free")]),
    (Fault::LockOfABatchWithoutLimit, &[Replace("claim_batch_lock", "LIMIT :limit", "")]),
    (Fault::LockOfABatchWithoutPendingGuard, &[DisableGuard("claim_batch_lock", "pending")]),
    (Fault::LockThatIsNotTaken, &[Replace("claim_batch_lock", "FOR UPDATE SKIP LOCKED", "")]),
    (Fault::LockThatWaits, &[WAITS]),
    (Fault::LockedBatchComparesText, &[ReplaceGuard("claim_batch_lock", "free", FREE_AS_TEXT)]),
    (
        Fault::LockedBatchOverlooksExpiredLease,
        &[ReplaceGuard("claim_batch_lock", "free", "claim_token IS NULL")],
    ),
    (
        Fault::LockedBatchSkipsExpiredSecondAttempts,
        &[ReplaceGuard("claim_batch_lock", "free", FIRST_ATTEMPTS)],
    ),
    (Fault::ReturningBatchComparesText, &[ReplaceGuard("claim_batch", "due", DUE_AS_TEXT)]),
    (
        Fault::ReturningBatchOverlooksExpiredLease,
        &[ReplaceGuard("claim_batch", "free", "claim_token IS NULL")],
    ),
    (
        Fault::ReturningBatchSkipsExpiredSecondAttempts,
        &[ReplaceGuard("claim_batch", "free", FIRST_ATTEMPTS)],
    ),
    (
        Fault::UpdateReturningThatEndsLeasesAMicrosecondEarly,
        &[ReplaceGuard("claim_batch", "free", EARLY)],
    ),
    (
        Fault::UpdateReturningThatEndsLeasesAMicrosecondLate,
        &[ReplaceGuard("claim_batch", "free", LATE)],
    ),
    (Fault::UpdateReturningWithoutFreeGuard, &[DisableGuard("claim_batch", "free")]),
    (Fault::UpdateReturningWithoutLimit, &[Replace("claim_batch", "LIMIT :limit", "")]),
    (Fault::UpdateReturningWithoutPendingGuard, &[DisableGuard("claim_batch", "pending")]),
];
