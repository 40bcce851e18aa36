//! The schema of `bench.json`, version [`BENCH_SCHEMA`]: what was measured, cell by cell.
//!
//! Invariants: a minor version only adds fields, each with a default; every map is sorted; a number
//! that an engine cannot show is [`Reading::NotObservable`] with its reason, never 0; a cell whose
//! invariants were violated carries them and is no result.

mod cell;
mod metric;
mod noise;
mod spectrum;
mod validate;

use std::collections::BTreeMap;

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use cell::{Observed, UNMEASURED};
pub(crate) use metric::words;
pub use metric::{Direction, Metric, Nature};
pub use noise::Floor;
pub use spectrum::Spectrum;

use crate::schema::{Host, Partial, Tool};

/// The `major.minor` version of the schema that this crate writes.
pub const BENCH_SCHEMA: &str = "1.2";

/// Between the names of several machines, where parts of one run were measured on different ones.
pub const SEVERAL: &str = " and elsewhere ";

/// One run of the benches.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct BenchRun {
    /// The schema version of this report, `major.minor`.
    pub schema: String,
    /// What wrote the report.
    pub tool: Tool,
    /// The name of the run directory.
    pub id: String,
    /// When the run started, as RFC 3339 in UTC.
    #[schemars(with = "String", extend("format" = "date-time"))]
    pub started: Timestamp,
    /// How long the run took by the wall clock, in milliseconds.
    pub duration_ms: u64,
    /// The command line that reproduces the run, one argument an entry; no password is in it.
    pub command: Vec<String>,
    /// The seed of the run; each repeat of a cell derives its own from it.
    pub seed: u64,
    /// The name of the profile, such as `quick`.
    pub profile: String,
    /// The id of the comparison in which this run and one other were measured turn about; absent when
    /// the run was measured alone. Since 1.1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub turn_about: Option<String>,
    /// Which part of a run this is, when it was split over several jobs. Since 1.1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shard: Option<BenchShard>,
    /// What is absent, when it was joined from its parts and some were missing. Since 1.1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub partial: Option<Partial>,
    /// How many repeats of the plan are absent because the run was interrupted; 0 for one that ended by
    /// itself. Since 1.2.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub left: u32,
    /// The machine on which the clients ran.
    pub host: Host,
    /// What the machine could do while the run lasted.
    pub conditions: Conditions,
    /// The engines that were measured.
    pub engines: Vec<BenchEngine>,
    /// What was measured, in report order.
    pub cells: Vec<BenchCell>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_zero(number: &u32) -> bool {
    *number == 0
}

/// One part of a run of benches that was split. All cells of a scenario on one engine are in the same
/// part: they are read beside each other, and so are measured on one machine.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct BenchShard {
    /// Which part, from 1.
    pub index: u32,
    /// How many parts there are.
    pub count: u32,
    /// How many cells the whole run has.
    pub total: u32,
    /// The place of each of `cells` in the whole run, from 0.
    pub cells: Vec<u32>,
}

/// What a machine could do when it was measured, without which no number means anything.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Conditions {
    /// The processor, in its own words; empty when it could not be read.
    pub cpu: String,
    /// The file system under the scratch directory, such as `ext4`.
    pub file_system: String,
    /// How many times in a second 4 KiB could be written and synced there.
    pub fsyncs_per_s: Option<f64>,
    /// The load average over one minute before the first cell.
    pub load_before: Option<f64>,
    /// The same after the last cell.
    pub load_after: Option<f64>,
}

/// One engine as it was measured.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct BenchEngine {
    /// The engine's stable name.
    pub name: String,
    /// The name its makers write.
    pub title: String,
    /// The version string in the server's own words.
    pub version: String,
    /// Where the server came from.
    pub provider: String,
    /// The default isolation level.
    pub isolation: String,
    /// Settings that decide whether a commit survives a crash.
    pub durability: BTreeMap<String, String>,
    /// Other settings that change how leases behave.
    pub settings: BTreeMap<String, String>,
    /// The counters in which the server's own housekeeping is counted too, such as `wal_bytes`. Since 1.1.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub housekeeping: Vec<String>,
    /// The plans of the statements that were measured.
    pub plans: Vec<Plan>,
}

/// How an engine executes one statement.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Plan {
    /// The name of the statement, such as `claim_batch_lock`.
    pub statement: String,
    /// Its text.
    pub sql: String,
    /// The plan as the engine printed it.
    pub plan: String,
    /// Node types and indexes in order, without costs: equal fingerprints are equal plans.
    pub fingerprint: String,
}

/// One scenario with one set of parameters on one engine.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct BenchCell {
    /// The name of the engine.
    pub engine: String,
    /// The id of the scenario, such as `claim-scaling`.
    pub scenario: String,
    /// What distinguishes the cell within the scenario, such as `workers` and `batch`.
    pub parameters: BTreeMap<String, String>,
    /// The repeats in the order in which they ran; other cells ran in between.
    pub repeats: Vec<Repeat>,
    /// What was violated; a cell with an entry is no result.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub violations: Vec<String>,
}

/// One repeat of a cell, on a store of its own.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Repeat {
    /// The seed of this repeat.
    pub seed: u64,
    /// The place of this repeat among all of the run, from 0.
    pub order: u32,
    /// The group of repeats of both runs that were measured one after the other, from 0; absent when
    /// the run was measured alone. Since 1.1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub group: Option<u32>,
    /// How long the measured window was, in seconds.
    pub seconds: f64,
    /// What was read, by metric, such as `claims_per_s`. Units are last in a name.
    pub readings: BTreeMap<String, Reading>,
    /// Operations that ended in each second of the window.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub series: Vec<u64>,
    /// Latencies of each operation.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub latencies: BTreeMap<String, Latency>,
    /// What each worker finished.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub workers: Vec<u64>,
    /// Errors by code, such as `40001` or `1213`.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub errors: BTreeMap<String, u64>,
    /// Who was seen waiting for whom, and how often, such as `claim waits for claim`.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub blockers: BTreeMap<String, u64>,
}

/// One number, or why there is none.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Reading {
    /// What was read.
    Value(f64),
    /// The engine does not show it; why.
    NotObservable(String),
}

impl Reading {
    /// The number, where there is one.
    #[must_use]
    pub fn value(&self) -> Option<f64> {
        match self {
            Self::Value(value) => Some(*value),
            Self::NotObservable(_) => None,
        }
    }
}

/// The latencies of one operation, in microseconds.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Latency {
    /// How many there are.
    pub count: u64,
    /// The median.
    pub p50_us: f64,
    /// Nine in ten were at most this.
    pub p90_us: f64,
    /// 99 in a hundred.
    pub p99_us: f64,
    /// 999 in a thousand.
    pub p999_us: f64,
    /// The longest.
    pub max_us: f64,
    /// The whole histogram in nanoseconds: HdrHistogram V2, deflated, in base64.
    pub histogram: String,
}

/// The JSON Schema of `bench.json`, as pretty JSON that ends with a newline.
///
/// The published file is `schema/bench-1.json`; a test keeps the two equal.
#[must_use]
pub fn json_schema() -> String {
    crate::schema::pretty(schemars::schema_for!(BenchRun), "urn:leaseproof:bench:1")
}
