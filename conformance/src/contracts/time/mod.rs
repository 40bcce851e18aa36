//! The contracts of the family `time`: one file each, one list.

pub mod instant_keeps_order;
pub mod session_independent;
pub mod uses_one_clock;

crate::contracts::family! { time, for_each_time_contract,
    instant_keeps_order,
    session_independent,
    uses_one_clock,
}
