//! The comparison as Markdown for people: the verdict first, then what changed.

use super::{TITLES, became, differs, notable, place, row, verdict};
use crate::{
    compare::{Comparison, Contracts, Judgement, Measurements},
    format::markdown::{
        LIMIT_BYTES,
        escape::{block, code, text},
        row::{push_header, push_row},
    },
};

/// How many rows a table has before the rest is only counted.
const ROWS: usize = 500;

/// Renders `comparison` as Markdown that a step summary takes.
#[must_use]
pub fn render(comparison: &Comparison) -> String {
    let mut summary = format!("**{}**\n", text(&verdict(comparison)));
    let (base, head) = (&comparison.base, &comparison.head);
    summary.push_str(&format!("\n{} against {}\n", text(&head.id), text(&base.id)));
    if !comparison.notes.is_empty() {
        summary.push('\n');
    }
    for note in &comparison.notes {
        summary.push_str(&format!("- {}\n", text(note)));
    }
    let passed = |judgement, words| {
        let measurements = comparison.measurements.as_ref();
        measurements.map(|all| folded(all, judgement, words)).unwrap_or_default()
    };
    let sections = [
        comparison.contracts.as_ref().map(contracts).unwrap_or_default(),
        comparison.measurements.as_ref().map(measurements).unwrap_or_default(),
        comparison.measurements.as_ref().map(plans).unwrap_or_default(),
        passed(Judgement::NotWorse, "not worse"),
        passed(Judgement::Equal, "equal"),
    ];
    for section in sections {
        if summary.len() + section.len() < LIMIT_BYTES {
            summary.push_str(&section);
        } else {
            summary.push_str("\nMore was left out to keep this summary small.\n");
        }
    }
    summary
}

fn contracts(contracts: &Contracts) -> String {
    if contracts.changes.is_empty() {
        return String::new();
    }
    let mut section = String::from("\n## Contracts\n\n");
    for change in contracts.changes.iter().take(ROWS) {
        let word = change.change.as_str();
        section.push_str(&format!(
            "- **{word}** {}: {}",
            text(&place(change)),
            text(&became(change))
        ));
        if let Some(replay) = &change.replay {
            section.push_str(&format!(" · replay: {}", code(replay)));
        }
        section.push('\n');
    }
    section + &more(contracts.changes.len())
}

fn measurements(measurements: &Measurements) -> String {
    let mut section = String::from("\n## Measurements\n\n");
    for cell in measurements.cells.iter().take(ROWS) {
        section.push_str(&format!("- {}: {}\n", text(&cell.cell), text(&cell.change)));
    }
    if !measurements.cells.is_empty() {
        section.push('\n');
    }
    let rows: Vec<_> = notable(measurements).collect();
    if rows.is_empty() {
        section.push_str("No metric differs.\n");
        return section;
    }
    push_header(&mut section, TITLES.map(str::to_owned));
    for metric in rows.iter().take(ROWS) {
        push_row(&mut section, row(metric).iter().map(|cell| text(cell)));
    }
    section + &more(rows.len())
}

fn plans(measurements: &Measurements) -> String {
    if measurements.plans.is_empty() {
        return String::new();
    }
    let mut section = String::from("\n## Plans\n");
    for plan in &measurements.plans {
        section.push_str(&format!("\n{}\n\n", text(&differs(plan))));
        let sides = [("statement", &plan.sql), ("base", &plan.base[1]), ("head", &plan.head[1])];
        for (side, lines) in sides {
            section.push_str(&format!("{side}:\n\n{}\n", block(lines)));
        }
    }
    section
}

/// What passes and is no news: the metrics that are `judgement`, folded below their number.
fn folded(measurements: &Measurements, judgement: Judgement, words: &str) -> String {
    let rows = measurements.metrics.iter().filter(|metric| metric.judgement == judgement);
    let rows: Vec<_> = rows.collect();
    let are = match rows.len() {
        0 => return String::new(),
        1 => "1 metric is".to_owned(),
        count => format!("{count} metrics are"),
    };
    let mut section = format!("\n<details><summary>{are} {words}</summary>\n\n");
    push_header(&mut section, TITLES.map(str::to_owned));
    for metric in rows.iter().take(ROWS) {
        push_row(&mut section, row(metric).iter().map(|cell| text(cell)));
    }
    section.push_str(&more(rows.len()));
    section.push_str("\n</details>\n");
    section
}

fn more(count: usize) -> String {
    match count.saturating_sub(ROWS) {
        0 => String::new(),
        more => format!("\n{more} more are in the JSON.\n"),
    }
}
