//! The outcome of a case, and which one wins when several are merged.
//!
//! An outcome is data. Adding a variant changes the major version of the schema, because an older
//! reader cannot read a word it does not know.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What one case showed about one contract on one engine.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "lowercase")]
pub enum Outcome {
    /// The engine kept the promise.
    Kept,
    /// The engine broke the promise, and the history shows it.
    Broken,
    /// The engine lacks a capability that the contract requires; the capability was probed.
    Unsupported,
    /// Somebody asked for the case to be left out.
    Skipped,
    /// The case ran and proves nothing, for example because two transactions never overlapped.
    Inconclusive,
    /// The case failed before it could tell.
    Errored,
    /// The engine was selected and could not be provided.
    Missing,
}

impl Outcome {
    /// Every outcome, in the order in which a report counts them.
    pub const ALL: [Self; 7] = [
        Self::Kept,
        Self::Broken,
        Self::Unsupported,
        Self::Skipped,
        Self::Inconclusive,
        Self::Errored,
        Self::Missing,
    ];

    /// Every outcome, the worst first: the order in which a reader wants them.
    pub const WORST_FIRST: [Self; 7] = [
        Self::Broken,
        Self::Errored,
        Self::Inconclusive,
        Self::Missing,
        Self::Skipped,
        Self::Unsupported,
        Self::Kept,
    ];

    /// The stable lower-case name that every report uses.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Kept => "kept",
            Self::Broken => "broken",
            Self::Unsupported => "unsupported",
            Self::Skipped => "skipped",
            Self::Inconclusive => "inconclusive",
            Self::Errored => "errored",
            Self::Missing => "missing",
        }
    }

    /// How bad it is, without a unit: greater is worse, and [`Outcome::Kept`] is 0.
    ///
    /// It is not the order of the variants, which is the order of the counts in a report.
    #[must_use]
    pub fn severity(self) -> u8 {
        match self {
            Self::Kept => 0,
            Self::Unsupported => 1,
            Self::Skipped => 2,
            Self::Missing => 3,
            Self::Inconclusive => 4,
            Self::Errored => 5,
            Self::Broken => 6,
        }
    }

    /// The worst of `outcomes`, or `None` when there are none: no outcome is not a kept one.
    #[must_use]
    pub fn worst(outcomes: impl IntoIterator<Item = Self>) -> Option<Self> {
        outcomes.into_iter().max_by_key(|outcome| outcome.severity())
    }
}

impl fmt::Display for Outcome {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(self.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn worst_follows_the_documented_order() {
        let mut sorted = Outcome::ALL;
        sorted.sort_by_key(|outcome| std::cmp::Reverse(outcome.severity()));
        assert_eq!(sorted, Outcome::WORST_FIRST);
        for pair in sorted.windows(2) {
            assert_eq!(Outcome::worst([pair[1], pair[0]]), Some(pair[0]));
        }
    }

    #[test]
    fn nothing_has_no_worst() {
        assert_eq!(Outcome::worst([]), None);
    }

    #[test]
    fn every_name_is_the_serialised_one() {
        for outcome in Outcome::ALL {
            let json = serde_json::to_value(outcome).unwrap();
            assert_eq!(json, outcome.as_str());
        }
    }

    #[test]
    fn the_name_honours_a_width() {
        assert_eq!(format!("{:<8}|", Outcome::Kept), "kept    |");
    }
}
