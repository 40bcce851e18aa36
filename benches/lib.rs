//! What leases cost on a real engine: a load runner, instruments' readings, and scenarios.
//!
//! Invariants: every number was measured on a server in this very run; recording allocates nothing
//! and takes no lock inside the loop that is timed; what an engine does not show is said, not
//! guessed; after each load the store is checked, and a cell in which an event was lost or doubled
//! is no result.

pub mod bystander;
pub mod claim_cycle;
pub mod conditions;
pub mod cycle;
pub mod fixed_work;
pub mod interleaved;
pub mod known_wait;
pub mod load;
pub mod measured;
pub mod peer;
pub mod plan;
pub mod prober;
pub mod process;
pub mod process_work;
pub mod producer;
pub mod profile;
pub mod recorder;
pub mod sampler;
pub mod scenario;
pub mod scenarios;
pub mod server;
pub mod suite;
