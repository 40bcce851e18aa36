//! Every scenario, one file each.

use crate::scenario::Scenario;

macro_rules! scenarios {
    ($($module:ident),+ $(,)?) => {
        /// Every scenario, in report order.
        pub static REGISTRY: &[&dyn Scenario] = &[$(&$module::SCENARIO),+];
    };
}

pub mod backlog_depth;
pub mod calibration;
pub mod claim_scaling;
pub mod crash;
pub mod expiry_storm;
pub mod fault_probe;
pub mod held_snapshot;
pub mod isolation;
pub mod observer_effect;
pub mod open_loop;
pub mod peer_pgbench;
pub mod peer_sqlite_c;
pub mod peer_sysbench;
pub mod process_writers;
pub mod queue_state;
pub mod skip_probe;
pub mod wait_probe;

scenarios! {
    wait_probe,
    skip_probe,
    fault_probe,
    calibration,
    claim_scaling,
    backlog_depth,
    queue_state,
    isolation,
    open_loop,
    held_snapshot,
    process_writers,
    expiry_storm,
    crash,
    observer_effect,
    peer_pgbench,
    peer_sysbench,
    peer_sqlite_c,
}
