//! Running what was planned, and what is reported of it.

pub mod facts;
pub mod known_failures;
pub mod measured;
pub mod origin;
pub mod probe;
pub mod runner;
pub mod suite;
pub mod summary;
