//! Which part of a run a report holds, when the run was split over several jobs.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Rotten;

/// One part of a run that was split: what it holds of the whole, and what only the whole can judge.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Shard {
    /// Which part, from 1.
    pub index: u32,
    /// How many parts there are.
    pub count: u32,
    /// How many cases the whole run has.
    pub total: u32,
    /// How many cases this part was to run on the engines that were there; `cases` are fewer only
    /// after an interruption.
    pub planned: u32,
    /// The place of each of `engines` in the whole run, from 0.
    pub engines: Vec<u32>,
    /// The place of each of `cases` in the whole run, from 0.
    pub cases: Vec<u32>,
    /// The entries of the known-failures file that list cases of this part. Whether one is no
    /// longer true is judged when the parts are merged.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub listed: Vec<Listed>,
}

/// What a run that was joined from its parts lacks.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Partial {
    /// How many parts the run has.
    pub count: u32,
    /// The parts that are absent or were interrupted, sorted; the first of them when there are many.
    pub missing: Vec<u32>,
}

/// An entry of the known-failures file, and what became of the cases that it lists.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Listed {
    /// The place of the entry among all entries, from 0.
    pub number: u32,
    /// The entry, in one line.
    pub entry: String,
    /// The reason that the entry gives.
    pub reason: String,
    /// The keys of its cases that were kept.
    pub kept: Vec<String>,
    /// The keys of its cases that failed.
    pub failing: Vec<String>,
}

impl Listed {
    /// The entry as one that is no longer true: cases that it lists were kept and none failed.
    #[must_use]
    pub fn rotten(&self) -> Option<Rotten> {
        let Self { entry, reason, kept, failing, .. } = self;
        let is_rotten = failing.is_empty() && !kept.is_empty();
        is_rotten.then(|| Rotten {
            entry: entry.clone(),
            reason: reason.clone(),
            kept: kept.clone(),
        })
    }
}
