//! The run as text for a terminal: what is not kept, then contracts down and engines across, where
//! a family that is kept everywhere is one line.
//!
//! Invariants: without colour there is no escape sequence in the text, whatever a database put
//! into a detail; an outcome is always a word, so that colour only repeats what is written.

mod grid;
mod losers;
mod paint;

use super::{
    finding::{Finding, findings, known_failures},
    rotten,
    text::{clip, one_line},
};
use crate::{Cell, Matrix, Outcome, Run};
use grid::{GAP, chars, grid, wrap_id};
use paint::{OF_KNOWN, of_outcome, paint, paint_row};

/// The width of a terminal when nobody says another, in columns.
pub const WIDTH: usize = 80;

/// The narrowest column for contract ids; engines that leave less make the table wider.
const NARROWEST: usize = 16;
/// The longest observation in a line, in characters; `run.json` has all of it.
const OBSERVED_CHARS: usize = 300;
/// What a cell says of a known failure, so that nobody takes it for one that is not expected.
const KNOWN: &str = "known";

/// Renders `run` for a terminal of [`WIDTH`] columns; `colour` adds ANSI colours.
#[must_use]
pub fn render(run: &Run, colour: bool) -> String {
    render_at(run, colour, WIDTH)
}

/// Renders `run` for a terminal of `width` columns; `colour` adds ANSI colours.
///
/// The table keeps to `width` where the engines leave room for it. The lines above it are as
/// long as they need to be, because each must stay one line for whoever searches in them.
#[must_use]
pub fn render_at(run: &Run, colour: bool, width: usize) -> String {
    let matrix = run.matrix();
    let mut text = String::new();
    let kept_again: Vec<String> = run
        .rotten
        .iter()
        .map(|entry| {
            let observed = clip(&rotten::observed(entry), OBSERVED_CHARS);
            let name = rotten::name(entry);
            let name = if colour { paint(&name, of_outcome(Outcome::Broken)) } else { name };
            format!("{name}: {observed}")
        })
        .collect();
    let lines = |findings: Vec<Finding<'_>>| -> Vec<String> {
        findings.iter().map(|finding| line(finding, colour)).collect()
    };
    push_lines(&mut text, "", &kept_again);
    push_lines(&mut text, "", &lines(findings(run)));
    push_lines(&mut text, "Known failures\n", &lines(known_failures(run)));
    if !matrix.rows.is_empty() && !matrix.engines.is_empty() {
        text.push_str(&table(&matrix, colour, width));
        text.push('\n');
        if matrix.rows.iter().flat_map(|row| &row.cells).flatten().any(|cell| cell.is_mixed()) {
            text.push_str("* in some variants only, see above\n\n");
        }
    }
    text.push_str(&one_line(&run.verdict()));
    text.push('\n');
    text
}

/// Renders what the loser of a race sees, per contract and variant, for a terminal of `width`
/// columns; nothing when no case of `run` has observed it.
///
/// It keeps to `width` where the engines leave room for it.
#[must_use]
pub fn render_losers(run: &Run, width: usize) -> String {
    losers::render(run, width)
}

/// Adds `lines` below `title`, and an empty line for what follows; nothing when there are none.
fn push_lines(text: &mut String, title: &str, lines: &[String]) {
    if lines.is_empty() {
        return;
    }
    text.push_str(title);
    for line in lines {
        text.push_str(line);
        text.push('\n');
    }
    text.push('\n');
}

fn table(matrix: &Matrix, colour: bool, width: usize) -> String {
    let labels: Vec<String> = matrix.engines.iter().map(|label| one_line(label)).collect();
    let lines = matrix.lines();
    let rows: Vec<Vec<String>> =
        lines.iter().map(|(_, row)| row.cells.iter().map(|cell| word(*cell)).collect()).collect();
    let mut widths: Vec<usize> = labels.iter().map(|label| chars(label)).collect();
    for row in &rows {
        for (width, cell) in widths.iter_mut().zip(row) {
            *width = (*width).max(chars(cell));
        }
    }
    let ids: Vec<String> = lines.iter().map(|(title, _)| one_line(title)).collect();
    let longest = ids.iter().map(|id| chars(id)).max().unwrap_or(0).max("contract".len());
    let others: usize = widths.iter().map(|width| GAP + width).sum();
    let first = longest.min(width.saturating_sub(others).max(NARROWEST));
    widths.insert(0, first);

    let header = std::iter::once("contract".to_owned()).chain(labels).collect();
    let rows = ids
        .iter()
        .zip(rows)
        .map(|(id, row)| std::iter::once(wrap_id(id, first)).chain(row).collect());
    let mut text = String::new();
    for (number, line) in grid(header, rows.collect(), &widths).iter().enumerate() {
        // The header is one line and its rule another; neither holds an outcome.
        text.push_str(&if colour && number > 1 { paint_row(line, first) } else { line.clone() });
        text.push('\n');
    }
    text
}

/// One line that says what was observed, why it is known, and how to run it again.
fn line(finding: &Finding<'_>, colour: bool) -> String {
    let outcome = finding.outcome;
    let (word, code) = match finding.reason {
        Some(_) => (format!("{KNOWN} ({outcome})"), OF_KNOWN),
        None => (outcome.to_string(), of_outcome(outcome)),
    };
    let engine = one_line(finding.engine);
    let place = match finding.contract {
        Some(contract) => format!("{} [{engine} {}]", one_line(contract), finding.variants),
        None => engine,
    };
    let mut line = if colour { paint(&word, code) } else { word };
    line.push_str(&format!(" {place}: {}", clip(&finding.observed, OBSERVED_CHARS)));
    if let Some(reason) = &finding.reason {
        line.push_str(&format!("; reason: {}", clip(reason, OBSERVED_CHARS)));
    }
    if let Some(replay) = &finding.replay {
        line.push_str(&format!("; replay: {replay}"));
    }
    line
}

fn word(cell: Option<Cell>) -> String {
    let Some(cell) = cell else {
        return "-".to_owned();
    };
    let word = if cell.known { KNOWN } else { cell.worst.as_str() };
    let mark = if cell.is_mixed() { "*" } else { "" };
    format!("{word}{mark}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample;

    #[test]
    fn four_engines_fit_80_columns() {
        let mut run = sample::kept();
        let mut case = sample::case("renew/never-shortens-out-of-order", "sqlite", Outcome::Kept);
        case.outcome = Outcome::Inconclusive;
        run.cases.push(case);
        let text = render(&run, false);
        let from = text.lines().skip_while(|line| !line.starts_with("contract"));
        let table: Vec<&str> = from.take_while(|line| !line.is_empty()).collect();
        assert!(table.iter().all(|line| chars(line) <= WIDTH), "{text}");
        assert!(table[0].contains("mariadb:11.8"), "{text}");
        assert!(text.ends_with("1 inconclusive, 12 kept, 3 not run\n"), "{text}");
    }

    #[test]
    fn colour_only_adds_escape_sequences() {
        let run = sample::hostile();
        let plain = render(&run, false);
        assert!(!plain.contains('\x1b'));
        let coloured = render(&run, true);
        assert!(coloured.contains("\x1b[1;31mbroken\x1b[0m"), "{coloured}");
        let mut stripped = coloured;
        for code in ["32", "1;31", "35", "33", "31", "36", "2", "0"] {
            stripped = stripped.replace(&format!("\x1b[{code}m"), "");
        }
        assert_eq!(stripped, plain);
    }

    #[test]
    fn a_variant_that_is_better_is_not_hidden() {
        let mut run = sample::kept();
        let mut case = sample::case("claim/is-exclusive", "sqlite", Outcome::Unsupported);
        case.variant = "skip-locked".to_owned();
        run.cases.push(case);
        let text = render(&run, false);
        assert!(text.contains("unsupported*") && text.contains("* in some variants"), "{text}");
    }

    #[test]
    fn a_known_failure_never_looks_like_a_broken_promise() {
        let mut run = sample::kept();
        let case = &mut run.cases[0];
        case.outcome = Outcome::Broken;
        case.known = Some("the clause is ignored".to_owned());
        let text = render(&run, true);
        assert!(text.contains(&format!("\x1b[36m{KNOWN}\x1b[0m ")), "{text}");
        assert!(!text.contains("1;31"), "{text}");
        let text = render(&run, false);
        assert!(
            text.contains(
                "Known failures\nknown (broken) claim/is-exclusive [postgres:18 default]: \
                 one of two claims won; reason: the clause is ignored\n"
            ),
            "{text}"
        );
        assert!(text.ends_with("all kept but 1 known failure\n"), "{text}");
    }

    #[test]
    fn a_run_without_cases_is_one_line() {
        let mut run = sample::kept();
        run.cases.clear();
        run.contracts.clear();
        assert_eq!(render(&run, true).lines().count(), 1);
    }
}
