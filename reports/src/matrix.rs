//! The contracts of a run against its engines.
//!
//! Invariant: a selected engine is a column and a selected contract is a row even when there is
//! no case for them, so that nothing is silently absent.

use std::collections::{BTreeMap, BTreeSet};

use crate::{Case, Outcome, Run};

/// Contracts down, engines across.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Matrix {
    /// The labels of the engines, in the order of the run.
    pub engines: Vec<String>,
    /// One row per contract: those of the run in its order, then others that cases name, sorted.
    pub rows: Vec<MatrixRow>,
}

/// One contract on every engine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MatrixRow {
    /// The id of the contract.
    pub contract: String,
    /// One cell per engine, in the order of [`Matrix::engines`]; `None` when it has no case.
    pub cells: Vec<Option<Cell>>,
}

/// The contracts whose ids begin alike, up to the `/`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Family<'matrix> {
    /// What the ids begin with, without the `/`; empty for ids that have none.
    pub name: &'matrix str,
    /// Its rows, in the order of the matrix.
    pub rows: Vec<&'matrix MatrixRow>,
}

impl Family<'_> {
    /// Whether every variant of every contract ran and was kept, on every engine.
    #[must_use]
    pub fn is_kept(&self) -> bool {
        let mut cells = self.rows.iter().flat_map(|row| &row.cells);
        cells.all(|cell| cell.is_some_and(|cell| cell.worst == Outcome::Kept))
    }

    /// What one line about the whole family is about: its only contract, or how many there are.
    #[must_use]
    pub fn title(&self) -> String {
        match self.rows.as_slice() {
            [row] => row.contract.clone(),
            rows => format!("{} ({} contracts)", self.name, rows.len()),
        }
    }
}

/// All variants of one contract on one engine.
///
/// A failure that nobody expects outweighs every known one, and a known failure outweighs what is
/// no failure: a variant that is kept, unsupported or skipped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cell {
    /// The outcome of the variants that weigh most.
    pub worst: Outcome,
    /// Whether the variants that weigh most are known failures.
    pub known: bool,
    /// How many variants weigh as much; 0 when the whole engine is missing.
    pub at_worst: u32,
    /// How many variants there are; 0 when the whole engine is missing.
    pub variants: u32,
}

impl Cell {
    fn of(outcome: Outcome, known: bool) -> Self {
        Self { worst: outcome, known, at_worst: 0, variants: 0 }
    }

    /// Whether some variant weighs less than what the cell shows.
    #[must_use]
    pub fn is_mixed(self) -> bool {
        self.at_worst < self.variants
    }

    fn add(mut self, case: &Case) -> Self {
        let other = Self::of(case.outcome, case.is_known_failure());
        self.variants += 1;
        if other.weight() > self.weight() {
            (self.worst, self.known, self.at_worst) = (other.worst, other.known, 1);
        } else if other.weight() == self.weight() {
            self.at_worst += 1;
        }
        self
    }

    fn weight(self) -> (bool, bool, u8) {
        let severity = self.worst.severity();
        let is_failure = severity > Outcome::Skipped.severity();
        (is_failure && !self.known, is_failure, severity)
    }
}

impl Matrix {
    /// The variants of `contract` on the engine with the label `engine`.
    #[must_use]
    pub fn get(&self, contract: &str, engine: &str) -> Option<Cell> {
        let column = self.engines.iter().position(|label| label == engine)?;
        let row = self.rows.iter().find(|row| row.contract == contract)?;
        row.cells.get(column).copied().flatten()
    }

    /// The lines of a table that says each thing once, each with its title: the contracts, but of a
    /// family that is kept everywhere one line for all, which is like any of its rows.
    pub(crate) fn lines(&self) -> Vec<(String, &MatrixRow)> {
        let lines = self.families().into_iter().flat_map(|family| match family.is_kept() {
            true => vec![(family.title(), family.rows[0])],
            false => family.rows.iter().map(|row| (row.contract.clone(), *row)).collect(),
        });
        lines.collect()
    }

    /// The rows by family, in the order in which the families first appear.
    #[must_use]
    pub fn families(&self) -> Vec<Family<'_>> {
        let mut families: Vec<Family<'_>> = Vec::new();
        for row in &self.rows {
            let name = row.contract.split_once('/').map_or("", |(family, _)| family);
            match families.iter_mut().find(|family| family.name == name) {
                Some(family) => family.rows.push(row),
                None => families.push(Family { name, rows: vec![row] }),
            }
        }
        families
    }
}

impl Run {
    /// What weighs most among the variants of each contract on each engine.
    ///
    /// On an engine that could not be provided every cell is [`Outcome::Missing`].
    #[must_use]
    pub fn matrix(&self) -> Matrix {
        let mut cells: BTreeMap<(&str, &str), Cell> = BTreeMap::new();
        for case in &self.cases {
            let cell = cells
                .entry((&case.id, &case.engine))
                .or_insert(Cell::of(case.outcome, case.is_known_failure()));
            *cell = cell.add(case);
        }
        let rows = self.contract_ids().into_iter().map(|contract| MatrixRow {
            cells: self
                .engines
                .iter()
                .map(|engine| {
                    let absent = Cell::of(Outcome::Missing, false);
                    let cell = cells.get(&(contract, engine.label.as_str())).copied();
                    cell.or(engine.is_missing().then_some(absent))
                })
                .collect(),
            contract: contract.to_owned(),
        });
        Matrix {
            rows: rows.collect(),
            engines: self.engines.iter().map(|engine| engine.label.clone()).collect(),
        }
    }

    /// Every contract that the run selected or has a case of, each once.
    pub(crate) fn contract_ids(&self) -> Vec<&str> {
        let mut seen = BTreeSet::new();
        let mut ids: Vec<&str> = Vec::new();
        for contract in &self.contracts {
            if seen.insert(contract.id.as_str()) {
                ids.push(&contract.id);
            }
        }
        let named: BTreeSet<&str> = self.cases.iter().map(|case| case.id.as_str()).collect();
        ids.extend(named.difference(&seen));
        ids
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample;

    #[test]
    fn the_worst_variant_fills_the_cell() {
        let mut run = sample::kept();
        let mut case = sample::case("claim/is-exclusive", "sqlite", Outcome::Unsupported);
        case.variant = "skip-locked".to_owned();
        run.cases.push(case);
        let matrix = run.matrix();
        let cell = matrix.get("claim/is-exclusive", "sqlite").unwrap();
        assert_eq!(cell.worst, Outcome::Unsupported);
        assert!(cell.is_mixed());
        assert_eq!((cell.at_worst, cell.variants), (1, 2));
    }

    /// The cell of a contract whose variants had these outcomes, in both orders.
    fn cell(variants: &[(Outcome, bool)]) -> Cell {
        let mut run = sample::kept();
        run.cases = variants
            .iter()
            .enumerate()
            .map(|(number, (outcome, known))| {
                let mut case = sample::case("claim/is-exclusive", "sqlite", *outcome);
                case.variant = format!("variant {number}");
                case.known = known.then(|| "it is known".to_owned());
                case
            })
            .collect();
        let forwards = run.matrix().get("claim/is-exclusive", "sqlite");
        run.cases.reverse();
        assert_eq!(run.matrix().get("claim/is-exclusive", "sqlite"), forwards);
        forwards.unwrap()
    }

    #[test]
    fn what_nobody_expects_outweighs_what_is_known() {
        use Outcome::{Broken, Inconclusive, Kept, Unsupported};
        let unexpected = cell(&[(Broken, true), (Kept, false), (Inconclusive, false)]);
        assert_eq!((unexpected.worst, unexpected.known), (Inconclusive, false));
        assert_eq!((unexpected.at_worst, unexpected.variants), (1, 3));
        let broken = cell(&[(Broken, true), (Broken, false), (Broken, true)]);
        assert_eq!((broken.known, broken.at_worst), (false, 1));
        let known = cell(&[(Inconclusive, true), (Unsupported, false), (Kept, false)]);
        assert_eq!((known.worst, known.known, known.at_worst), (Inconclusive, true, 1));
    }

    #[test]
    fn nothing_selected_is_absent() {
        let mut run = sample::kept();
        run.cases.retain(|case| case.engine != "mysql:9.7" && case.id != "renew/never-shortens");
        run.engines[1].status = crate::EngineStatus::Missing;
        let matrix = run.matrix();
        assert_eq!(matrix.rows.len(), 3);
        let missing = matrix.get("claim/is-exclusive", "mysql:9.7").unwrap();
        assert_eq!((missing.worst, missing.variants), (Outcome::Missing, 0));
        assert_eq!(matrix.get("renew/never-shortens", "sqlite"), None);
    }

    #[test]
    fn a_family_is_kept_when_each_of_its_cells_is() {
        let whole = |run: &Run| -> Vec<(String, bool)> {
            let matrix = run.matrix();
            let families = matrix.families();
            families.iter().map(|family| (family.title(), family.is_kept())).collect()
        };
        let mut run = sample::kept();
        let engines: Vec<String> = run.engines.iter().map(|engine| engine.label.clone()).collect();
        for engine in &engines {
            run.cases.push(sample::case("claim/is-ordered", engine, Outcome::Kept));
        }
        let [claim, ack, renew] = ["claim (2 contracts)", "ack/owner-only", "renew/never-shortens"];
        let expected = |kept: bool| [(claim, kept), (ack, true), (renew, true)];
        let expected = |kept| expected(kept).map(|(title, kept)| (title.to_owned(), kept));
        assert_eq!(whole(&run), expected(true));
        let mut variant = sample::case("claim/is-ordered", "sqlite", Outcome::Unsupported);
        variant.variant = "skip-locked".to_owned();
        run.cases.push(variant);
        assert_eq!(whole(&run), expected(false));
        run.cases.truncate(run.cases.len() - 2);
        assert_eq!(whole(&run), expected(false), "a cell without a case is not kept");
    }

    #[test]
    fn contracts_that_only_cases_name_come_last() {
        let mut run = sample::kept();
        run.contracts.truncate(1);
        let ids: Vec<_> = run.matrix().rows.into_iter().map(|row| row.contract).collect();
        assert_eq!(ids, ["claim/is-exclusive", "ack/owner-only", "renew/never-shortens"]);
    }
}
