//! The run as a line of history in CSV, as Otava reads it: time, run, and one column per metric.
//!
//! The columns of two runs of the same profile and engines are the same, so that the lines can be put
//! below each other: a cell that is no result has those of the others of its scenario, and empty fields.

use std::collections::{BTreeMap, BTreeSet};

use super::super::text::one_line;
use crate::bench::{BenchCell, BenchRun, Metric, Observed};

/// Renders `run` as a header and one line; a metric that is not there is an empty field.
///
/// Columns are the metrics that may gate a comparison: throughput, tails and counted work.
#[must_use]
pub fn render(run: &BenchRun) -> String {
    let mut header = vec!["time".to_owned(), "run".to_owned(), "leaseproof".to_owned()];
    let mut line = vec![run.started.to_string(), run.id.clone(), run.tool.version.clone()];
    let columns = columns(run);
    for cell in &run.cells {
        let metrics = cell.metrics();
        for metric in columns.get(&scenario(cell)).into_iter().flatten() {
            header.push(format!("{}/{metric}", cell.key()));
            let observed = metrics.get(metric).filter(|_| cell.is_result());
            let estimate = observed.and_then(Observed::estimate);
            line.push(estimate.map(|estimate| estimate.mean.to_string()).unwrap_or_default());
        }
    }
    let row = |fields: Vec<String>| fields.iter().map(|field| quoted(field)).collect::<Vec<_>>();
    format!("{}\n{}\n", row(header).join(","), row(line).join(","))
}

/// The metrics of each scenario on each engine.
fn columns(run: &BenchRun) -> BTreeMap<(&str, &str), BTreeSet<String>> {
    let mut columns: BTreeMap<_, BTreeSet<String>> = BTreeMap::new();
    for cell in &run.cells {
        let metrics = cell.metrics().into_keys().filter(|metric| Metric::of(metric).gates());
        columns.entry(scenario(cell)).or_default().extend(metrics);
    }
    columns
}

fn scenario(cell: &BenchCell) -> (&str, &str) {
    (&cell.engine, &cell.scenario)
}

/// `field` in one line, quoted where it must be. A spreadsheet would run what begins like a formula.
fn quoted(field: &str) -> String {
    let mut field = one_line(field);
    if field.starts_with(['=', '+', '@', '\t']) {
        field.insert(0, '\'');
    }
    if field.contains([',', '"', '\'']) {
        return format!("\"{}\"", field.replace('"', "\"\""));
    }
    field
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample;

    #[test]
    fn a_run_is_one_line_below_its_header() {
        let text = render(&sample::bench_hostile());
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines.len(), 2);
        assert!(lines[0].starts_with("time,run,leaseproof,postgres/claim-scaling/"), "{text}");
        assert!(lines[1].starts_with("2030-01-02T03:04:05.678Z,20300102T030405Z-b0b1b2,0.1.0,,,"));
        let run = sample::bench();
        let text = render(&run);
        let fields: Vec<usize> = text.lines().map(|line| line.split(',').count()).collect();
        assert_eq!(fields[0], fields[1], "{text}");
    }

    /// Whatever fails in one night, its column stays where it was.
    #[test]
    fn a_cell_that_could_not_be_measured_keeps_its_columns() {
        let mut run = sample::bench();
        let header = |run: &BenchRun| render(run).lines().next().unwrap().to_owned();
        let whole = header(&run);
        run.cells[1]
            .repeats
            .iter_mut()
            .for_each(|repeat| *repeat = crate::bench::Repeat::default());
        run.cells[1].violations = vec!["repeat 1: could not be measured: no".to_owned()];
        assert_eq!(header(&run), whole);
    }

    #[test]
    fn what_a_reader_would_act_on_is_quoted() {
        assert_eq!(quoted("a,b"), "\"a,b\"");
        assert_eq!(quoted("a\"b"), "\"a\"\"b\"");
        assert_eq!(quoted("=1+1"), "\"'=1+1\"");
    }
}
