//! Decisions that shape the project, each with its context and the alternatives that were rejected.

#[doc = include_str!("0001-named-parameters.md")]
pub mod named_parameters {}

#[doc = include_str!("0002-keeper.md")]
pub mod keeper {}

#[doc = include_str!("0003-gated-races.md")]
pub mod gated_races {}

#[doc = include_str!("0004-local-images.md")]
pub mod local_images {}

#[doc = include_str!("0005-database-clock.md")]
pub mod database_clock {}

#[doc = include_str!("0006-claims-name-their-index.md")]
pub mod claims_name_their_index {}

#[doc = include_str!("0007-isolation.md")]
pub mod isolation {}

#[doc = include_str!("0008-benches-below-conformance.md")]
pub mod benches_below_conformance {}

#[doc = include_str!("0009-pooled-connections.md")]
pub mod pooled_connections {}

#[doc = include_str!("0010-turn-about.md")]
pub mod turn_about {}

#[doc = include_str!("0011-peers.md")]
pub mod peers {}
