//! How much equal things differ on this machine, without which no difference means anything.

use std::collections::BTreeMap;

use super::{BenchCell, BenchRun, Observed};
use crate::stats::{Difference, Estimate};

/// The scenario with the arms of an A/A test.
const CALIBRATION: &str = "calibration";
/// The parameter that tells the arms of an A/A test apart; everything else is equal in them.
const ARM: &str = "arm";
/// How many repeats a cell needs before its halves say something.
const REPEATS: usize = 4;
/// The share of identical pairs that differ by less than the floor.
const SHARE: f64 = 0.95;

/// How much the same thing differed from itself.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Floor {
    /// The relative difference that 95 of 100 identical pairs stayed below, such as `0.08`.
    pub relative: f64,
    /// How many pairs there were.
    pub pairs: usize,
    /// Whether the pairs are arms of an A/A test, and not the halves of each cell's repeats.
    pub arms: bool,
}

impl BenchRun {
    /// The A/A floor of `metric` on `engine`: from arms where there are any, and otherwise from
    /// the first and second half of the repeats of each cell.
    #[must_use]
    pub fn floor(&self, engine: &str, metric: &str) -> Option<Floor> {
        let cells = self.cells.iter().filter(|cell| cell.engine == engine && cell.is_result());
        let of_halves = || floor_of(cells.filter_map(|cell| halves(cell, metric)).collect(), false);
        self.floor_of_arms(engine, metric).or_else(of_halves)
    }

    /// The A/A floor of `metric` on `engine` when the run has an A/A test of its own.
    #[must_use]
    pub fn floor_of_arms(&self, engine: &str, metric: &str) -> Option<Floor> {
        let cells = self.cells.iter().filter(|cell| cell.engine == engine && cell.is_result());
        floor_of(arms(cells, metric), true)
    }

    /// The A/A floor of `metric` on `engine` when the run was measured turn about with another: the
    /// first repeat of every group beside the second, cell by cell, as if they were two servers.
    #[must_use]
    pub fn floor_of_turns(&self, engine: &str, metric: &str) -> Option<Floor> {
        let cells = self.cells.iter().filter(|cell| cell.engine == engine && cell.is_result());
        let of_cell = |cell: &BenchCell| {
            let groups = cell.in_groups(metric).into_values();
            let pairs = groups.filter_map(|values| Some((*values.first()?, *values.get(1)?)));
            let (first, second): (Vec<f64>, Vec<f64>) = pairs.unzip();
            let ratio = Difference::paired(&first, &second)?.ratio?;
            (ratio > 0.0).then(|| ratio.ln().abs().exp() - 1.0)
        };
        floor_of(cells.filter_map(of_cell).collect(), true)
    }

    /// The smallest change of `metric` that a comparison with as many repeats would show, the
    /// median over the cells of `engine`.
    #[must_use]
    pub fn detectable(&self, engine: &str, metric: &str) -> Option<f64> {
        let cells = self.cells.iter().filter(|cell| cell.engine == engine && cell.is_result());
        let mut all: Vec<f64> = cells.filter_map(|cell| cell.detectable(metric)).collect();
        all.sort_by(f64::total_cmp);
        all.get(all.len() / 2).copied()
    }
}

impl BenchCell {
    /// The smallest change of `metric` that a comparison of the cell with as many repeats shows.
    #[must_use]
    pub fn detectable(&self, metric: &str) -> Option<f64> {
        let values = values(self, metric)?;
        Difference::of(&values, &values)?.detectable
    }
}

fn values(cell: &BenchCell, metric: &str) -> Option<Vec<f64>> {
    match cell.metric(metric)? {
        Observed::Values(values) => Some(values),
        Observed::NotObservable(_) => None,
    }
}

fn is_arm(cell: &&BenchCell) -> bool {
    cell.scenario == CALIBRATION && cell.parameters.contains_key(ARM)
}

fn arms<'run>(cells: impl Iterator<Item = &'run BenchCell>, metric: &str) -> Vec<f64> {
    let mut groups: BTreeMap<_, Vec<f64>> = BTreeMap::new();
    for cell in cells.filter(is_arm) {
        let mut others = cell.parameters.clone();
        others.remove(ARM);
        let mean = values(cell, metric).and_then(|values| Estimate::of(&values));
        groups
            .entry((cell.scenario.as_str(), others))
            .or_default()
            .extend(mean.map(|estimate| estimate.mean));
    }
    let pairs = groups.values().flat_map(|means| means.windows(2));
    pairs.filter_map(|pair| apart(pair[0], pair[1])).collect()
}

fn halves(cell: &BenchCell, metric: &str) -> Option<f64> {
    let mut repeats = cell.repeats.clone();
    repeats.sort_by_key(|repeat| repeat.order);
    let sorted = BenchCell { repeats, ..BenchCell::default() };
    let values = values(&sorted, metric).filter(|values| values.len() >= REPEATS)?;
    let (first, second) = values.split_at(values.len() / 2);
    apart(Estimate::of(first)?.mean, Estimate::of(second)?.mean)
}

fn apart(first: f64, second: f64) -> Option<f64> {
    let positive = first > 0.0 && second > 0.0;
    positive.then(|| (second / first).ln().abs().exp() - 1.0)
}

fn floor_of(mut differences: Vec<f64>, arms: bool) -> Option<Floor> {
    differences.sort_by(f64::total_cmp);
    let pairs = differences.len();
    let place = ((pairs as f64 * SHARE).ceil() as usize).clamp(1, pairs.max(1)) - 1;
    differences.get(place).map(|relative| Floor { relative: *relative, pairs, arms })
}

#[cfg(test)]
mod tests {
    use crate::{bench::Reading, sample};

    #[test]
    fn a_floor_comes_from_halves_unless_there_are_arms() {
        let mut run = sample::bench();
        let floor = run.floor("sqlite", "claims_per_s").unwrap();
        assert!(!floor.arms && floor.pairs == 12, "{floor:?}");
        assert!(floor.relative > 0.0 && floor.relative < 0.2, "{floor:?}");
        assert_eq!(run.floor("sqlite", "skipped_rows_per_claim"), None);
        for (number, cell) in run.cells[12..14].iter_mut().enumerate() {
            "calibration".clone_into(&mut cell.scenario);
            cell.parameters = [("arm".to_owned(), number.to_string())].into();
            let rate = Reading::Value(if number == 0 { 100.0 } else { 80.0 });
            for repeat in &mut cell.repeats {
                repeat.readings.insert("claims_per_s".to_owned(), rate.clone());
            }
        }
        let floor = run.floor("sqlite", "claims_per_s").unwrap();
        assert!(floor.arms && floor.pairs == 1, "{floor:?}");
        assert!((floor.relative - 0.25).abs() < 1e-9, "{floor:?}");
    }

    #[test]
    fn more_repeats_show_smaller_changes() {
        let run = sample::bench();
        let mut cell = run.cells[0].clone();
        let few = cell.detectable("claims_per_s").unwrap();
        cell.repeats.extend(cell.repeats.clone());
        assert!(cell.detectable("claims_per_s").unwrap() < few);
        assert!(run.detectable("postgres", "claims_per_s").unwrap() > 0.0);
    }
}
