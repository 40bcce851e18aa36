//! Faults of transactions, as edits of the reference statements.

use super::Edit::*;
use super::parts::{KEEPS_STATE, LOCKS_THE_TABLE, WITHOUT_TRANSACTION};
use super::{Edit, Fault};

pub(super) static EDITS: &[(Fault, &[Edit])] = &[
    (Fault::ReservesWithEffectRollbackThatCommits, &[Set("rollback", "COMMIT;")]),
    (Fault::RollbackThatCommits, &[Replace("rollback", "ROLLBACK", "COMMIT")]),
    (Fault::StateKeptOnAConnection, &[KEEPS_STATE]),
    (Fault::UnitBeginsAsAReader, &[Set("begin", "BEGIN;")]),
    (Fault::UnitThatLocksTheTable, &[LOCKS_THE_TABLE]),
    (Fault::UnitWithoutTransaction, &[WITHOUT_TRANSACTION]),
];
