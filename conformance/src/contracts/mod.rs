//! The contracts that every engine is held to: a folder for each family, one file for each promise.

use std::sync::LazyLock;

use crate::contract::Contract;

pub mod ack;
pub mod claim;
pub mod fence;
pub mod renew;
pub mod replay;
pub mod stop;
pub mod time;
pub mod unit;

/// Registers the contracts of a family: `family! { family, macro, promise, … }`.
macro_rules! family {
    ($family:ident, $for_each:ident, $($promise:ident),+ $(,)?) => {
        $crate::contracts::family! { @ ($) $family $for_each $($promise)+ }
    };
    (@ ($d:tt) $family:ident $for_each:ident $($promise:ident)+) => {
        /// Every registered contract of the family, in report order.
        pub static CONTRACTS: &[&$crate::contract::Contract] = &[$(&$promise::CONTRACT),+];

        /// The family's name, and the file of every registered contract, in the same order.
        pub static FILES: (&str, &[&str]) = (stringify!($family), &[$(stringify!($promise)),+]);

        /// Invokes `then! { args... family promise }` once for every contract of the family.
        #[macro_export]
        macro_rules! $for_each {
            ($d then:ident! { $d ($d args:tt)* }) => {
                $($d then! { $d ($d args)* $family $promise })+
            };
        }
    };
}
pub(crate) use family;

macro_rules! families {
    ($($family:ident: $for_each:ident),+ $(,)?) => { families! { @ ($) $($family $for_each)+ } };
    (@ ($d:tt) $($family:ident $for_each:ident)+) => {
        /// Every registered contract, in report order.
        pub static REGISTRY: LazyLock<Vec<&'static Contract>> =
            LazyLock::new(|| [$($family::CONTRACTS),+].concat());

        /// Every family with its files, in report order.
        pub static FAMILIES: &[(&str, &[&str])] = &[$($family::FILES),+];

        /// Invokes `then! { args... family promise }` once for every registered contract, in a module
        /// for each family that sees what is around it.
        #[macro_export]
        macro_rules! for_each_contract {
            ($d then:ident! { $d ($d args:tt)* }) => {
                $(mod $family {
                    use super::*;
                    $crate::$for_each! { $d then! { $d ($d args)* } }
                })+
            };
        }
    };
}

families! {
    ack: for_each_ack_contract,
    claim: for_each_claim_contract,
    fence: for_each_fence_contract,
    renew: for_each_renew_contract,
    replay: for_each_replay_contract,
    stop: for_each_stop_contract,
    time: for_each_time_contract,
    unit: for_each_unit_contract,
}
