//! Faults of the consumer's ledger, as edits of the reference statements.

use super::Edit::*;
use super::parts::{
    FOLDING_LEDGER, PADDING_LEDGER, SHORTENING_LEDGER, WITHOUT_CHECK, WITHOUT_RESERVATION_KEY,
    of_reserve,
};
use super::{Edit, Fault};
use crate::engine::Dialect;

pub(super) static EDITS: &[(Fault, &[Edit])] = &[
    (Fault::ConsumerCutsIds, &[of_reserve("VALUES (:consumer, substr(:event, 1, 200))")]),
    (Fault::ConsumerLowersIds, &[of_reserve("VALUES (:consumer, lower(:event))")]),
    (Fault::IndexWithoutTheOrder, &[Replace("schema", "(state, due_at, event_id)", "(state)")]),
    (Fault::LedgerFoldsCaseOrAccent, &[FOLDING_LEDGER]),
    (Fault::LedgerFoldsConsumers, &[of_reserve("VALUES (lower(:consumer), :event)")]),
    (Fault::LedgerForgetsConsumers, &[of_reserve("VALUES (substr(:consumer, 1, 0), :event)")]),
    (Fault::LedgerIgnoresTrailingBlanks, &[PADDING_LEDGER]),
    (Fault::LedgerShortensIdsInSilence, &[SHORTENING_LEDGER]),
    (Fault::LedgerTakesAllIdsForOne, &[of_reserve("VALUES (:consumer, substr(:event, 1, 0))")]),
    (Fault::LedgerWithoutKey, &[WITHOUT_RESERVATION_KEY]),
    (
        Fault::ReleaseClearsOnlyTheDeadline,
        &[WITHOUT_CHECK, Replace("release", "claim_token = NULL,\n       ", "")],
    ),
    (
        Fault::ReleaseClearsOnlyTheToken,
        &[WITHOUT_CHECK, Replace("release", "lease_until = NULL,\n       ", "")],
    ),
    (
        Fault::SecondMakesProgressIndexWithoutTheOrder,
        &[
            Replace("schema", "(state, due_at, event_id)", "(state)"),
            Replace("claim_batch_lock", "FORCE INDEX (lease_event_claim)", ""),
        ],
    ),
    // On SQLite text has no collation of its own to be taken off, so that its usual one is the reference's.
    (
        Fault::UsualCollation,
        &[EitherOf(&[
            &[Replace(
                "schema",
                "CHARACTER SET utf8mb4 COLLATE utf8mb4_0900_bin",
                "CHARACTER SET utf8mb4",
            )],
            &[Replace(
                "schema",
                "CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin",
                "CHARACTER SET utf8mb4",
            )],
            &[Replace("schema", " COLLATE \"C\"", "")],
            &[],
        ])],
    ),
    (
        Fault::PaddingBinaryCollation,
        &[EitherOf(&[
            &[Replace("schema", "utf8mb4_0900_bin", "utf8mb4_bin")],
            &[Replace("schema", "utf8mb4_nopad_bin", "utf8mb4_bin")],
            &[Only(Dialect::InnoDb)],
        ])],
    ),
    (
        Fault::IndexWithoutOrder,
        &[EitherOf(&[
            &[
                Replace("schema", "(state, due_at, event_id)", "(state)"),
                Replace("claim_batch_lock", "FORCE INDEX (lease_event_claim)", ""),
            ],
            &[Replace("schema", "(state, due_at, event_id)", "(state)")],
        ])],
    ),
];
