//! Stores that break `replay/applies-effect-once`.

use crate::controls::answers::EverNew;
use crate::controls::{Control, Planted};
use crate::worker::WorkerFault;
use leaseproof_engines::faults::Fault;

/// Each must be found broken.
pub(super) static CONTROLS: &[Control] = &[
    Control::new("no-reservation", &[Planted::Worker(WorkerFault::SkipsReservation)])
            .seen_in("hangfire-postgres/Hangfire.PostgreSql#130, HangfireIO/Hangfire#514, Particular/NServiceBus#5648"),
    Control::new("ack-before-effect", &[Planted::Worker(WorkerFault::AcksBeforeEffect)])
            .seen_in("KanishJebaMathewM/Truxify#11209, KanishJebaMathewM/Truxify#13133"),
    Control::new("reserve-always-says-reserved", &[Planted::Session(|| Box::new(EverNew))]),
    Control::new("ledger-without-key", &[Planted::Store(Fault::LedgerWithoutKey)]),
    Control::new("unit-without-transaction", &[Planted::Store(Fault::UnitWithoutTransaction)]),
    Control::new("ack-refuses-second-attempt", &[Planted::Store(Fault::AckRefusesSecondAttempt)]),
];
