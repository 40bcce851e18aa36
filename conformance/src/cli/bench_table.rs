//! The readings that answer each scenario's question, as lines on a terminal.

use comfy_table::Table;
use comfy_table::presets::NOTHING;
use leaseproof_benches::measured::numbers;
use leaseproof_benches::scenarios::REGISTRY;
use leaseproof_reports::bench::{BenchCell, BenchRun, Reading};

/// One table for each scenario that was measured. Engines are beside each other only to be read, not
/// to be compared: they differ in what they promise.
pub(super) fn render(run: &BenchRun) -> String {
    let mut text = String::new();
    for scenario in REGISTRY {
        let cells: Vec<_> =
            run.cells.iter().filter(|cell| cell.scenario == scenario.id()).collect();
        if cells.is_empty() {
            continue;
        }
        let mut table = Table::new();
        table.load_style(NOTHING);
        let mut head = vec!["engine".to_owned(), "cell".to_owned()];
        head.extend(scenario.headline().iter().map(|name| (*name).to_owned()));
        table.set_header(head);
        for cell in cells {
            let parameters: Vec<_> =
                cell.parameters.iter().map(|(name, value)| format!("{name}={value}")).collect();
            let mut row = vec![cell.engine.clone(), parameters.join(" ")];
            row.extend(scenario.headline().iter().map(|name| shown(cell, name)));
            table.add_row(row);
        }
        text.push_str(&format!("{}: {}\n{table}\n", scenario.id(), scenario.question()));
        for cell in run.cells.iter().filter(|cell| cell.scenario == scenario.id()) {
            for violation in &cell.violations {
                text.push_str(&format!("  {}: no result, {violation}\n", cell.engine));
            }
        }
        text.push('\n');
    }
    text
}

/// The median over the repeats; `n/o` is what the engine does not show.
fn shown(cell: &BenchCell, name: &str) -> String {
    let mut numbers = numbers(&cell.repeats, name);
    numbers.sort_by(f64::total_cmp);
    match numbers.len() {
        0 => {
            let readings = cell.repeats.iter().filter_map(|repeat| repeat.readings.get(name));
            let hidden = readings.into_iter().any(|it| matches!(it, Reading::NotObservable(_)));
            if hidden { "n/o" } else { "" }.to_owned()
        }
        count => {
            let median = (numbers[(count - 1) / 2] + numbers[count / 2]) / 2.0;
            match median.abs() {
                size if size >= 1000.0 => format!("{median:.0}"),
                size if size >= 10.0 => format!("{median:.1}"),
                _ => format!("{median:.3}"),
            }
        }
    }
}
