//! The renderings of a comparison: for a terminal, a step summary, a program, a browser and CI.
//!
//! Invariants: the verdict comes first; what cannot be told is said to be so; text of an engine or a
//! user is escaped for the format.

mod html;
mod junit;
mod markdown;
mod table;

use super::{
    number::{change, duration_us, percent, short},
    text::{clip, one_line},
};
use crate::{
    bench::{Metric, words},
    compare::{
        CaseChange, Change, Comparison, Contracts, Judgement, Measurements, MetricChange,
        PlanChange,
    },
};

pub use html::render as html;
pub use junit::render as junit;
pub use markdown::render as markdown;
pub use table::render as table;

/// The longest observation in a line, in characters.
const OBSERVED_CHARS: usize = 300;

/// The comparison as pretty JSON that ends with a newline.
#[must_use]
pub fn json(comparison: &Comparison) -> String {
    super::json::pretty(comparison)
}

/// What a comparison amounts to, in one line without a full stop.
fn verdict(comparison: &Comparison) -> String {
    format!("{}: {}", comparison.verdict.as_str(), parts(comparison))
}

fn parts(comparison: &Comparison) -> String {
    let mut parts = Vec::new();
    parts.extend(comparison.contracts.as_ref().map(of_contracts));
    parts.extend(comparison.measurements.as_ref().map(of_measurements));
    parts.join("; ")
}

fn of_contracts(contracts: &Contracts) -> String {
    let mut line = format!("{} cases compared", contracts.compared);
    for change in Change::ALL {
        match contracts.count(change) {
            0 => {}
            count => line.push_str(&format!(", {count} {}", change.as_str())),
        }
    }
    if contracts.changes.is_empty() {
        line.push_str(", all the same");
    }
    line
}

fn of_measurements(measurements: &Measurements) -> String {
    let mut line = format!("{} cells compared", measurements.compared);
    if let Some(groups) = measurements.groups {
        line.push_str(&format!(" in {groups} groups"));
    }
    let of = [
        (Judgement::Worse, "worse"),
        (Judgement::Inconclusive, "inconclusive"),
        (Judgement::NotWorse, "not worse"),
        (Judgement::Better, "better"),
        (Judgement::Equal, "equal"),
    ];
    for (judgement, word) in of {
        match measurements.count(judgement) {
            0 => {}
            1 => line.push_str(&format!(", 1 metric {word}")),
            count => line.push_str(&format!(", {count} metrics {word}")),
        }
    }
    match measurements.cells.len() {
        0 => {}
        1 => line.push_str(", 1 cell not compared"),
        count => line.push_str(&format!(", {count} cells not compared")),
    }
    line
}

/// Where a case is, in one line.
fn place(change: &CaseChange) -> String {
    one_line(&format!("{} [{} {}]", change.contract, change.engine, change.variant))
}

/// How a case ended before and after, and what was observed, in one line.
fn became(change: &CaseChange) -> String {
    let outcome =
        |outcome: Option<crate::Outcome>| outcome.map_or("absent", crate::Outcome::as_str);
    let mut line = match change.change {
        Change::LoserChanged => format!("the loser is told: {}", change.detail),
        _ => format!("{} → {}: {}", outcome(change.base), outcome(change.head), change.detail),
    };
    if let Some(reason) = &change.known {
        line.push_str(&format!("; known failure: {reason}"));
    }
    clip(&one_line(&line), OBSERVED_CHARS)
}

/// One metric as a row of every table: judgement, cell, metric, base, head, change, and how far that
/// can be trusted.
fn row(metric: &MetricChange) -> [String; 7] {
    let kind = Metric::of(&metric.metric);
    let number = |value: Option<f64>| match value {
        None => "none".to_owned(),
        Some(value) if kind.unit == "µs" => duration_us(value),
        Some(value) => short(value),
    };
    let values = metric.values;
    let ratio = values.and_then(|values| values.ratio).map(change);
    let interval = values.and_then(|values| values.interval);
    let interval = interval
        .filter(|(low, high)| low < high)
        .map(|(low, high)| format!(" ({} to {})", change(low), change(high)));
    let detectable = values.and_then(|values| values.detectable);
    let detectable = detectable.map(|share| format!("shows from {}", percent(share)));
    let floor = values.and_then(|values| values.floor);
    let floor = floor.map(|share| format!("A/A {}", percent(share)));
    let reason = clip(&one_line(&metric.reason), OBSERVED_CHARS);
    let reason = Some(reason).filter(|reason| !reason.is_empty());
    let trust: Vec<String> = reason.into_iter().chain(detectable).chain(floor).collect();
    let unit = if kind.unit.starts_with('/') { kind.unit } else { "" };
    [
        metric.judgement.words(kind.nature).to_owned(),
        one_line(&metric.cell),
        one_line(&format!("{}{unit}", words(&metric.metric))),
        number(metric.base),
        number(metric.head),
        format!("{}{}", ratio.unwrap_or_default(), interval.unwrap_or_default()),
        trust.join("; "),
    ]
}

/// How the plans of a statement differ, in one line.
fn differs(plan: &PlanChange) -> String {
    let line = format!(
        "the plan of {} on {} differs: {} → {}",
        plan.statement, plan.engine, plan.base[0], plan.head[0]
    );
    one_line(&line)
}

/// The titles of the rows.
const TITLES: [&str; 7] = ["", "cell", "metric", "base", "head", "change (95 %)", "trust"];

/// The metrics that a reader has to know about, those that weigh most first.
fn notable(measurements: &Measurements) -> impl Iterator<Item = &MetricChange> {
    let is_notable = |metric: &&MetricChange| {
        matches!(metric.judgement, Judgement::Worse | Judgement::Inconclusive | Judgement::Better)
    };
    measurements.metrics.iter().filter(is_notable)
}
