//! The schema of `run.json`, version [`SCHEMA`].
//!
//! Invariants: a minor version only adds fields, and each added field has a default, so that a
//! reader of `1.x` reads every `1.y`; unknown fields are ignored; a changed meaning, a removed
//! field or a new word in an enum is a new major version. Every map is sorted.

mod capability;
mod case;
mod engine;
mod rotten;
mod shard;
mod validate;

use std::collections::BTreeMap;

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use capability::{CapabilityState, Contradiction};
pub use case::{Case, Level};
pub use engine::{EngineRun, EngineStatus, ImageInfo};
pub use rotten::Rotten;
pub use shard::{Listed, Partial, Shard};
pub use validate::{SchemaError, check_version};

use crate::Outcome;

/// The `major.minor` version of the schema that this crate writes.
pub const SCHEMA: &str = "1.0";

/// The greatest seed that a report can carry: readers that keep JSON numbers as IEEE doubles
/// lose the last digits of anything greater, and a seed off by one replays another case.
pub const SEED_MAX: u64 = (1 << 53) - 1;

/// One run of the suite: what was asked, where it ran, and what was observed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Run {
    /// The schema version of this report, `major.minor`.
    pub schema: String,
    /// What wrote the report.
    pub tool: Tool,
    /// The name of the run directory, `<time>-<short id>`.
    pub id: String,
    /// When the run started, as RFC 3339 in UTC.
    #[schemars(with = "String", extend("format" = "date-time"))]
    pub started: Timestamp,
    /// How long the run took by the wall clock, in milliseconds.
    pub duration_ms: u64,
    /// The command line that reproduces the run, one argument an entry; no password is in it.
    pub command: Vec<String>,
    /// The seed of the run; below 2^53, so that it is exact in readers that keep doubles.
    #[schemars(range(max = 9_007_199_254_740_991_u64))]
    pub seed: u64,
    /// How often each case was repeated; 1 when it was not.
    pub repeat: u32,
    /// The name of the selection of variants, `default` or `full`.
    #[serde(default = "default_matrix_name")]
    pub matrix_name: String,
    /// The machine on which the runner ran.
    pub host: Host,
    /// The engines that were selected, the missing ones included.
    pub engines: Vec<EngineRun>,
    /// The contracts that were selected.
    pub contracts: Vec<ContractInfo>,
    /// The results, one per contract, engine and variant.
    pub cases: Vec<Case>,
    /// The entries of the known-failures file whose cases were all kept.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub rotten: Vec<Rotten>,
    /// What `cases` and `engines` add up to.
    pub summary: Summary,
    /// Which part of a split run this is; absent for a whole run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shard: Option<Shard>,
    /// What a run that was joined from its parts lacks; absent when it lacks nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub partial: Option<Partial>,
    /// `sha256:` and the digest of everything else, by which a reader sees accidental changes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub digest: Option<String>,
}

/// What wrote a report.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Tool {
    /// The name of the program.
    pub name: String,
    /// The version of the program.
    pub version: String,
}

/// The machine on which the runner ran, which is not always the one of the server.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Host {
    /// The operating system, such as `linux`.
    pub os: String,
    /// The architecture, such as `x86_64`.
    pub arch: String,
    /// The release of the kernel; empty when it could not be read.
    pub kernel: String,
    /// How many processors the runner may use.
    pub cpus: u32,
    /// The memory of the machine, in MiB; 0 when it could not be read.
    pub memory_mib: u64,
}

/// A contract that was selected.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ContractInfo {
    /// The stable id, such as `claim/is-exclusive`.
    pub id: String,
    /// What the contract promises, in one sentence.
    pub promise: String,
    /// How firmly the promise is required.
    pub level: Level,
    /// Where the promise comes from.
    pub source: String,
}

/// What the cases and engines of a run add up to.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Summary {
    /// How many cases had each outcome; every outcome is present when this crate wrote it.
    pub counts: BTreeMap<Outcome, u32>,
    /// How many engines were selected and could not be provided.
    pub missing_engines: u32,
    /// How many cases there are.
    pub total: u32,
    /// How many of the cases are known failures; they are in `counts` with their outcomes too.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub known: u32,
}

fn default_matrix_name() -> String {
    "default".to_owned()
}

fn is_zero(count: &u32) -> bool {
    *count == 0
}

/// The JSON Schema of `run.json`, as pretty JSON that ends with a newline.
///
/// The published file is `schema/run-1.json`; a test keeps the two equal.
#[must_use]
pub fn json_schema() -> String {
    pretty(schemars::schema_for!(Run), "urn:leaseproof:run:1")
}

/// `schema` with its name, as pretty JSON that ends with a newline.
pub(crate) fn pretty(mut schema: schemars::Schema, id: &str) -> String {
    schema.insert("$id".into(), id.into());
    let mut text = serde_json::to_string_pretty(&schema)
        .expect("a JSON Schema is a JSON value with string keys");
    text.push('\n');
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample;

    #[test]
    fn the_schema_states_the_greatest_seed() {
        let schema: serde_json::Value = serde_json::from_str(&json_schema()).unwrap();
        assert_eq!(schema["properties"]["seed"]["maximum"], SEED_MAX);
        assert_eq!(schema["$defs"]["Case"]["properties"]["seed"]["maximum"], SEED_MAX);
    }

    #[test]
    fn what_a_run_does_not_have_is_not_written_and_has_a_default() {
        let run = sample::kept();
        let mut json = serde_json::to_value(&run).unwrap();
        for absent in ["rotten", "known", "observations", "shard", "partial", "digest"] {
            assert!(json.get(absent).is_none(), "{absent}");
            assert!(json["cases"][0].get(absent).is_none(), "{absent}");
            assert!(json["summary"].get(absent).is_none(), "{absent}");
        }
        json.as_object_mut().unwrap().remove("matrix_name");
        let read: Run = serde_json::from_value(json).unwrap();
        assert_eq!(read.matrix_name, "default");
        assert_eq!(read, run);
    }

    #[test]
    fn the_schema_tolerates_fields_of_newer_minors() {
        assert!(!json_schema().contains("additionalProperties\": false"));
    }
}
