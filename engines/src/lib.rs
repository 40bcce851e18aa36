//! The database engines that Leaseproof puts under test, and where their servers come from.
//!
//! This crate knows SQL, drivers and servers. It knows no contract and no report.

pub mod bench_statements;
pub mod capability;
pub mod engine;
pub mod error;
pub mod faults;
pub mod instruments;
pub mod lease;
pub mod mariadb;
pub mod mysql;
pub mod postgres;
pub mod servers;
pub mod sqlite;
pub mod statement;
pub mod store;

mod busy;
mod driver;
mod innodb;
mod mysql_protocol;
mod pooled;
mod sandbox;
mod session;
mod vm_steps;

pub use capability::Capability;
pub use engine::{Engine, Identity};
pub use error::{EngineError, ErrorKind};
pub use sandbox::SANDBOX_PREFIX;

/// Loads the named statements of a dialect from `sql/<dialect>/<name>.sql`.
macro_rules! statements {
    ($engine:literal, $($name:ident),+ $(,)?) => {
        $crate::statement::Statements::new(&[$((
            stringify!($name),
            include_str!(concat!("sql/", $engine, "/", stringify!($name), ".sql")),
        )),+])
    };
}
pub(crate) use statements;

macro_rules! engines {
    ($($engine:ident),+ $(,)?) => { engines! { @ ($) $($engine)+ } };
    (@ ($d:tt) $($engine:ident)+) => {
        /// Every registered engine, in report order.
        pub static REGISTRY: &[&dyn Engine] = &[$(&$engine::ENGINE),+];

        /// Invokes `then! { [engine ...] args... }` with every registered engine.
        #[macro_export]
        macro_rules! with_engines {
            ($d then:ident! { $d ($d args:tt)* }) => {
                $d then! { [$($engine)+] $d ($d args)* }
            };
        }
    };
}

engines! {
    mariadb,
    mysql,
    postgres,
    sqlite,
}
