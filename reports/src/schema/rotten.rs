//! Entries of the known-failures file that are no longer true.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// An entry of the known-failures file whose cases were all kept, which fails the run: otherwise
/// the entry would hide the next failure.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Rotten {
    /// The entry, in one line; unique in a run.
    pub entry: String,
    /// The reason that the entry gives.
    pub reason: String,
    /// The keys of its cases, all of which were kept: `<contract id>/<engine label>/<variant>`.
    pub kept: Vec<String>,
}
