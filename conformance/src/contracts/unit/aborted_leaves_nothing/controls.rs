//! Stores that break `unit/aborted-leaves-nothing`.

use crate::controls::transactions::{KeepsHead, TailAlone, TailInNewUnit};
use crate::controls::{Control, Planted};
use leaseproof_engines::faults::Fault;

/// Each must be found broken.
pub(super) static CONTROLS: &[Control] = &[
    Control::new("tail-runs-in-autocommit", &[Planted::Session(|| Box::<TailAlone>::default())])
        .seen_in(
            "civicrm/civicrm-packages#446, roundcube/roundcubemail#7528, mysql-otp/mysql-otp#158",
        ),
    Control::new("tail-runs-in-a-new-unit", &[Planted::Session(|| Box::new(TailInNewUnit))])
        .seen_in("sequelize/sequelize#8352"),
    Control::new(
        "only-the-failed-statement-is-undone",
        &[Planted::Session(|| Box::<KeepsHead>::default())],
    )
    .seen_in("jruby/activerecord-jdbc-adapter#947"),
    Control::new("unit-without-transaction", &[Planted::Store(Fault::UnitWithoutTransaction)]),
    Control::new(
        "rollback-that-commits",
        &[Planted::Store(Fault::ReservesWithEffectRollbackThatCommits)],
    ),
];
