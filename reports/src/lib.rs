//! The schema of a Leaseproof run, its renderings, and the directory that holds them.
//!
//! Invariants: nothing here touches a database, a clock or the network; what is rendered depends
//! on the [`Run`] alone, so the same run gives the same bytes; text that came from an engine is
//! data and is made harmless for the format it is written to, never trusted.

pub mod baseline;
pub mod bench;
pub mod compare;
pub mod digest;
pub mod format;
pub mod history;
pub mod matrix;
pub mod merge;
pub mod outcome;
pub mod run;
pub mod run_dir;
pub mod schema;
pub mod seed;
pub mod stats;
pub mod verify;

mod atomic;
mod report;
mod verdict;

#[cfg(test)]
extern crate self as leaseproof_reports;
#[cfg(test)]
#[path = "../tests/sample/mod.rs"]
mod sample;

pub use matrix::{Cell, Family, Matrix, MatrixRow};
pub use outcome::Outcome;
pub use report::{Loaded, Report};
pub use run::merge_repeats;
pub use run_dir::{ReadError, RunDir, RunDirError};
pub use schema::{
    CapabilityState, Case, ContractInfo, Contradiction, EngineRun, EngineStatus, Host, ImageInfo,
    Level, Listed, Partial, Rotten, Run, SCHEMA, SchemaError, Shard, Summary, Tool,
};
