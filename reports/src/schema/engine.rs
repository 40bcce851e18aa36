//! How a run identifies an engine: what was asked for, what was there, and how it was set up.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{CapabilityState, Contradiction};

/// One selected engine.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct EngineRun {
    /// The selection, such as `postgres:18`; unique in a run, and what `cases[].engine` names.
    pub label: String,
    /// The name of the engine, such as `postgres`.
    pub name: String,
    /// The version that was asked for, such as `18`.
    pub requested: String,
    /// The version as the server says it; empty when the engine is missing.
    pub version: String,
    /// Whether the engine could be provided.
    pub status: EngineStatus,
    /// Why the engine is missing.
    #[serde(default)]
    pub reason: Option<String>,
    /// What makes a missing engine available.
    #[serde(default)]
    pub remedy: Option<String>,
    /// Where the server came from, such as `container`; empty when the engine is missing.
    pub provider: String,
    /// The image that was run, when there was one.
    #[serde(default)]
    pub image: Option<ImageInfo>,
    /// The isolation level as the server says it; empty when the engine is missing.
    pub isolation: String,
    /// Where the time of lease operations comes from, such as `logical`.
    pub clock: String,
    /// Whether the connection was encrypted; absent when that has no meaning.
    #[serde(default)]
    pub tls: Option<bool>,
    /// The settings that decide whether a commit survives a crash, as the server says them.
    pub durability: BTreeMap<String, String>,
    /// The other settings that matter, as the server says them.
    pub settings: BTreeMap<String, String>,
    /// The capabilities, as the engine declares them and as they were probed.
    pub capabilities: BTreeMap<String, CapabilityState>,
    /// What was measured in which engines differ and none is wrong: the fact, and what was seen.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub facts: BTreeMap<String, String>,
}

/// Whether a selected engine could be provided.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum EngineStatus {
    /// The engine ran.
    Ready,
    /// The engine could not be provided.
    Missing,
}

/// The image from which a server was started.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ImageInfo {
    /// The name and tag.
    pub name: String,
    /// The digest; empty for an image that has none.
    pub digest: String,
    /// The suite of the distribution, such as `trixie`.
    #[serde(default)]
    pub suite: Option<String>,
    /// The packages that make up the server, as `name=version`.
    pub packages: Vec<String>,
}

impl EngineRun {
    /// Whether the engine could not be provided.
    #[must_use]
    pub fn is_missing(&self) -> bool {
        self.status == EngineStatus::Missing
    }

    /// The capabilities whose declaration reality contradicts, with their names, sorted.
    pub fn contradictions(&self) -> impl Iterator<Item = (Contradiction, &str, &CapabilityState)> {
        self.capabilities
            .iter()
            .filter_map(|(name, state)| Some((state.contradiction()?, name.as_str(), state)))
    }
}
