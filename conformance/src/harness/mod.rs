//! What a contract is given to work with: parties, a clock of its own, latches, stores, findings.

pub mod actor;
pub mod context;
pub mod finding;
pub mod latch;
pub mod party;
pub mod retries;
pub mod standing;
pub mod stores;
pub mod target;

pub(crate) mod edited_store;

mod log;
