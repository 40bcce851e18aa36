//! The matrix of contracts and engines, and the evidence behind each of its cells.

use std::collections::BTreeMap;

use super::{
    super::{
        finding::{Finding, findings, known_failures},
        observed::{Losers, losers},
        rotten,
        text::clip,
    },
    label,
};
use crate::{
    Case, Cell, Level, Outcome, Run,
    matrix::{Family, MatrixRow},
};

/// How many lines of evidence a case shows.
const EVIDENCE_LINES: usize = 40;
/// How many characters a line of evidence has.
const EVIDENCE_CHARS: usize = 400;
/// How many cases show their evidence, the first of the run; `run.json` has all of it.
const EVIDENCE_CASES: usize = 200;

pub(super) struct Contracts {
    /// Outcomes that occurred, the worst first, and how many cases had them.
    pub(super) counts: Vec<Shown>,
    pub(super) engines: Vec<String>,
    /// The families that are not kept everywhere.
    pub(super) rows: Vec<Row>,
    /// The families that are: the title of each, and its contracts.
    pub(super) kept: Vec<(String, Vec<Row>)>,
    pub(super) kept_again: Vec<(String, String)>,
    pub(super) findings: Vec<Found>,
    pub(super) known: Vec<Found>,
    pub(super) losers: Option<Table>,
    pub(super) evidence: Vec<Evidence>,
}

pub(super) struct Row {
    pub(super) family: String,
    pub(super) name: String,
    pub(super) promise: String,
    /// The level, unless it is the usual one.
    pub(super) level: &'static str,
    pub(super) cells: Vec<Shown>,
}

/// An outcome as it is shown: a class of the style sheet, a mark, and words.
pub(super) struct Shown {
    pub(super) class: &'static str,
    pub(super) mark: &'static str,
    pub(super) words: String,
    /// The evidence behind it, when a case ran.
    pub(super) evidence: Option<String>,
}

pub(super) struct Found {
    pub(super) shown: Shown,
    pub(super) place: String,
    pub(super) variants: String,
    pub(super) observed: String,
    pub(super) reason: String,
    pub(super) replay: String,
}

pub(super) struct Table {
    pub(super) head: Vec<String>,
    pub(super) rows: Vec<Vec<String>>,
}

/// What was seen of one contract on one engine.
pub(super) struct Evidence {
    pub(super) id: String,
    pub(super) contract: String,
    pub(super) engine: String,
    pub(super) promise: String,
    pub(super) source: String,
    pub(super) cases: Vec<Seen>,
}

pub(super) struct Seen {
    pub(super) variant: String,
    pub(super) shown: Shown,
    pub(super) detail: String,
    pub(super) known: String,
    pub(super) facts: Vec<(String, String)>,
    pub(super) lines: Vec<String>,
    /// The address of the history, relative to the run directory, and its name.
    pub(super) history: Option<(String, String)>,
    pub(super) replay: String,
}

pub(super) fn of(run: &Run) -> Contracts {
    let matrix = run.matrix();
    let mut pages = Pages::of(run);
    // What is not kept comes first, also to its evidence, of which there is no room for all.
    let (whole, others): (Vec<_>, Vec<_>) =
        matrix.families().into_iter().partition(Family::is_kept);
    let mut rows_of = |family: &Family<'_>| -> Vec<Row> {
        family.rows.iter().map(|row| pages.row(&matrix.engines, row)).collect()
    };
    let rows = others.iter().flat_map(&mut rows_of).collect();
    let kept = whole.iter().map(|family| (label(&family.title()), rows_of(family))).collect();
    let kept_again = run.rotten.iter();
    Contracts {
        counts: counts(run),
        engines: matrix.engines.iter().map(|engine| label(engine)).collect(),
        rows,
        kept,
        kept_again: kept_again
            .map(|entry| (rotten::name(entry), label(&rotten::observed(entry))))
            .collect(),
        findings: findings(run).iter().map(found).collect(),
        known: known_failures(run).iter().map(found).collect(),
        losers: losers(run).map(|losers| table(&losers)),
        evidence: pages.evidence,
    }
}

/// The evidence that the cells of the rows open, as the rows are made.
struct Pages<'run> {
    run: &'run Run,
    places: BTreeMap<(&'run str, &'run str), Vec<&'run Case>>,
    evidence: Vec<Evidence>,
    /// How many cases have shown their evidence.
    spent: usize,
}

impl<'run> Pages<'run> {
    fn of(run: &'run Run) -> Self {
        let mut places: BTreeMap<_, Vec<&Case>> = BTreeMap::new();
        for case in &run.cases {
            places.entry(case.place()).or_default().push(case);
        }
        Self { run, places, evidence: Vec::new(), spent: 0 }
    }

    fn row(&mut self, engines: &[String], row: &MatrixRow) -> Row {
        let info = self.run.contracts.iter().find(|contract| contract.id == row.contract);
        let mut cells = Vec::new();
        for (engine, cell) in engines.iter().zip(&row.cells) {
            let id = format!("evidence-{}", self.evidence.len());
            let mut shown = of_cell(*cell);
            if let Some(cases) = self.places.get(&(row.contract.as_str(), engine.as_str())) {
                shown.evidence = Some(id.clone());
                self.evidence.push(Evidence {
                    id,
                    contract: label(&row.contract),
                    engine: label(engine),
                    promise: info.map(|info| label(&info.promise)).unwrap_or_default(),
                    source: info.map(|info| label(&info.source)).unwrap_or_default(),
                    cases: cases.iter().map(|case| seen(case, &mut self.spent)).collect(),
                });
            }
            cells.push(shown);
        }
        let id = label(&row.contract);
        let (family, name) = id.split_once('/').unwrap_or(("", &id));
        Row {
            family: family.to_owned(),
            name: name.to_owned(),
            promise: info.map(|info| label(&info.promise)).unwrap_or_default(),
            level: info
                .filter(|info| info.level != Level::Core)
                .map_or("", |info| info.level.as_str()),
            cells,
        }
    }
}

/// How many cases had each outcome, the worst first; known failures are counted apart.
fn counts(run: &Run) -> Vec<Shown> {
    let mut counts = Vec::new();
    for known in [false, true] {
        for outcome in Outcome::WORST_FIRST {
            let same = |case: &&Case| case.outcome == outcome && case.is_known_failure() == known;
            let count = run.cases.iter().filter(same).count();
            if count > 0 {
                let mut shown = of_outcome(outcome, known);
                let word = if known { "known: " } else { "" };
                shown.words = format!("{count} {word}{outcome}");
                counts.push(shown);
            }
        }
    }
    counts
}

fn of_cell(cell: Option<Cell>) -> Shown {
    let Some(cell) = cell else {
        return Shown { class: "absent", mark: "", words: "not run".to_owned(), evidence: None };
    };
    let mut shown = of_outcome(cell.worst, cell.known);
    if cell.is_mixed() {
        shown.words.push_str(&format!(" ({} of {})", cell.at_worst, cell.variants));
    }
    shown
}

fn of_outcome(outcome: Outcome, known: bool) -> Shown {
    let (class, mark) = match outcome {
        _ if known => ("known", "◐"),
        Outcome::Kept => ("kept", "✓"),
        Outcome::Broken => ("broken", "✕"),
        Outcome::Errored => ("errored", "!"),
        Outcome::Inconclusive => ("inconclusive", "?"),
        Outcome::Unsupported => ("absent", "–"),
        Outcome::Skipped => ("absent", "·"),
        Outcome::Missing => ("absent", "∅"),
    };
    let words = if known { "known".to_owned() } else { outcome.to_string() };
    Shown { class, mark, words, evidence: None }
}

fn found(finding: &Finding<'_>) -> Found {
    let place = match finding.contract {
        Some(contract) => format!("{contract} on {}", finding.engine),
        None => finding.engine.to_owned(),
    };
    Found {
        shown: of_outcome(finding.outcome, finding.reason.is_some()),
        place: label(&place),
        variants: label(&finding.variants),
        observed: label(&finding.observed),
        reason: label(finding.reason.as_deref().unwrap_or_default()),
        replay: label(finding.replay.as_deref().unwrap_or_default()),
    }
}

fn table(losers: &Losers<'_>) -> Table {
    let head = ["contract", "variants"].into_iter().chain(losers.engines.iter().copied());
    let rows = losers.rows.iter().map(|row| {
        let cells = row.cells.iter().map(|cell| label(cell.unwrap_or("not observed")));
        [label(row.contract), label(&row.variants)].into_iter().chain(cells).collect()
    });
    Table { head: head.map(label).collect(), rows: rows.collect() }
}

fn seen(case: &Case, spent: &mut usize) -> Seen {
    let mut facts = vec![
        ("seed".to_owned(), case.seed.to_string()),
        ("took".to_owned(), format!("{} ms", case.duration_ms)),
    ];
    if let Some((with_outcome, of)) = case.repeated() {
        facts.push(("repeats".to_owned(), format!("{with_outcome} of {of} {}", case.outcome)));
    }
    facts.extend(super::pairs(&case.observations));
    let mut lines = Vec::new();
    if !case.evidence.is_empty() && *spent < EVIDENCE_CASES {
        *spent += 1;
        let shown = case.evidence.iter().take(EVIDENCE_LINES);
        lines.extend(shown.map(|line| clip(&label(line), EVIDENCE_CHARS)));
        if case.evidence.len() > EVIDENCE_LINES {
            lines
                .push(format!("… {} more lines in run.json", case.evidence.len() - EVIDENCE_LINES));
        }
    }
    let history = case.history.as_deref().map(|path| (address(path), label(path)));
    Seen {
        variant: label(&case.variant),
        shown: of_outcome(case.outcome, case.is_known_failure()),
        detail: label(&case.detail),
        known: case.known.as_deref().map(label).unwrap_or_default(),
        facts,
        lines,
        history,
        replay: case.replay.as_deref().map(label).unwrap_or_default(),
    }
}

/// A path as an address that can only be one inside the run directory.
fn address(path: &str) -> String {
    let mut address = String::from("./");
    for byte in path.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'/' | b'.' | b'_' | b'-' | b'~' => {
                address.push(char::from(byte));
            }
            _ => address.push_str(&format!("%{byte:02X}")),
        }
    }
    address
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample;

    #[test]
    fn every_cell_with_a_case_has_its_evidence() {
        let contracts = of(&sample::hostile());
        let linked: Vec<&String> = contracts
            .rows
            .iter()
            .chain(contracts.kept.iter().flat_map(|(_, rows)| rows))
            .flat_map(|row| &row.cells)
            .filter_map(|cell| cell.evidence.as_ref())
            .collect();
        assert_eq!(linked.len(), contracts.evidence.len());
        assert_eq!(linked.len(), 12);
        let of_sqlite = contracts.evidence.iter().find(|seen| seen.engine == "sqlite").unwrap();
        assert_eq!(of_sqlite.cases.len(), 2);
    }

    #[test]
    fn a_family_that_is_kept_everywhere_is_apart() {
        let contracts = of(&sample::kept());
        assert!(contracts.rows.is_empty());
        let titles: Vec<&str> = contracts.kept.iter().map(|(title, _)| title.as_str()).collect();
        assert_eq!(titles, ["claim/is-exclusive", "ack/owner-only", "renew/never-shortens"]);
        assert_eq!(contracts.evidence.len(), 12);
        let contracts = of(&sample::full());
        assert_eq!((contracts.rows.len(), contracts.kept.len()), (3, 0));
    }

    #[test]
    fn an_address_stays_in_the_run_directory() {
        assert_eq!(address("histories/a%20b.json"), "./histories/a%2520b.json");
        assert_eq!(address("javascript:alert(1)"), "./javascript%3Aalert%281%29");
    }
}
