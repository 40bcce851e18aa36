//! Everything that a run directory holds, as one page of HTML.
//!
//! Invariants: the page needs no network and runs no script; every text that came from a database
//! or a user is escaped, by the templates or by the backend of the charts; a number that is not
//! observable is said to be so, with its reason; no engine is compared with another; every chart is
//! said in words too.

mod cell;
mod chart;
mod contracts;
mod engines;
mod figure;
mod machine;
mod measured;
mod measurements;
mod scale;

use askama::Template;

use super::text::{clip, one_line};
use crate::Report;
use contracts::Contracts;
use engines::EngineFacts;
use machine::Machine;
use measurements::Measurements;

/// The longest text of one line, in characters; the JSON has all of it.
const LINE_CHARS: usize = 1_000;

/// The greatest size of a page, in bytes; what a great run shows is chosen to stay below.
pub const LIMIT_BYTES: usize = 2_000_000;

/// How much of the measurements is shown, from all to little.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Depth {
    /// Everything.
    All,
    /// Latencies are drawn for the main operation of a scenario only.
    MainOperation,
    /// Only what is drawn along the axis of a scenario.
    AlongAxis,
    /// Tables alone.
    Tables,
}

impl Depth {
    const ALL: [Self; 4] = [Self::All, Self::MainOperation, Self::AlongAxis, Self::Tables];

    /// What a page of this depth does not show.
    fn left_out(self) -> &'static str {
        match self {
            Self::All => "",
            Self::MainOperation => "latency charts of operations other than the main one",
            Self::AlongAxis => "charts of latencies, seconds and workers",
            Self::Tables => "all charts, and the repeats of each cell",
        }
    }
}

#[derive(Template)]
#[template(path = "report.html")]
struct Page {
    id: String,
    started: String,
    tool: String,
    verdicts: Vec<String>,
    contracts: Option<Contracts>,
    engines: Vec<EngineFacts>,
    measurements: Option<Measurements>,
    machine: Machine,
}

/// Renders `report` as one self-contained page.
///
/// Of a run so great that the page would be larger than [`LIMIT_BYTES`], charts are left out, the
/// most detailed first, and the page says so.
#[must_use]
pub fn render(report: Report<'_>) -> String {
    render_within(report, LIMIT_BYTES)
}

fn render_within(report: Report<'_>, limit_bytes: usize) -> String {
    let mut page = String::new();
    for depth in Depth::ALL {
        page = render_at(report, depth);
        if page.len() <= limit_bytes || report.bench.is_none() {
            break;
        }
    }
    page
}

fn render_at(report: Report<'_>, depth: Depth) -> String {
    let run = report.run.map(|run| (&run.id, run.started, &run.tool, run.verdict()));
    let bench = report.bench.map(|bench| (&bench.id, bench.started, &bench.tool, bench.verdict()));
    let heads = || run.iter().chain(bench.iter());
    let of_first = |of: fn(&(&String, jiff::Timestamp, &crate::Tool, String)) -> String| {
        heads().next().map(of).unwrap_or_default()
    };
    let page = Page {
        id: label(&of_first(|(id, ..)| (*id).clone())),
        // To the second: fractions tell nobody anything.
        started: of_first(|(_, started, ..)| started.strftime("%Y-%m-%d %H:%M:%S UTC").to_string()),
        tool: label(&of_first(|(_, _, tool, _)| format!("{} {}", tool.name, tool.version))),
        verdicts: heads().map(|(.., verdict)| label(verdict)).collect(),
        contracts: report.run.map(contracts::of),
        engines: report.run.map(engines::of).unwrap_or_default(),
        measurements: report.bench.map(|bench| measurements::of(bench, depth)),
        machine: machine::of(report),
    };
    page.render().expect("the templates only write to memory")
}

/// `text` as it is shown in one line.
fn label(text: &str) -> String {
    clip(&one_line(text), LINE_CHARS)
}

/// Names and values as they are shown.
fn pairs<'run>(
    pairs: impl IntoIterator<Item = (&'run String, &'run String)>,
) -> Vec<(String, String)> {
    pairs.into_iter().map(|(name, value)| (label(name), label(value))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample;

    #[test]
    fn a_page_that_would_be_too_great_has_fewer_charts() {
        let bench = sample::bench();
        let report = Report { run: None, bench: Some(&bench) };
        let pages = Depth::ALL.map(|depth| render_at(report, depth));
        assert!(pages.windows(2).all(|pair| pair[0].len() > pair[1].len()));
        assert_eq!(render_within(report, pages[1].len()), pages[1]);
        assert_eq!(render_within(report, 1), pages[3]);
        assert!(!pages[3].contains("<svg") && pages[3].contains("Left out"));
        assert!(pages[2].contains("<svg") && !pages[0].contains("Left out"));
    }
}
