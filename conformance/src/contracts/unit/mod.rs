//! The contracts of the family `unit`: one file each, one list.

pub mod aborted_leaves_nothing;
pub mod classifies_errors;
pub mod declares_write_intent;

crate::contracts::family! { unit, for_each_unit_contract,
    aborted_leaves_nothing,
    classifies_errors,
    declares_write_intent,
}
