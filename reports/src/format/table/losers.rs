//! What the loser of a race sees, per contract and variant, for a terminal.

use super::{
    super::{
        observed::{Losers, losers},
        text::{clip, one_line},
    },
    grid::{GAP, chars, grid, wrap_id, wrap_words},
};
use crate::Run;

/// The narrowest column for contracts and variants.
const FIRST_NARROWEST: usize = 24;
/// The narrowest column for an engine, unless all that is in it is shorter.
const NARROWEST: usize = 12;
/// The longest observation in a cell, in characters; `run.json` has all of it.
const CELL_CHARS: usize = 80;

/// Renders what the loser sees, or nothing when no case has observed it.
pub(super) fn render(run: &Run, width: usize) -> String {
    let Some(losers) = losers(run) else {
        return String::new();
    };
    let header: Vec<String> = losers.engines.iter().map(|label| one_line(label)).collect();
    let rows = rows(&losers);
    let widths = widths(&header, &rows, width);
    let wrapped = rows.into_iter().map(|row| {
        let first = if row.is_contract {
            wrap_id(&row.first, widths[0])
        } else {
            wrap_words(&row.first, widths[0], "    ")
        };
        let cells = row.cells.iter().zip(&widths[1..]);
        let cells = cells.map(|(cell, width)| wrap_words(cell, *width, ""));
        std::iter::once(first).chain(cells).collect()
    });
    let header = std::iter::once("contract".to_owned()).chain(header).collect();
    let mut text = String::from("What the loser sees\n\n");
    for line in grid(header, wrapped.collect(), &widths) {
        text.push_str(&line);
        text.push('\n');
    }
    text
}

/// A contract, or below it some of its variants with what the loser sees on each engine.
struct Row {
    is_contract: bool,
    first: String,
    cells: Vec<String>,
}

fn rows(losers: &Losers<'_>) -> Vec<Row> {
    let mut rows = Vec::new();
    let mut contract = None;
    for row in &losers.rows {
        if contract.replace(row.contract) != Some(row.contract) {
            rows.push(Row { is_contract: true, first: one_line(row.contract), cells: Vec::new() });
        }
        let cells = row.cells.iter().map(|cell| match cell {
            Some(loser) => clip(&one_line(loser), CELL_CHARS),
            None => "-".to_owned(),
        });
        rows.push(Row {
            is_contract: false,
            first: format!("  {}", row.variants),
            cells: cells.collect(),
        });
    }
    rows
}

/// The width of each column, the first one included, within `width` where that is enough.
fn widths(header: &[String], rows: &[Row], width: usize) -> Vec<usize> {
    let share = width.saturating_sub(FIRST_NARROWEST) / header.len();
    let share = share.saturating_sub(GAP).max(NARROWEST);
    let mut widths = vec![0];
    for (index, label) in header.iter().enumerate() {
        let cells = rows.iter().filter_map(|row| row.cells.get(index));
        let longest = cells.map(|cell| chars(cell)).max().unwrap_or(0);
        widths.push(longest.min(share).max(chars(label)));
    }
    let others: usize = widths[1..].iter().map(|width| GAP + width).sum();
    let longest = rows.iter().map(|row| chars(&row.first)).max().unwrap_or(0);
    widths[0] = longest.min(width.saturating_sub(others).max(FIRST_NARROWEST));
    widths
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample;

    #[test]
    fn the_table_keeps_to_its_width() {
        let run = sample::full();
        let text = render(&run, 80);
        assert!(text.lines().all(|line| chars(line) <= 80), "{text}");
        let wide = render(&run, 200);
        assert!(wide.lines().count() < text.lines().count(), "{wide}");
    }

    #[test]
    fn nothing_observed_is_nothing_said() {
        assert_eq!(render(&sample::kept(), 80), "");
    }
}
