//! The contracts a database engine must keep before it carries leases, outboxes and job queues.

pub mod actor;
pub mod checker;
pub mod cli;
pub mod context;
pub mod contract;
pub mod contracts;
pub mod decisions;
pub mod document;
pub mod exit_code;
pub mod facts;
pub mod gate;
pub mod history;
pub mod known_failures;
pub mod probe;
pub mod row;
pub mod runner;
pub mod sabotage;
pub mod shard;
pub mod suite;
pub mod summary;
pub mod unit;
pub mod variant;
pub mod worker;

mod altered;
