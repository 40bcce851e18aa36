//! The comparison as one page of HTML, with an interval drawn beside each change.

use askama::Template;

use super::{TITLES, became, differs, parts, place, row};
use crate::{
    compare::{Comparison, Judgement, MetricChange, Verdict},
    format::text::{clip, lines, one_line},
};

/// The greatest change that is drawn, as a logarithm: twice or half as much.
const WIDEST: f64 = std::f64::consts::LN_2;
/// How wide the drawing of an interval is.
const WIDTH: f64 = 160.0;

/// The longest statement or plan, in characters.
const PLAN_CHARS: usize = 20_000;

#[derive(Template)]
#[template(path = "comparison.html")]
struct Page {
    /// The word, and what it is made of.
    verdict: (&'static str, String),
    class: &'static str,
    base: String,
    head: String,
    notes: Vec<String>,
    changes: Vec<Changed>,
    /// How plans differ, and the statement with the plans of base and head.
    plans: Vec<(String, [String; 3])>,
    cells: Vec<(String, String)>,
    titles: [&'static str; 8],
    /// Titles of groups with their rows; of empty groups there are none.
    groups: Vec<(&'static str, Vec<Row>)>,
}

struct Changed {
    class: &'static str,
    word: &'static str,
    place: String,
    became: String,
    replay: String,
}

struct Row {
    class: &'static str,
    cells: [String; 7],
    interval: Option<Interval>,
}

/// Places in the drawing of an interval.
struct Interval {
    low: i64,
    width: i64,
    mean: i64,
}

/// Renders `comparison` as one self-contained page.
#[must_use]
pub fn render(comparison: &Comparison) -> String {
    let side = |side: &crate::compare::Side| {
        one_line(&format!("{} ({} {})", side.id, side.tool.name, side.tool.version))
    };
    let contracts = comparison.contracts.iter().flat_map(|contracts| &contracts.changes);
    let measurements = || comparison.measurements.iter();
    let groups = [
        ("Worse", Judgement::Worse),
        ("Inconclusive", Judgement::Inconclusive),
        ("Not worse", Judgement::NotWorse),
        ("Better", Judgement::Better),
        ("Equal", Judgement::Equal),
        ("Not judged", Judgement::Shown),
    ];
    let rows = |judgement: Judgement| -> Vec<Row> {
        let metrics = measurements().flat_map(|measurements| &measurements.metrics);
        metrics.filter(|metric| metric.judgement == judgement).map(of_metric).collect()
    };
    let page = Page {
        verdict: (comparison.verdict.as_str(), one_line(&parts(comparison))),
        class: class(comparison.verdict),
        base: side(&comparison.base),
        head: side(&comparison.head),
        notes: comparison.notes.iter().map(|note| one_line(note)).collect(),
        changes: contracts
            .map(|change| Changed {
                class: class(change.weighs),
                word: change.change.as_str(),
                place: place(change),
                became: became(change),
                replay: change.replay.as_deref().map(one_line).unwrap_or_default(),
            })
            .collect(),
        plans: measurements()
            .flat_map(|measurements| &measurements.plans)
            .map(|plan| {
                let texts = [&plan.sql, &plan.base[1], &plan.head[1]];
                (differs(plan), texts.map(|text| clip(&lines(text), PLAN_CHARS)))
            })
            .collect(),
        cells: measurements()
            .flat_map(|measurements| &measurements.cells)
            .map(|cell| (one_line(&cell.cell), one_line(&cell.change)))
            .collect(),
        titles: [
            TITLES[0], TITLES[1], TITLES[2], TITLES[3], TITLES[4], TITLES[5], "interval", TITLES[6],
        ],
        groups: groups
            .map(|(title, judgement)| (title, rows(judgement)))
            .into_iter()
            .filter(|(_, rows)| !rows.is_empty())
            .collect(),
    };
    page.render().expect("the templates only write to memory")
}

fn class(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Fine => "kept",
        Verdict::Inconclusive => "inconclusive",
        Verdict::Worse => "broken",
    }
}

fn of_metric(metric: &MetricChange) -> Row {
    let class = match metric.judgement {
        Judgement::Worse => "broken",
        Judgement::Inconclusive => "inconclusive",
        Judgement::NotWorse | Judgement::Better | Judgement::Equal => "kept",
        Judgement::Shown => "absent",
    };
    let values = metric.values.and_then(|values| values.ratio.zip(values.interval));
    let at = |ratio: f64| {
        let share = (ratio.max(1e-6).ln() / WIDEST).clamp(-1.0, 1.0);
        ((share + 1.0) / 2.0 * WIDTH).round() as i64
    };
    let interval = values.map(|(ratio, (low, high))| Interval {
        low: at(low),
        width: (at(high) - at(low)).max(1),
        mean: at(ratio),
    });
    Row { class, cells: row(metric), interval }
}
