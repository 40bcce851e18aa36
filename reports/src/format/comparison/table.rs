//! The comparison as text for a terminal.

use comfy_table::{ContentArrangement, Table, presets::NOTHING};

use super::{became, differs, notable, place, row, verdict};
use crate::{
    compare::{Comparison, Judgement, Measurements, MetricChange},
    format::text::one_line,
};

/// How many inconclusive metrics are listed before they are only counted.
const INCONCLUSIVE: usize = 12;

/// Renders `comparison` for a terminal of `width` columns; the last line is the verdict.
#[must_use]
pub fn render(comparison: &Comparison, width: u16) -> String {
    let (base, head) = (&comparison.base, &comparison.head);
    let mut text = format!(
        "base {} ({} {})\nhead {} ({} {})\n\n",
        one_line(&base.id),
        one_line(&base.tool.name),
        one_line(&base.tool.version),
        one_line(&head.id),
        one_line(&head.tool.name),
        one_line(&head.tool.version),
    );
    for note in &comparison.notes {
        text.push_str(&format!("note: {}\n", one_line(note)));
    }
    if !comparison.notes.is_empty() {
        text.push('\n');
    }
    if let Some(contracts) = &comparison.contracts {
        for change in &contracts.changes {
            let word = change.change.as_str();
            text.push_str(&format!("{word} {}: {}", place(change), became(change)));
            if let Some(replay) = &change.replay {
                text.push_str(&format!("; replay: {}", one_line(replay)));
            }
            text.push('\n');
        }
        if !contracts.changes.is_empty() {
            text.push('\n');
        }
    }
    if let Some(measurements) = &comparison.measurements {
        text.push_str(&of_measurements(measurements, width));
    }
    text.push_str(&one_line(&verdict(comparison)));
    text.push('\n');
    text
}

/// The cells that were not compared, then the metrics that a reader has to know about, each below
/// the name of its cell.
fn of_measurements(measurements: &Measurements, width: u16) -> String {
    let mut text = String::new();
    for plan in &measurements.plans {
        text.push_str(&format!("{}\n", differs(plan)));
        for (side, lines) in [("base", &plan.base[1]), ("head", &plan.head[1])] {
            for line in lines.lines() {
                text.push_str(&format!("  {side}  {}\n", one_line(line)));
            }
        }
        text.push('\n');
    }
    for cell in &measurements.cells {
        text.push_str(&format!("{}: {}\n", one_line(&cell.cell), one_line(&cell.change)));
    }
    if !measurements.cells.is_empty() {
        text.push('\n');
    }
    let is_decided = |metric: &&MetricChange| metric.judgement != Judgement::Inconclusive;
    let undecided = notable(measurements).filter(|metric| !is_decided(metric));
    let listed: Vec<&MetricChange> =
        notable(measurements).filter(is_decided).chain(undecided.take(INCONCLUSIVE)).collect();
    let mut rest = listed.as_slice();
    while let Some(first) = rest.first() {
        let same = rest.iter().take_while(|metric| metric.cell == first.cell).count();
        let (own, others) = rest.split_at(same);
        rest = others;
        let mut table = Table::new();
        table.load_style(NOTHING).set_content_arrangement(ContentArrangement::Dynamic);
        table.set_width(width);
        for metric in own {
            let [word, _, name, base, head, change, trust] = row(metric);
            table.add_row([word, name, format!("{base} → {head}"), change, trust]);
        }
        text.push_str(&one_line(&first.cell));
        text.push('\n');
        for line in table.lines() {
            text.push_str(&format!(" {}\n", line.trim_end()));
        }
    }
    if !listed.is_empty() {
        text.push('\n');
    }
    let unlisted = measurements.count(Judgement::Inconclusive).saturating_sub(INCONCLUSIVE);
    if unlisted > 0 {
        text.push_str(&format!("{unlisted} more are inconclusive; the JSON has all of them\n\n"));
    }
    text
}
