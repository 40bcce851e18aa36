//! What will be run: engines, contracts, variants, seeds, and which part of it.

pub mod required;
pub mod shard;
pub mod variant;
