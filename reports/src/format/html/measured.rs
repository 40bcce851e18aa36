//! The cells of one scenario on one engine, arranged for charts: an axis, and lines along it.

use std::collections::{BTreeMap, BTreeSet};

use super::super::text::{clip, one_line};
use crate::bench::{BenchCell, Observed, Spectrum};

/// The axis of a scenario, when there is a choice.
const WORKERS: &str = "workers";
/// The longest name of a line, in characters.
const LABEL_CHARS: usize = 60;

/// A cell with everything that is read from it more than once.
pub(super) struct Measured<'run> {
    pub(super) cell: &'run BenchCell,
    /// The id of the cell in the page.
    pub(super) id: String,
    pub(super) metrics: BTreeMap<String, Observed>,
    pub(super) spectra: BTreeMap<&'run str, Spectrum>,
}

impl<'run> Measured<'run> {
    pub(super) fn of(cell: &'run BenchCell, number: usize) -> Self {
        let operations = cell.operations().into_iter();
        let spectra = operations.filter_map(|name| Some((name, cell.spectrum(name)?)));
        Self {
            cell,
            id: format!("cell-{number}"),
            metrics: cell.metrics(),
            spectra: if cell.is_result() { spectra.collect() } else { BTreeMap::new() },
        }
    }

    /// One metric, unless the cell is no result.
    pub(super) fn metric(&self, name: &str) -> Option<&Observed> {
        self.metrics.get(name).filter(|_| self.cell.is_result())
    }
}

/// The cells of one scenario on one engine.
pub(super) struct Group<'run> {
    pub(super) cells: Vec<Measured<'run>>,
    /// The parameter along which charts are drawn, when one has several values.
    pub(super) axis: Option<&'run str>,
    /// Whether its values are numbers, between which a line says something.
    pub(super) is_ordered: bool,
    /// Its values in order.
    pub(super) places: Vec<&'run str>,
    /// The other parameters that have several values.
    pub(super) varying: Vec<&'run str>,
}

/// Whether cells that are equal in one parameter are equal in the other: it then tells nothing apart.
fn determines(cells: &[Measured<'_>], one: &str, other: &str) -> bool {
    let mut known: BTreeMap<Option<&String>, Option<&String>> = BTreeMap::new();
    cells.iter().all(|measured| {
        let parameters = &measured.cell.parameters;
        let value = parameters.get(other);
        *known.entry(parameters.get(one)).or_insert(value) == value
    })
}

impl<'run> Group<'run> {
    pub(super) fn of(cells: Vec<Measured<'run>>) -> Self {
        let mut values: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
        for measured in &cells {
            for (name, value) in &measured.cell.parameters {
                values.entry(name).or_default().insert(value);
            }
        }
        values.retain(|_, values| values.len() > 1);
        let numeric = |name: &&str| values[name].iter().all(|value| number(value).is_some());
        // Of several the first by name: `max_by_key` returns the last.
        let numbers = values.keys().copied().rev().filter(numeric);
        let widest = numbers.max_by_key(|name| values[name].len());
        // Names have no order, and are an axis only when there is nothing else to tell apart.
        let only = values.keys().copied().next().filter(|_| values.len() == 1);
        let axis = values.keys().copied().find(|name| *name == WORKERS).or(widest);
        let is_ordered = axis.is_some();
        let axis = axis.or(only);
        let mut places: Vec<&str> =
            axis.map(|axis| values[axis].iter().copied().collect()).unwrap_or_default();
        places.sort_by(|left, right| {
            number(left).unwrap_or(f64::MAX).total_cmp(&number(right).unwrap_or(f64::MAX))
        });
        let follows = |name: &str| axis.is_some_and(|axis| determines(&cells, axis, name));
        let varying = values.into_keys().filter(|name| Some(*name) != axis && !follows(name));
        let varying = varying.collect();
        Self { cells, axis, is_ordered, places, varying }
    }

    /// What a cell is called among its neighbours along the axis.
    pub(super) fn label(&self, cell: &BenchCell) -> String {
        let parts: Vec<String> = self
            .varying
            .iter()
            .filter_map(|name| Some(parameter(name, cell.parameters.get(*name)?)))
            .collect();
        clip(&parts.join(", "), LABEL_CHARS)
    }

    /// The cells by line, in the order of the run.
    pub(super) fn lines(&self) -> Vec<(String, Vec<&Measured<'run>>)> {
        let mut lines: Vec<(String, Vec<&Measured<'run>>)> = Vec::new();
        for measured in &self.cells {
            let label = self.label(measured.cell);
            match lines.iter_mut().find(|(other, _)| *other == label) {
                Some((_, cells)) => cells.push(measured),
                None => lines.push((label, vec![measured])),
            }
        }
        for (_, cells) in &mut lines {
            cells.sort_by_key(|measured| self.place(measured.cell));
        }
        lines
    }

    /// The place of a cell along the axis.
    pub(super) fn place(&self, cell: &BenchCell) -> Option<usize> {
        let value = cell.parameters.get(self.axis?)?;
        self.places.iter().position(|place| place == value)
    }

    /// What a cell is called along the axis, such as `4 workers`.
    pub(super) fn stop(&self, cell: &BenchCell) -> String {
        let Some((axis, value)) =
            self.axis.and_then(|axis| Some((axis, cell.parameters.get(axis)?)))
        else {
            return "this cell".to_owned();
        };
        match (axis, value.as_str()) {
            (WORKERS, "1") => "1 worker".to_owned(),
            (WORKERS, value) => format!("{} workers", one_line(value)),
            (axis, value) => clip(&parameter(axis, value), LABEL_CHARS),
        }
    }

    /// What a cell is called in its scenario.
    pub(super) fn title(&self, measured: &Measured<'_>) -> String {
        let (line, stop) = (self.label(measured.cell), self.stop(measured.cell));
        match (line.is_empty(), self.axis.is_some()) {
            (true, true) => stop,
            (false, true) => format!("{line}, {stop}"),
            (false, false) => line,
            (true, false) if measured.cell.parameters.is_empty() => {
                super::label(&measured.cell.scenario)
            }
            (true, false) => super::label(&measured.cell.place().replace('/', ", ")),
        }
    }
}

/// A value that is no number says what it is by itself.
fn parameter(name: &str, value: &str) -> String {
    if number(value).is_some() || matches!(value, "true" | "false") {
        return one_line(&format!("{name} {value}"));
    }
    one_line(value)
}

fn number(text: &str) -> Option<f64> {
    text.parse().ok().filter(|number: &f64| number.is_finite())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample;

    #[test]
    fn workers_are_the_axis_and_the_rest_makes_lines() {
        let run = sample::bench();
        let cells = run.cells[..12].iter().enumerate();
        let group = Group::of(cells.map(|(place, cell)| Measured::of(cell, place)).collect());
        assert_eq!(
            (group.axis, group.places.as_slice()),
            (Some("workers"), ["1", "4", "16"].as_slice())
        );
        let lines = group.lines();
        assert_eq!(lines.len(), 4);
        assert_eq!(lines[0].0, "batch 1, skip-locked");
        assert_eq!(group.stop(lines[0].1[2].cell), "16 workers");
        let one = Group::of(vec![Measured::of(&run.cells[0], 0)]);
        assert_eq!((one.axis, one.lines().len()), (None, 1));
    }
}
