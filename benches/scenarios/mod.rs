//! Every scenario, one file each.

use crate::scenario::Scenario;

macro_rules! scenarios {
    ($($module:ident),+ $(,)?) => {
        /// Every scenario, in report order.
        pub static REGISTRY: &[&dyn Scenario] = &[$(&$module::SCENARIO),+];
    };
}

pub mod claim_scaling;
pub mod skip_probe;
pub mod wait_probe;

scenarios! {
    wait_probe,
    skip_probe,
    claim_scaling,
}
