//! The contracts a database engine must keep before it carries leases, outboxes and job queues.

pub mod checker;
pub mod cli;
pub mod contract;
pub mod contracts;
pub mod controls;
pub mod decide;
pub mod document;
pub mod exit_code;
pub mod harness;
pub mod history;
pub mod plan;
pub mod run;
pub mod worker;
