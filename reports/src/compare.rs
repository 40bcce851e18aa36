//! How two runs compare: what broke and what was fixed, what became slower and what cannot be told.
//!
//! Invariants: pure, so that the same two runs give the same comparison; a run is compared only with
//! what is comparable, and what is not is refused or marked with the reason; what cannot be told is
//! [`Verdict::Inconclusive`], never fine.

mod circumstances;
mod contracts;
mod engines;
mod judge;
mod measurements;
mod pairing;
mod plans;

use serde::Serialize;

pub use contracts::{CaseChange, Change, Contracts};
pub use judge::{Gate, Judgement};
pub use measurements::{CellChange, Measurements, MetricChange, Values};
pub use plans::PlanChange;

use crate::{Loaded, Tool};

/// The `major.minor` version of a comparison's JSON.
pub const COMPARISON_SCHEMA: &str = "1.2";

/// How two runs compare.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Comparison {
    /// The version of this format, `major.minor`.
    pub schema: &'static str,
    /// The run that is compared with.
    pub base: Side,
    /// The run that is judged.
    pub head: Side,
    /// What it amounts to.
    pub verdict: Verdict,
    /// What differs between the runs beside their results, a sentence each.
    pub notes: Vec<String>,
    /// The contracts, when both runs have them.
    pub contracts: Option<Contracts>,
    /// The measurements, when both runs have them.
    pub measurements: Option<Measurements>,
}

/// One of the two runs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Side {
    /// The id of the run.
    pub id: String,
    /// What wrote it.
    pub tool: Tool,
}

/// What a comparison amounts to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    /// Nothing is worse.
    Fine,
    /// Nothing is known to be worse, and not everything could be told.
    Inconclusive,
    /// Something is worse.
    Worse,
}

impl Verdict {
    /// The stable lower-case word of every format.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Fine => "fine",
            Self::Inconclusive => "inconclusive",
            Self::Worse => "worse",
        }
    }
}

/// Why two runs must not be compared.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Incomparable {
    /// One has contracts and the other measurements.
    #[error("one run has only contracts and the other only measurements")]
    Kinds,
    /// No engine is in both.
    #[error(
        "no engine is in both runs: {base} against {head}; each engine is compared with itself only"
    )]
    Engines {
        /// The engines of the base.
        base: String,
        /// The engines of the head.
        head: String,
    },
    /// The profiles differ, and with them how long and how often was measured.
    #[error("the profiles differ: `{base}` against `{head}`")]
    Profiles {
        /// The profile of the base.
        base: String,
        /// The profile of the head.
        head: String,
    },
}

/// Compares `head` with `base`; `gate` says what is worse enough to matter.
///
/// # Errors
///
/// [`Incomparable`] when a comparison would say nothing.
pub fn compare(base: &Loaded, head: &Loaded, gate: Gate) -> Result<Comparison, Incomparable> {
    let mut notes = Vec::new();
    let mut verdict = Verdict::Fine;
    let mut alone = |what: &str, in_base: bool| {
        let side = if in_base { "base" } else { "head" };
        notes.push(format!("only the {side} has {what}; they are not compared"));
        Verdict::Inconclusive
    };
    if base.run.is_some() != head.run.is_some() {
        verdict = verdict.max(alone("contracts", base.run.is_some()));
        verdict = verdict.max(head.run.as_ref().map_or(Verdict::Fine, contracts::alone));
    }
    if base.bench.is_some() != head.bench.is_some() {
        verdict = verdict.max(alone("measurements", base.bench.is_some()));
        verdict = verdict.max(head.bench.as_ref().map_or(Verdict::Fine, measurements::alone));
    }
    let incomplete = incomplete(base, head);
    if !incomplete.is_empty() {
        verdict = verdict.max(Verdict::Inconclusive);
        notes.extend(incomplete);
    }
    let contracts = match (&base.run, &head.run) {
        (Some(base), Some(head)) => Some(contracts::compare(base, head, &mut notes)?),
        _ => None,
    };
    let measurements = match (&base.bench, &head.bench) {
        (Some(base), Some(head)) => Some(measurements::compare(base, head, gate, &mut notes)?),
        _ => None,
    };
    if contracts.is_none() && measurements.is_none() {
        return Err(Incomparable::Kinds);
    }
    // What contracts say of a server, measurements need not say again.
    let all = notes.clone();
    notes.retain(|note| !all.iter().any(|other| other != note && other.starts_with(note.as_str())));
    verdict = verdict.max(contracts.as_ref().map_or(Verdict::Fine, Contracts::verdict));
    verdict = verdict.max(measurements.as_ref().map_or(Verdict::Fine, Measurements::verdict));
    Ok(Comparison {
        schema: COMPARISON_SCHEMA,
        base: side(base),
        head: side(head),
        verdict,
        notes,
        contracts,
        measurements,
    })
}

/// What the runs lack by their own account, a sentence each. Shards are complete beside each other when
/// they are the same part.
fn incomplete(base: &Loaded, head: &Loaded) -> Vec<String> {
    let mut found = Vec::new();
    let shards = |loaded: &Loaded| {
        let of_run = loaded.run.as_ref().and_then(|run| run.shard.as_ref());
        let of_bench = loaded.bench.as_ref().and_then(|bench| bench.shard.as_ref());
        [
            of_run.map(|shard| (shard.index, shard.count)),
            of_bench.map(|shard| (shard.index, shard.count)),
        ]
    };
    if shards(base) != shards(head) {
        found.push("the runs are different shards".to_owned());
    }
    for (name, loaded) in [("base", base), ("head", head)] {
        let left = loaded.bench.as_ref().map_or(0, |bench| bench.left);
        if left > 0 {
            found.push(format!("the {name} was interrupted: {left} repeats were not measured"));
        }
        let partial = loaded.run.as_ref().is_some_and(|run| run.partial.is_some());
        if partial || loaded.bench.as_ref().is_some_and(|bench| bench.partial.is_some()) {
            found.push(format!("the {name} was merged without all of its shards"));
        }
    }
    found
}

fn side(loaded: &Loaded) -> Side {
    let of_run = loaded.run.as_ref().map(|run| &run.tool);
    let tool = of_run.or(loaded.bench.as_ref().map(|bench| &bench.tool)).cloned();
    let tool = tool.unwrap_or(Tool { name: String::new(), version: String::new() });
    Side { id: loaded.id().to_owned(), tool }
}
