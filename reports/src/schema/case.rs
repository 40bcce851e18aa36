//! The result of one contract on one engine in one variant.

use std::{collections::BTreeMap, fmt};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::Outcome;

/// The result of one contract on one engine in one variant.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Case {
    /// The id of the contract, such as `claim/is-exclusive`.
    pub id: String,
    /// The label of the engine, as in `engines[].label`.
    pub engine: String,
    /// How firmly the contract is required.
    pub level: Level,
    /// The variant of the contract, such as `default` or `skip-locked`.
    pub variant: String,
    /// What was observed; the worst of the repeats.
    pub outcome: Outcome,
    /// How long the case took, all repeats together, in milliseconds.
    pub duration_ms: u64,
    /// What was observed, in one sentence.
    pub detail: String,
    /// The seed that reproduces `outcome`; below 2^53, like that of the run.
    #[schemars(range(max = 9_007_199_254_740_991_u64))]
    pub seed: u64,
    /// How many repeats had each outcome; only those that occurred are present.
    pub repeats: BTreeMap<Outcome, u32>,
    /// The excerpt of the history, one line an entry, that shows `outcome`.
    pub evidence: Vec<String>,
    /// The file with the whole history, relative to the run directory.
    #[serde(default)]
    pub history: Option<String>,
    /// The command that runs the case again with its seed.
    #[serde(default)]
    pub replay: Option<String>,
    /// Why a case that is broken, errored or inconclusive is a known failure, as the
    /// known-failures file says it; absent when the case is not listed there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub known: Option<String>,
    /// What was seen beside the outcome, such as `loser`: what the loser of a race was told.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub observations: BTreeMap<String, String>,
}

impl Case {
    /// The key in `observations` of what the loser of a race was told.
    pub const LOSER: &'static str = "loser";

    /// Whether the case is a failure that the known-failures file lists.
    ///
    /// A case that was left out, unsupported or missing is no failure, listed or not.
    #[must_use]
    pub fn is_known_failure(&self) -> bool {
        let is_failure =
            matches!(self.outcome, Outcome::Broken | Outcome::Errored | Outcome::Inconclusive);
        is_failure && self.known.is_some()
    }

    /// What identifies the case in its run: `<contract id>/<engine label>/<variant>`.
    #[must_use]
    pub fn key(&self) -> String {
        format!("{}/{}/{}", self.id, self.engine, self.variant)
    }

    /// The family of the contract: what stands before the first `/` of its id.
    #[must_use]
    pub fn family(&self) -> &str {
        self.id.split('/').next().unwrap_or(&self.id)
    }

    /// The contract and the engine, which the variants of a case have in common.
    pub(crate) fn place(&self) -> (&str, &str) {
        (&self.id, &self.engine)
    }

    /// How many of how many repeats had the outcome of the case, or `None` for a single one.
    #[must_use]
    pub fn repeated(&self) -> Option<(u32, u32)> {
        let of = self.repeats.values().fold(0_u32, |sum, count| sum.saturating_add(*count));
        let with_outcome = self.repeats.get(&self.outcome).copied().unwrap_or(0);
        (of > 1).then_some((with_outcome, of))
    }
}

/// How firmly a contract is required.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "lowercase")]
pub enum Level {
    /// An engine that breaks it must not be adopted.
    Core,
    /// It needs a capability that not every engine has.
    Extended,
    /// It is new and does not count yet.
    Provisional,
}

impl Level {
    /// Every level, the firmest first.
    pub const ALL: [Self; 3] = [Self::Core, Self::Extended, Self::Provisional];

    /// The stable lower-case name that every report uses.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Core => "core",
            Self::Extended => "extended",
            Self::Provisional => "provisional",
        }
    }
}

impl fmt::Display for Level {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(self.as_str())
    }
}

#[cfg(test)]
mod tests {
    use crate::{Level, Outcome, sample};

    #[test]
    fn a_case_knows_its_key_and_family() {
        let case = sample::case("claim/is-exclusive", "postgres:18", Outcome::Kept);
        assert_eq!(case.key(), "claim/is-exclusive/postgres:18/default");
        assert_eq!(case.family(), "claim");
    }

    #[test]
    fn only_a_failure_can_be_a_known_failure() {
        for outcome in Outcome::ALL {
            let mut case = sample::case("claim/is-exclusive", "postgres:18", outcome);
            assert!(!case.is_known_failure(), "{outcome}");
            case.known = Some("the clause is ignored".to_owned());
            let is_failure =
                matches!(outcome, Outcome::Broken | Outcome::Errored | Outcome::Inconclusive);
            assert_eq!(case.is_known_failure(), is_failure, "{outcome}");
        }
    }

    #[test]
    fn a_single_repeat_is_not_worth_a_word() {
        let mut case = sample::case("claim/is-exclusive", "postgres:18", Outcome::Broken);
        assert_eq!(case.repeated(), None);
        case.repeats = [(Outcome::Broken, 3), (Outcome::Kept, 47)].into();
        assert_eq!(case.repeated(), Some((3, 50)));
    }

    #[test]
    fn every_level_is_the_serialised_one() {
        for level in Level::ALL {
            assert_eq!(serde_json::to_value(level).unwrap(), level.as_str());
        }
    }
}
