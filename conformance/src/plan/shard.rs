//! Which cases of a run are run by one job of a CI matrix.
//!
//! Invariants: the split depends on what was asked for alone, never on what could be provided, so
//! that jobs on different machines agree without talking; every case is in exactly one shard, with
//! all its repetitions.

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

use leaseproof_engines::lease::Clock;
use leaseproof_reports::{self as reports, Listed};

use crate::plan::variant::Variant;
use crate::run::suite::{Part, Plan};

/// Part `index` of `count`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shard {
    index: u32,
    count: u32,
}

impl Shard {
    /// Which part, from 1, of how many.
    #[must_use]
    pub fn numbers(self) -> (u32, u32) {
        (self.index, self.count)
    }
}

impl FromStr for Shard {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let wrong = "a shard is `K/N`, such as `2/3`, with K from 1 to N";
        let (index, count) = text.split_once('/').ok_or(wrong)?;
        let number = |text: &str| {
            let plain = !text.is_empty() && text.chars().all(|letter| letter.is_ascii_digit());
            text.parse().ok().filter(|_| plain).ok_or(wrong)
        };
        let (index, count) = (number(index)?, number(count)?);
        if (1..=count).contains(&index) { Ok(Self { index, count }) } else { Err(wrong) }
    }
}

impl fmt::Display for Shard {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}/{}", self.index, self.count)
    }
}

/// A case without its repetitions: the place of its selection, its contract and its variant.
type Key = (usize, &'static str, Variant);

/// The place of every case in the whole run, and the shard that runs it.
pub struct Layout {
    cases: BTreeMap<Key, Planned>,
}

#[derive(Clone, Copy)]
struct Planned {
    place: u32,
    index: u32,
}

impl Layout {
    /// The layout of a plan. Without shards, everything is in the first.
    #[must_use]
    pub fn of(plan: &Plan) -> Self {
        let mut keys: Vec<Key> = Vec::new();
        for (place, selection) in plan.selections.iter().enumerate() {
            for contract in &plan.contracts {
                let variants = Variant::of(contract, selection.engine, plan.matrix);
                keys.extend(variants.into_iter().map(|variant| (place, contract.id, variant)));
            }
        }
        // Cases on the engine's clock take by far the longest, and dealt with the others all of them
        // could go to one shard. Labels are sorted because jobs may name engines in any order.
        let labels: Vec<String> = plan.selections.iter().map(|one| one.label()).collect();
        let mut dealt: Vec<(bool, &str, u32)> = Vec::with_capacity(keys.len());
        for ((engine, _, variant), place) in keys.iter().zip(0..) {
            dealt.push((variant.clock == Clock::Database, &labels[*engine], place));
        }
        dealt.sort_unstable();
        let count = plan.shard.map_or(1, |shard| shard.count);
        let mut cases = BTreeMap::new();
        for ((_, _, place), turn) in dealt.into_iter().zip(0_u32..) {
            let planned = Planned { place, index: turn % count + 1 };
            cases.insert(keys[place as usize], planned);
        }
        Self { cases }
    }

    /// How many cases the whole run has.
    #[must_use]
    pub fn cases(&self) -> usize {
        self.cases.len()
    }

    /// How many cases a shard has.
    #[must_use]
    pub fn cases_of(&self, shard: Shard) -> usize {
        self.cases.values().filter(|planned| planned.index == shard.index).count()
    }

    /// Whether the plan's shard has any case of the selection at this place.
    #[must_use]
    pub fn concerns(&self, plan: &Plan, selection: usize) -> bool {
        let Some(shard) = plan.shard else { return true };
        self.cases.iter().any(|(key, planned)| key.0 == selection && planned.index == shard.index)
    }

    /// Whether the plan's shard has this case.
    #[must_use]
    pub fn has(
        &self,
        plan: &Plan,
        selection: usize,
        contract: &'static str,
        variant: Variant,
    ) -> bool {
        let Some(shard) = plan.shard else { return true };
        let planned = self.cases.get(&(selection, contract, variant));
        planned.is_some_and(|planned| planned.index == shard.index)
    }

    /// What a report says of the shard, or `None` for a whole run.
    #[must_use]
    pub fn report(
        &self,
        plan: &Plan,
        parts: &[Part],
        listed: Vec<Listed>,
    ) -> Option<reports::Shard> {
        let Shard { index, count } = plan.shard?;
        let mut cases = Vec::new();
        for part in parts {
            let run = part.cases.iter();
            let planned = run
                .filter_map(|(job, _)| self.cases.get(&(part.place, job.contract.id, job.variant)));
            cases.extend(planned.map(|planned| planned.place));
        }
        // Repetitions of a case stand together, and a report has one case for all of them.
        cases.dedup();
        let there =
            |place: usize| parts.iter().any(|part| part.place == place && part.server.is_ok());
        let planned =
            self.cases.iter().filter(|(key, planned)| planned.index == index && there(key.0));
        Some(reports::Shard {
            index,
            count,
            total: number(self.cases.len()),
            planned: number(planned.count()),
            engines: parts.iter().map(|part| number(part.place)).collect(),
            cases,
            listed,
        })
    }
}

fn number(count: usize) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use leaseproof_engines::servers::Selection;

    use super::*;
    use crate::contracts::REGISTRY;
    use crate::plan::variant::Matrix;

    fn plan(engines: &[&str], shard: &str) -> Plan {
        Plan {
            selections: engines.iter().map(|text| Selection::parse(text).unwrap()).collect(),
            contracts: REGISTRY.to_vec(),
            seed: 7,
            repeat: 1,
            matrix: Matrix::Full,
            jobs: None,
            controls: false,
            shard: Some(shard.parse().unwrap()),
        }
    }

    /// The cases of a shard by label, whatever the order of the engines.
    fn cases(engines: &[&str], shard: &str) -> Vec<(String, &'static str, Variant)> {
        let plan = plan(engines, shard);
        let layout = Layout::of(&plan);
        let mine = layout.cases.keys().filter(|key| layout.has(&plan, key.0, key.1, key.2));
        let mut mine: Vec<_> =
            mine.map(|key| (plan.selections[key.0].label(), key.1, key.2)).collect();
        mine.sort();
        mine
    }

    #[test]
    fn a_shard_is_two_numbers() {
        assert_eq!("2/3".parse::<Shard>().unwrap().to_string(), "2/3");
        for wrong in ["", "2", "0/3", "4/3", "1/0", "-1/3", "+1/3", "1/ 3", "a/b", "1/2/3"] {
            wrong.parse::<Shard>().unwrap_err();
        }
    }

    #[test]
    fn every_case_is_in_exactly_one_shard_of_about_the_same_size() {
        let engines = ["mysql", "postgres:15", "sqlite"];
        let mut whole = cases(&engines, "1/1");
        let shards: Vec<_> = (1..=7).map(|k| cases(&engines, &format!("{k}/7"))).collect();
        let sizes: Vec<usize> = shards.iter().map(Vec::len).collect();
        assert!(sizes.iter().max().unwrap() - sizes.iter().min().unwrap() <= 1, "{sizes:?}");
        let slow = |shard: &[(String, &str, Variant)]| {
            shard.iter().filter(|case| case.2.clock == Clock::Database).count()
        };
        let slow: Vec<usize> = shards.iter().map(|shard| slow(shard)).collect();
        assert!(slow.iter().max().unwrap() - slow.iter().min().unwrap() <= 1, "{slow:?}");
        let mut joined = shards.concat();
        joined.sort();
        whole.sort();
        assert!(joined == whole, "a case is in no shard or in two");
    }

    #[test]
    fn the_order_of_the_engines_does_not_matter() {
        assert!(cases(&["sqlite", "mysql"], "2/3") == cases(&["mysql", "sqlite"], "2/3"));
    }
}
