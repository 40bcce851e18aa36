//! What was seen beside the outcomes: what the loser of a race was told, and everything else.

use std::collections::{BTreeMap, BTreeSet};

use super::variants::in_words;
use crate::{Case, Run};

/// What the loser sees: contracts and variants down, engines across.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Losers<'run> {
    /// The labels of the engines on which a loser was observed, in the order of the run.
    pub(super) engines: Vec<&'run str>,
    /// The rows of each contract together, in the order of the contracts; never empty.
    pub(super) rows: Vec<LoserRow<'run>>,
}

/// The variants of a contract in which every engine answers the same.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct LoserRow<'run> {
    /// The id of the contract.
    pub(super) contract: &'run str,
    /// The variants, in words.
    pub(super) variants: String,
    /// What the loser was told, per engine; `None` where it was not observed.
    pub(super) cells: Vec<Option<&'run str>>,
}

/// Something else that was seen, in some variants of a contract on an engine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Observed<'run> {
    /// The id of the contract.
    pub(super) contract: &'run str,
    /// The label of the engine.
    pub(super) engine: &'run str,
    /// The variants, in words.
    pub(super) variants: String,
    /// What was looked at.
    pub(super) key: &'run str,
    /// What was seen.
    pub(super) value: &'run str,
}

/// What the loser sees, or `None` when no case has observed it.
pub(super) fn losers(run: &Run) -> Option<Losers<'_>> {
    let mut told: BTreeMap<(&str, &str), BTreeMap<&str, &str>> = BTreeMap::new();
    let mut variants: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    let mut observing = BTreeSet::new();
    for case in run.cases.iter().filter(|case| run.engine(&case.engine).is_some()) {
        let Some(loser) = case.observations.get(Case::LOSER) else {
            continue;
        };
        observing.insert(case.engine.as_str());
        told.entry((&case.id, &case.variant)).or_default().insert(&case.engine, loser);
        let variants = variants.entry(&case.id).or_default();
        if !variants.contains(&case.variant.as_str()) {
            variants.push(&case.variant);
        }
    }
    let labels = run.engines.iter().map(|engine| engine.label.as_str());
    let engines: Vec<&str> = labels.filter(|label| observing.contains(label)).collect();
    let mut rows = Vec::new();
    for contract in run.contract_ids() {
        let all = variants.remove(contract).unwrap_or_default();
        let mut groups: Vec<(Vec<Option<&str>>, Vec<&str>)> = Vec::new();
        for variant in &all {
            let told = &told[&(contract, *variant)];
            let cells: Vec<_> = engines.iter().map(|engine| told.get(engine).copied()).collect();
            match groups.iter_mut().find(|(others, _)| *others == cells) {
                Some((_, variants)) => variants.push(variant),
                None => groups.push((cells, vec![variant])),
            }
        }
        rows.extend(groups.into_iter().map(|(cells, variants)| LoserRow {
            contract,
            variants: in_words(&variants, &all),
            cells,
        }));
    }
    (!rows.is_empty()).then_some(Losers { engines, rows })
}

/// Everything that was seen beside the outcomes and is not in [`losers`], in the order of the run.
pub(super) fn others(run: &Run) -> Vec<Observed<'_>> {
    let mut groups: Vec<(&Case, &str, &str, Vec<&str>)> = Vec::new();
    let mut places = BTreeMap::new();
    for case in &run.cases {
        for (key, value) in case.observations.iter().filter(|(key, _)| *key != Case::LOSER) {
            let place = *places.entry((case.place(), key, value)).or_insert(groups.len());
            match groups.get_mut(place) {
                Some((.., variants)) => variants.push(&case.variant),
                None => groups.push((case, key, value, vec![&case.variant])),
            }
        }
    }
    let all = run.variants();
    let mut rows = Vec::new();
    for (case, key, value, variants) in groups {
        let variants = in_words(&variants, &all[&case.place()]);
        rows.push(Observed { contract: &case.id, engine: &case.engine, variants, key, value });
    }
    rows
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Outcome, sample};

    fn observe(run: &mut Run, engine: &str, variant: &str, key: &str, value: &str) {
        let mut case = sample::case("claim/is-exclusive", engine, Outcome::Kept);
        case.variant = variant.to_owned();
        case.observations.insert(key.to_owned(), value.to_owned());
        run.cases.push(case);
    }

    #[test]
    fn variants_with_the_same_answers_share_a_row() {
        let mut run = sample::kept();
        assert_eq!(losers(&run), None);
        for (engine, variant, loser) in [
            ("sqlite", "plain", "BUSY"),
            ("postgres:18", "plain", "zero rows"),
            ("postgres:18", "serializable", "40001 (retryable)"),
            ("postgres:18", "plain database-clock", "zero rows"),
            ("sqlite", "plain database-clock", "BUSY"),
        ] {
            observe(&mut run, engine, variant, Case::LOSER, loser);
        }
        let losers = losers(&run).unwrap();
        assert_eq!(losers.engines, ["postgres:18", "sqlite"]);
        let rows: Vec<_> =
            losers.rows.iter().map(|row| (row.variants.as_str(), row.cells.clone())).collect();
        assert_eq!(
            rows,
            [
                ("plain, plain database-clock", vec![Some("zero rows"), Some("BUSY")]),
                ("serializable", vec![Some("40001 (retryable)"), None]),
            ]
        );
        assert!(others(&run).is_empty());
    }

    #[test]
    fn what_else_was_seen_is_grouped_by_its_value() {
        let mut run = sample::kept();
        for (variant, value) in [("plain", "3"), ("serializable", "4"), ("database-clock", "3")] {
            observe(&mut run, "sqlite", variant, "rows", value);
        }
        let others = others(&run);
        let rows: Vec<_> =
            others.iter().map(|row| (row.variants.as_str(), row.key, row.value)).collect();
        assert_eq!(rows, [("plain, database-clock", "rows", "3"), ("serializable", "rows", "4")]);
        assert_eq!(losers(&run), None);
    }

    #[test]
    fn an_engine_that_the_run_does_not_have_is_no_column() {
        let mut run = sample::kept();
        observe(&mut run, "oracle:23", "plain", Case::LOSER, "zero rows");
        assert_eq!(losers(&run), None);
    }
}
