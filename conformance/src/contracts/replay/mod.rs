//! The contracts of the family `replay`: one file each, one list.

pub mod applies_effect_once;
pub mod reserves_exactly;
pub mod reserves_with_effect;
pub mod returns_after_lost_ack;
pub mod three_way_race;

crate::contracts::family! { replay, for_each_replay_contract,
    applies_effect_once,
    reserves_exactly,
    reserves_with_effect,
    returns_after_lost_ack,
    three_way_race,
}
