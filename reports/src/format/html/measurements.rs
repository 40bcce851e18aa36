//! The measurements: each engine by itself, scenario by scenario.

use std::collections::BTreeSet;

use super::{
    super::{
        number::{duration_us, percent},
        text::{clip, lines},
    },
    Depth,
    cell::{Detail, Value, detail, no_result, titled, value},
    figure::{self, Figure},
    label,
    measured::{Group, Measured},
    pairs,
};
use crate::bench::{BenchEngine, BenchRun, Observed, words};

/// The metric that says how far an engine's measurements can be trusted.
const THROUGHPUT: &str = "claims_per_s";
/// The longest statement or plan, in characters.
const PLAN_CHARS: usize = 20_000;
/// Metrics with a column of their own, as far as a scenario has them.
const COLUMNS: [&str; 12] = [
    "claims_per_s",
    "rows_per_s",
    "pages_per_claim",
    "pages_touched_per_claim",
    "skips_per_claim",
    "skipped_rows_per_claim",
    "lock_requests_per_claim",
    "vm_steps_per_claim",
    "waits_per_claim",
    "lock_waits_per_claim",
    "lock_wait_ms_per_claim",
    "jain_index",
];
/// Percentiles of the main operation, with a column each.
const PERCENTILES: [(f64, &str); 4] = [(0.5, "p50"), (0.9, "p90"), (0.99, "p99"), (0.999, "p99.9")];

pub(super) struct Measurements {
    pub(super) profile: String,
    /// What is not shown to keep the page small; empty when everything is.
    pub(super) left_out: &'static str,
    pub(super) engines: Vec<Engine>,
}

pub(super) struct Engine {
    pub(super) id: String,
    pub(super) title: String,
    pub(super) version: String,
    pub(super) durability: Vec<(String, String)>,
    pub(super) settings: Vec<(String, String)>,
    pub(super) facts: Vec<(&'static str, String)>,
    /// Cells that are no result, with what was violated.
    pub(super) violations: Vec<(String, Vec<String>)>,
    pub(super) not_observable: Vec<(String, String)>,
    pub(super) scenarios: Vec<Scenario>,
    pub(super) plans: Vec<Plan>,
}

pub(super) struct Scenario {
    pub(super) name: String,
    pub(super) figures: Vec<Figure>,
    /// Figures of one line each, below a title.
    pub(super) lines: Vec<(String, Vec<Figure>)>,
    pub(super) head: Vec<String>,
    pub(super) rows: Vec<Row>,
    pub(super) details: Vec<Detail>,
}

pub(super) struct Row {
    pub(super) id: String,
    pub(super) name: String,
    pub(super) values: Vec<Value>,
}

pub(super) struct Plan {
    pub(super) statement: String,
    pub(super) fingerprint: String,
    pub(super) sql: String,
    pub(super) plan: String,
}

pub(super) fn of(run: &BenchRun, depth: Depth) -> Measurements {
    let mut numbered = run.cells.iter().enumerate().collect::<Vec<_>>();
    let engines = run.engines.iter().enumerate().map(|(place, engine)| {
        let (own, others) = numbered.drain(..).partition(|(_, cell)| cell.engine == engine.name);
        numbered = others;
        let own: Vec<Measured<'_>> =
            Vec::into_iter(own).map(|(number, cell)| Measured::of(cell, number)).collect();
        of_engine(run, engine, place, own, depth)
    });
    Measurements {
        profile: label(&run.profile),
        left_out: depth.left_out(),
        engines: engines.collect(),
    }
}

fn of_engine(
    run: &BenchRun,
    engine: &BenchEngine,
    place: usize,
    cells: Vec<Measured<'_>>,
    depth: Depth,
) -> Engine {
    let name = &engine.name;
    let floor = run.floor(name, THROUGHPUT).map(|floor| {
        let how = if floor.arms { "arms" } else { "halves of the same repeats" };
        let pairs = if floor.pairs == 1 { "pair" } else { "pairs" };
        format!("{} of throughput, from {} {pairs} of {how}", percent(floor.relative), floor.pairs)
    });
    let detectable =
        [("throughput", THROUGHPUT), ("claim p99", "claim_p99_us")].map(|(words, metric)| {
            Some(format!("{} of {words}", percent(run.detectable(name, metric)?)))
        });
    let detectable: Vec<String> = detectable.into_iter().flatten().collect();
    let unknown = |text: Option<String>| {
        text.filter(|text| !text.is_empty()).unwrap_or_else(|| "unknown".to_owned())
    };
    let violated = cells.iter().filter(|measured| !measured.cell.violations.is_empty());
    let violated =
        violated.map(|measured| (label(&measured.cell.key()), labels(&measured.cell.violations)));
    // The sum and the mean of one thing are hidden for one reason.
    let hidden: BTreeSet<(String, String)> = run
        .not_observable(name)
        .iter()
        .map(|(metric, reason)| (label(&words(metric)), label(reason)))
        .collect();
    Engine {
        id: format!("engine-{place}"),
        title: label(if engine.title.is_empty() { name } else { &engine.title }),
        version: label(&engine.version),
        durability: pairs(&engine.durability),
        settings: pairs(&engine.settings),
        facts: vec![
            ("isolation", label(&engine.isolation)),
            ("provider", label(&engine.provider)),
            ("A/A floor", unknown(floor)),
            ("smallest change that shows", unknown(Some(detectable.join(", ")))),
        ],
        violations: violated.collect(),
        not_observable: hidden.into_iter().collect(),
        scenarios: scenarios(cells, depth),
        plans: engine
            .plans
            .iter()
            .map(|plan| Plan {
                statement: label(&plan.statement),
                fingerprint: label(&plan.fingerprint),
                sql: clip(&lines(&plan.sql), PLAN_CHARS),
                plan: clip(&lines(&plan.plan), PLAN_CHARS),
            })
            .collect(),
    }
}

fn labels(texts: &[String]) -> Vec<String> {
    texts.iter().map(|text| label(text)).collect()
}

fn scenarios(cells: Vec<Measured<'_>>, depth: Depth) -> Vec<Scenario> {
    let mut names: Vec<&str> = Vec::new();
    for measured in &cells {
        if !names.contains(&measured.cell.scenario.as_str()) {
            names.push(&measured.cell.scenario);
        }
    }
    let mut rest = cells;
    let mut scenarios = Vec::new();
    for name in names {
        let (own, others) = rest.into_iter().partition(|measured| measured.cell.scenario == name);
        rest = others;
        scenarios.push(scenario(name, &Group::of(own), depth));
    }
    scenarios
}

fn scenario(name: &str, group: &Group<'_>, depth: Depth) -> Scenario {
    // What no cell shows is said once, above the scenarios.
    let all = |name: &&str| {
        let mut metrics = group.cells.iter().filter_map(|measured| measured.metrics.get(*name));
        metrics.any(|observed| matches!(observed, Observed::Values(_)))
    };
    let mut columns: Vec<&str> = COLUMNS.into_iter().filter(all).collect();
    let operation = main_operation(group);
    if columns.is_empty() {
        // A probe measures something of its own.
        let names = group.cells.iter().flat_map(|measured| measured.metrics.keys());
        let names: BTreeSet<&str> = names.map(String::as_str).filter(all).collect();
        columns.extend(names.into_iter().take(COLUMNS.len()));
    }
    let mut head: Vec<String> = columns.iter().map(|name| titled(name)).collect();
    if let Some(operation) = operation {
        head.extend(PERCENTILES.map(|(_, name)| format!("{} {name}", label(operation))));
        head.push(format!("{} max", label(operation)));
    }
    let lines = group.lines().into_iter().map(|(name, cells)| {
        let name = if name.is_empty() { "Latency, time and workers".to_owned() } else { name };
        let figures = match depth {
            Depth::All => figure::of_line(group, &cells, |_| true),
            Depth::MainOperation => figure::of_line(group, &cells, |name| Some(name) == operation),
            Depth::AlongAxis | Depth::Tables => Vec::new(),
        };
        (name, figures)
    });
    Scenario {
        name: label(name),
        figures: if depth < Depth::Tables { along_axis(group) } else { Vec::new() },
        lines: lines.filter(|(_, figures)| !figures.is_empty()).collect(),
        head,
        rows: group
            .cells
            .iter()
            .map(|measured| row(group, measured, &columns, operation))
            .collect(),
        details: group.cells.iter().map(|measured| detail(group, measured, depth)).collect(),
    }
}

fn along_axis(group: &Group<'_>) -> Vec<Figure> {
    figure::known_waits(group).into_iter().chain(figure::along_axis(group)).collect()
}

fn main_operation<'run>(group: &Group<'run>) -> Option<&'run str> {
    let mut operations = group.cells.iter().flat_map(|measured| measured.spectra.keys().copied());
    operations.clone().find(|name| *name == "claim").or_else(|| operations.next())
}

fn row(
    group: &Group<'_>,
    measured: &Measured<'_>,
    columns: &[&str],
    operation: Option<&str>,
) -> Row {
    let mut values: Vec<Value> = columns
        .iter()
        .map(|name| {
            if measured.cell.is_result() { value(name, measured.metric(name)) } else { no_result() }
        })
        .collect();
    if operation.is_some() {
        let spectrum = operation.and_then(|operation| measured.spectra.get(operation));
        let quantiles =
            PERCENTILES.map(|(quantile, _)| spectrum.and_then(|spectrum| spectrum.at(quantile)));
        let longest = spectrum.and_then(crate::bench::Spectrum::longest);
        values.extend(quantiles.into_iter().chain([longest]).map(|us| Value {
            text: us.map(duration_us).unwrap_or_else(|| "–".to_owned()),
            interval: String::new(),
            reason: String::new(),
        }));
    }
    Row { id: measured.id.clone(), name: group.title(measured), values }
}
