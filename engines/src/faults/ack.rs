//! Faults of acks, as edits of the reference statements.

use super::Edit::*;
use super::parts::LIVE_BY_LOCAL_TIME;
use super::{Edit, Fault};

pub(super) static EDITS: &[(Fault, &[Edit])] = &[
    (Fault::AckAtTheDeadline, &[ReplaceGuard("ack", "live", "lease_until >= :now")]),
    (Fault::AckByLocalTime, &[ReplaceGuardByDialect("ack", "live", LIVE_BY_LOCAL_TIME)]),
    (
        Fault::AckByTheClockOfTheStatementsStart,
        &[EitherOf(&[
            &[Replace("ack", "clock_timestamp()", "statement_timestamp()")],
            &[Replace("ack", "SYSDATE(6)", "NOW(6)")],
        ])],
    ),
    (Fault::AckByTheWorkersClock, &[WorkerClock("ack")]),
    (
        Fault::AckByTokenAlone,
        &[Replace("ack", "event_id = :event", "(event_id = :event OR claim_token = :token)")],
    ),
    (
        Fault::AckComparesWholeSeconds,
        &[ReplaceGuard(
            "ack",
            "live",
            "lease_until - lease_until % 1000000 >= :now - :now % 1000000",
        )],
    ),
    (Fault::AckEndsTooEarly, &[ReplaceGuard("ack", "live", "lease_until > :now + 1")]),
    (
        Fault::AckForgetsWhoAcked,
        &[Replace(
            "ack",
            "SET state = 'DONE'",
            "SET state = 'DONE', claim_token = NULL, lease_until = NULL",
        )],
    ),
    (Fault::AckLivesForTheFirstLease, &[ReplaceGuard("ack", "live", ":now < 9000000000")]),
    (
        Fault::AckOfAReleasedEvent,
        &[
            ReplaceGuard("ack", "token", "(claim_token = :token OR claim_token IS NULL)"),
            ReplaceGuard("ack", "live", "(lease_until > :now OR lease_until IS NULL)"),
        ],
    ),
    (
        Fault::AckOfAnEventThatNobodyOwns,
        &[
            ReplaceGuard("ack", "token", "(claim_token = :token OR claim_token IS NULL)"),
            ReplaceGuard("ack", "live", "(lease_until > :now OR lease_until IS NULL)"),
        ],
    ),
    (
        Fault::AckOverwritesAFinishedEvent,
        &[DisableGuard("ack", "token"), ReplaceGuard("ack", "pending", "state = 'DONE'")],
    ),
    (
        Fault::AckRefusesSecondAttempt,
        &[ReplaceGuard("ack", "live", "lease_until > :now AND attempt < 2")],
    ),
    (Fault::AckThatChangesNothing, &[Replace("ack", "SET state = 'DONE'", "SET state = state")]),
    (Fault::AckThatGivesUp, &[Replace("ack", "SET state = 'DONE'", "SET state = 'DEAD'")]),
    (
        Fault::AckWithAnEmptyToken,
        &[ReplaceGuard("ack", "token", "(claim_token = :token OR LENGTH(:token) = 0)")],
    ),
    (Fault::AckWithinAGracePeriod, &[ReplaceGuard("ack", "live", "lease_until + 5000000 > :now")]),
    (
        Fault::AckWithinTheFirstLeaseOnly,
        &[ReplaceGuard("ack", "live", "lease_until > :now AND :now < 9000000000")],
    ),
    (Fault::AckWithoutLiveGuard, &[DisableGuard("ack", "live")]),
    (Fault::AckWithoutTokenGuard, &[DisableGuard("ack", "token")]),
    (Fault::ExpiredOwnerLearnsAlreadyAcked, &[DisableGuard("acked_by", "done")]),
    (
        Fault::RejectsDoneAckThatChangesNothing,
        &[Replace("ack", "state = 'DONE'", "state = 'PENDING'")],
    ),
    (Fault::RepeatedAckCountsAsNew, &[DisableGuard("ack", "pending")]),
    (Fault::RepeatedAckIsRefused, &[ReplaceGuard("acked_by", "done", "1 = 0")]),
    (
        Fault::RepeatedAckIsRefusedAfterTheDeadline,
        &[ReplaceGuard("acked_by", "done", "state = 'DONE' AND lease_until > :now")],
    ),
    (Fault::StaleWorkerLearnsAlreadyAcked, &[DisableGuard("acked_by", "token")]),
];
