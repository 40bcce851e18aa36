//! Faults of what is enqueued, given up and read, as edits of the reference statements.

use super::Edit::*;
use super::parts::REVIVES;
use super::{Edit, Fault};

pub(super) static EDITS: &[(Fault, &[Edit])] = &[
    (
        Fault::BurialOfALiveLease,
        &[DisableGuard("exhausted", "free"), DisableGuard("dead_letter", "free")],
    ),
    (
        Fault::BurialOfWhatIsDone,
        &[DisableGuard("exhausted", "pending"), DisableGuard("dead_letter", "pending")],
    ),
    (Fault::BurialThatFindsNothing, &[ReplaceGuard("dead_letter", "exhausted", "1 = 0")]),
    (Fault::EnqueueByTheWorkersClock, &[WorkerClock("enqueue")]),
    (Fault::EnqueueThatRevivesWhatIsDone, &[REVIVES]),
];
