//! Which engines and contracts a command line means.

use std::num::NonZeroUsize;

use clap::Args;
use leaseproof_benches::scenario::Scenario;
use leaseproof_benches::scenarios;
use leaseproof_engines::servers::Selection;
use leaseproof_reports::Level;

use super::error::CliError;
use crate::contract::Contract;
use crate::contracts::REGISTRY;
use crate::plan::variant::Matrix;

/// The options that commands share.
#[derive(Args, Clone)]
pub(super) struct Select {
    /// An engine, or one version of it: `postgres`, `postgres:15`; may be repeated. Without it,
    /// every engine that can be provided
    #[arg(long = "engine", value_name = "ENGINE[:VERSION]")]
    pub(super) engines: Vec<String>,
    /// The contracts, as a pattern over their ids: `claim/*`; may be repeated
    #[arg(long = "contract", value_name = "GLOB")]
    pub(super) contracts: Vec<String>,
    /// Only contracts of this level; may be repeated
    #[arg(long = "level", value_name = "LEVEL", value_parser = level)]
    pub(super) levels: Vec<Level>,
    /// How many cases run at once on each engine [default: 4, on an embedded engine 8]
    #[arg(long, value_name = "N")]
    pub(super) jobs: Option<NonZeroUsize>,
}

fn level(text: &str) -> Result<Level, String> {
    let found = Level::ALL.into_iter().find(|level| level.as_str() == text);
    found.ok_or_else(|| "levels are `core`, `extended` and `provisional`".to_owned())
}

impl Select {
    /// Only engines, for commands that run no contract.
    pub(super) fn engines(engines: &[String]) -> Self {
        Self { engines: engines.to_vec(), contracts: Vec::new(), levels: Vec::new(), jobs: None }
    }

    /// The engines named, or every registered one; whether they were named.
    pub(super) fn selections(&self) -> Result<(Vec<Selection>, bool), CliError> {
        if self.engines.is_empty() {
            let all = leaseproof_engines::REGISTRY.iter();
            return Ok((all.map(|engine| Selection::of(*engine)).collect(), false));
        }
        if self.engines.iter().all(|text| text.trim().is_empty()) {
            // As from a variable that is not set: nothing is meant, and everything must not be run.
            return Err(Selection::parse("")
                .map(drop)
                .expect_err("no engine is without a name")
                .into());
        }
        let mut selections: Vec<Selection> = Vec::new();
        for text in self
            .engines
            .iter()
            .flat_map(|text| text.split([',', ' ']))
            .filter(|text| !text.is_empty())
        {
            let selection = Selection::parse(text)?;
            if selections.iter().all(|known| known.label() != selection.label()) {
                selections.push(selection);
            }
        }
        match selections.is_empty() {
            true => Err(CliError::NoEngine),
            false => Ok((selections, true)),
        }
    }

    /// The contracts that match every option, in registry order.
    pub(super) fn contracts(&self) -> Result<Vec<&'static Contract>, CliError> {
        let mut patterns = Vec::new();
        for text in &self.contracts {
            let pattern = glob::Pattern::new(text)
                .map_err(|source| CliError::Pattern { pattern: text.clone(), source })?;
            let of_level = |contract: &&&Contract| {
                self.levels.is_empty() || self.levels.contains(&contract.level)
            };
            if !REGISTRY.iter().filter(of_level).any(|contract| pattern.matches(contract.id)) {
                return Err(CliError::NoContract {
                    pattern: text.clone(),
                    level: self.levels.first().copied(),
                    nearest: nearest(text, REGISTRY.iter().map(|contract| contract.id)),
                });
            }
            patterns.push(pattern);
        }
        let chosen: Vec<_> = REGISTRY
            .iter()
            .copied()
            .filter(|contract| {
                patterns.is_empty() || patterns.iter().any(|pattern| pattern.matches(contract.id))
            })
            .filter(|contract| self.levels.is_empty() || self.levels.contains(&contract.level))
            .collect();
        match chosen.is_empty() {
            true => Err(CliError::NoContract {
                pattern: "*".to_owned(),
                level: self.levels.first().copied(),
                nearest: None,
            }),
            false => Ok(chosen),
        }
    }
}

/// The id that is most like what was typed, if it is much like it.
fn nearest(text: &str, ids: impl Iterator<Item = &'static str>) -> Option<&'static str> {
    const ALIKE: f64 = 0.6;
    let likeness = |id: &str| strsim::normalized_levenshtein(text, id);
    let best = ids.max_by(|one, other| likeness(one).total_cmp(&likeness(other)))?;
    // An exact id is no correction: then it was another option that excluded it.
    (likeness(best) >= ALIKE && best != text).then_some(best)
}

/// The scenarios that match any of the patterns, or without any those that `unnamed` picks, in report
/// order.
pub(super) fn scenarios_of(
    patterns: &[String],
    unnamed: fn(&dyn Scenario) -> bool,
) -> Result<Vec<&'static dyn Scenario>, CliError> {
    let mut compiled = Vec::new();
    for text in patterns {
        let pattern = glob::Pattern::new(text)
            .map_err(|source| CliError::Pattern { pattern: text.clone(), source })?;
        if !scenarios::REGISTRY.iter().any(|scenario| pattern.matches(scenario.id())) {
            let ids = scenarios::REGISTRY.iter().map(|scenario| scenario.id());
            let nearest = nearest(text, ids);
            return Err(CliError::NoScenario { pattern: text.clone(), nearest });
        }
        compiled.push(pattern);
    }
    let wanted = |scenario: &&'static dyn Scenario| {
        compiled.is_empty() && unnamed(*scenario)
            || compiled.iter().any(|pattern| pattern.matches(scenario.id()))
    };
    Ok(scenarios::REGISTRY.iter().copied().filter(wanted).collect())
}

/// The matrix that is called so.
pub(super) fn matrix(text: &str) -> Result<Matrix, String> {
    let found = [Matrix::Default, Matrix::Full].into_iter().find(|matrix| matrix.as_str() == text);
    found.ok_or_else(|| "matrices are `default` and `full`".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn select(engines: &[&str], contracts: &[&str]) -> Select {
        Select {
            engines: engines.iter().map(|text| (*text).to_owned()).collect(),
            contracts: contracts.iter().map(|text| (*text).to_owned()).collect(),
            levels: Vec::new(),
            jobs: None,
        }
    }

    #[test]
    fn one_option_may_name_several_engines_and_none_twice() {
        let (selections, named) =
            select(&["sqlite postgres:15", "postgres:15"], &[]).selections().unwrap();
        let labels: Vec<_> = selections.iter().map(Selection::label).collect();
        assert_eq!(labels, ["sqlite", "postgres:15"]);
        assert!(named);
    }

    #[test]
    fn an_unknown_contract_names_the_nearest() {
        let error = select(&[], &["claim/is-exclusiv"]).contracts().err().unwrap();
        let nearest = Some("claim/is-exclusive");
        assert!(matches!(&error, CliError::NoContract { nearest: found, .. } if *found == nearest));
        assert_eq!(error.exit(), crate::exit_code::Exit::NothingSelected);
    }

    #[test]
    fn a_family_is_selected_by_a_pattern() {
        let chosen = select(&[], &["renew/*"]).contracts().unwrap();
        assert!(!chosen.is_empty());
        assert!(chosen.iter().all(|contract| contract.family() == "renew"));
    }
}
