//! The sections about what was seen beside the outcomes.

use super::{
    super::{
        observed::{losers, others},
        text::clip,
    },
    escape::text,
    row::{push_header, push_row},
};
use crate::Run;

/// The longest observation in a cell, in characters; `run.json` has all of it.
const CELL_CHARS: usize = 200;
/// The most rows of what else was observed; `run.json` has all of them.
const ROWS: usize = 200;

/// What the loser of a race sees: a row per contract and variants with the same answers.
pub(super) fn loser(run: &Run) -> String {
    let Some(losers) = losers(run) else {
        return String::new();
    };
    let mut section = String::from("## What the loser sees\n\n");
    let titles = ["contract", "variant"].map(str::to_owned);
    push_header(&mut section, titles.into_iter().chain(losers.engines.iter().map(|e| text(e))));
    for row in &losers.rows {
        let place = [text(row.contract), text(&row.variants)];
        let cells = row.cells.iter().map(|cell| match cell {
            Some(loser) => text(&clip(loser, CELL_CHARS)),
            None => "–".to_owned(),
        });
        push_row(&mut section, place.into_iter().chain(cells));
    }
    section
}

/// Everything else that was seen, a row per observation.
pub(super) fn other(run: &Run) -> String {
    let rows = others(run);
    if rows.is_empty() {
        return String::new();
    }
    let mut section = String::from("## Observed\n\n");
    let titles = ["contract", "engine", "variant", "what", "seen"];
    push_header(&mut section, titles.map(str::to_owned));
    for row in rows.iter().take(ROWS) {
        let value = clip(row.value, CELL_CHARS);
        let cells = [row.contract, row.engine, &row.variants, row.key, &value];
        push_row(&mut section, cells.map(text));
    }
    if rows.len() > ROWS {
        section.push_str(&format!("\n{} more are in `run.json`.\n", rows.len() - ROWS));
    }
    section
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample;

    #[test]
    fn a_few_observations_are_enough() {
        let mut run = sample::kept();
        assert_eq!(other(&run), "");
        for number in 0..ROWS + 7 {
            let observed = (format!("key {number}"), "3".to_owned());
            run.cases[0].observations.extend([observed]);
        }
        let section = other(&run);
        assert!(section.ends_with("\n\n7 more are in `run.json`.\n"), "{section}");
        assert_eq!(loser(&run), "");
    }
}
