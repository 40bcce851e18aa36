//! Faults of renewals and confirmations, as edits of the reference statements.

use super::Edit::*;
use super::parts::{AS_FLOAT, CUT, LIVE_BY_LOCAL_TIME};
use super::{Edit, Fault};

pub(super) static EDITS: &[(Fault, &[Edit])] = &[
    (Fault::ConfirmByLocalTime, &[ReplaceGuardByDialect("confirm", "live", LIVE_BY_LOCAL_TIME)]),
    (Fault::ConfirmWithoutLiveGuard, &[DisableGuard("confirm", "live")]),
    (Fault::ConfirmWithoutPendingGuard, &[DisableGuard("confirm", "pending")]),
    (Fault::ConfirmWithoutTokenGuard, &[DisableGuard("confirm", "token")]),
    (Fault::ConfirmationByTheWorkersClock, &[WorkerClock("confirm")]),
    (
        Fault::EqualDeadlineCountsAsRenewal,
        &[ReplaceGuard("renew", "longer", "lease_until <= :until")],
    ),
    (
        Fault::LongerCheckedInASubselect,
        &[ReplaceGuard(
            "renew",
            "longer",
            "event_id IN (SELECT event_id FROM lease_event WHERE lease_until < :until)",
        )],
    ),
    (
        Fault::LongerComparesText,
        &[ReplaceGuard(
            "renew",
            "longer",
            "CAST(lease_until AS CHAR(32)) < CAST(:until AS CHAR(32))",
        )],
    ),
    (
        Fault::OwnershipCheckedByTheApplication,
        &[DisableGuard("renew", "token"), DisableGuard("renew", "live")],
    ),
    (Fault::RenewAtTheDeadline, &[ReplaceGuard("renew", "live", "lease_until >= :now")]),
    (Fault::RenewByEventIdOnly, &[DisableGuard("renew", "token")]),
    (Fault::RenewByLocalTime, &[ReplaceGuardByDialect("renew", "live", LIVE_BY_LOCAL_TIME)]),
    (
        Fault::RenewByTheClockOfTheStatementsStart,
        &[EitherOf(&[
            &[Replace("renew", "clock_timestamp()", "statement_timestamp()")],
            &[Replace("renew", "SYSDATE(6)", "NOW(6)")],
        ])],
    ),
    (
        Fault::RenewByTokenAlone,
        &[Replace("renew", "event_id = :event", "(event_id = :event OR claim_token = :token)")],
    ),
    (
        Fault::RenewComparesText,
        &[ReplaceGuard("renew", "live", "CAST(lease_until AS CHAR(32)) > CAST(:now AS CHAR(32))")],
    ),
    (
        Fault::RenewComparesWholeSeconds,
        &[ReplaceGuard(
            "renew",
            "live",
            "lease_until - lease_until % 1000000 >= :now - :now % 1000000",
        )],
    ),
    (Fault::RenewCutsLongTokens, &[ReplaceGuard("renew", "token", CUT)]),
    (
        Fault::RenewDropsTheFraction,
        &[ReplaceGuard(
            "renew",
            "live",
            "lease_until - lease_until % 1000000 > :now - :now % 1000000",
        )],
    ),
    (
        Fault::RenewEndsIn2038,
        &[ReplaceGuard(
            "renew",
            "live",
            "CASE WHEN lease_until > 2147483647999999 THEN 2147483647999999 ELSE lease_until END > :now",
        )],
    ),
    (Fault::RenewEndsTooEarly, &[ReplaceGuard("renew", "live", "lease_until > :now + 1")]),
    (Fault::RenewForgetsTheSign, &[ReplaceGuard("renew", "live", "ABS(lease_until) > ABS(:now)")]),
    (Fault::RenewJudgesByTheNewDeadline, &[ReplaceGuard("renew", "live", ":until > :now")]),
    (
        Fault::RenewOfWhateverIsClaimed,
        &[ReplaceGuard("renew", "token", "(claim_token = :token OR claim_token IS NOT NULL)")],
    ),
    (Fault::RenewRoundsToFloatingPoint, &[ReplaceGuardByDialect("renew", "live", AS_FLOAT)]),
    (
        Fault::RenewThatChangesNothing,
        &[Replace("renew", "lease_until = :until\n", "lease_until = lease_until + 0 * :until\n")],
    ),
    (Fault::RenewToAnyDeadlineAhead, &[ReplaceGuard("renew", "longer", ":until > :now")]),
    (Fault::RenewToAnyOtherDeadline, &[ReplaceGuard("renew", "longer", "lease_until <> :until")]),
    (
        Fault::RenewWantsAMinimumExtension,
        &[ReplaceGuard("renew", "longer", "lease_until + 1 < :until")],
    ),
    (
        Fault::RenewWithAnEmptyToken,
        &[ReplaceGuard("renew", "token", "(claim_token = :token OR LENGTH(:token) = 0)")],
    ),
    (
        Fault::RenewWithinAGracePeriod,
        &[ReplaceGuard("renew", "live", "lease_until + 5000000 > :now")],
    ),
    (Fault::RenewWithoutLiveGuard, &[DisableGuard("renew", "live")]),
    (Fault::RenewWithoutLongerGuard, &[DisableGuard("renew", "longer")]),
    (Fault::RenewWithoutPendingGuard, &[DisableGuard("renew", "pending")]),
    (Fault::RenewalByTheWorkersClock, &[WorkerClock("renew")]),
    (
        Fault::SkipsAnUpdateThatChangesNothing,
        &[Replace(
            "confirm",
            "lease_until > :now",
            "lease_until > :now AND lease_until <> lease_until",
        )],
    ),
];
