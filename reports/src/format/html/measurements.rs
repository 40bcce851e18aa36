//! The measurements: each engine by itself, scenario by scenario.

use super::{
    super::{
        number::{duration_us, percent, short},
        text::{clip, lines},
    },
    Depth,
    figure::{self, Figure},
    label,
    measured::{Group, Measured},
    pairs,
};
use crate::{
    bench::{BenchEngine, BenchRun, Metric, Observed, words},
    stats::Estimate,
};

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
    pub(super) violations: Vec<(String, String)>,
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

/// One number as it is shown, or why there is none.
pub(super) struct Value {
    pub(super) text: String,
    /// The interval; empty when there is none.
    pub(super) interval: String,
    /// Why there is no number; empty when there is one.
    pub(super) reason: String,
}

/// Everything about one cell.
pub(super) struct Detail {
    pub(super) id: String,
    pub(super) title: String,
    pub(super) violations: Vec<String>,
    pub(super) metrics: Vec<(String, Value, String)>,
    pub(super) counts: Vec<(&'static str, String)>,
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
        format!("{} of throughput, from {} pairs of {how}", percent(floor.relative), floor.pairs)
    });
    let detectable =
        [("throughput", THROUGHPUT), ("claim p99", "claim_p99_us")].map(|(words, metric)| {
            Some(format!("{} of {words}", percent(run.detectable(name, metric)?)))
        });
    let detectable: Vec<String> = detectable.into_iter().flatten().collect();
    let unknown = |text: Option<String>| {
        text.filter(|text| !text.is_empty()).unwrap_or_else(|| "unknown".to_owned())
    };
    let violated = cells.iter().flat_map(|measured| {
        let violations = measured.cell.violations.iter();
        violations.map(|violation| (label(&measured.cell.key()), label(violation)))
    });
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
        not_observable: run
            .not_observable(name)
            .iter()
            .map(|(metric, reason)| (label(&words(metric)), label(reason)))
            .collect(),
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
    let all = |name: &&&str| {
        let mut metrics = group.cells.iter().filter_map(|measured| measured.metrics.get(**name));
        metrics.any(|observed| matches!(observed, Observed::Values(_)))
    };
    let columns: Vec<&str> = COLUMNS.iter().filter(all).copied().collect();
    let operation = main_operation(group);
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
    Row { id: measured.id.clone(), name: title(group, measured), values }
}

fn title(group: &Group<'_>, measured: &Measured<'_>) -> String {
    let (line, stop) = (group.label(measured.cell), group.stop(measured.cell));
    match (line.is_empty(), group.axis.is_some()) {
        (true, true) => stop,
        (false, true) => format!("{line}, {stop}"),
        (false, false) => line,
        (true, false) if measured.cell.parameters.is_empty() => label(&measured.cell.scenario),
        (true, false) => label(&measured.cell.place().replace('/', ", ")),
    }
}

fn no_result() -> Value {
    Value {
        text: "no result".to_owned(),
        interval: String::new(),
        reason: "see the violations".to_owned(),
    }
}

fn value(name: &str, observed: Option<&Observed>) -> Value {
    let plain = |text: &str| Value {
        text: text.to_owned(),
        interval: String::new(),
        reason: String::new(),
    };
    let shown = |value: f64| if name.ends_with("_us") { duration_us(value) } else { short(value) };
    match observed {
        None => plain("–"),
        Some(Observed::NotObservable(reason)) => {
            Value { reason: label(reason), ..plain("not observable") }
        }
        Some(Observed::Values(values)) => match Estimate::of(values) {
            Some(Estimate { mean, low: Some(low), high: Some(high), .. }) if low < high => Value {
                interval: format!("{}–{}", shown(low), shown(high)),
                ..plain(&shown(mean))
            },
            Some(Estimate { mean, .. }) => plain(&shown(mean)),
            None => plain("–"),
        },
    }
}

fn detail(group: &Group<'_>, measured: &Measured<'_>, depth: Depth) -> Detail {
    let cell = measured.cell;
    let metrics = measured.metrics.iter().map(|(name, observed)| {
        let repeats = match observed {
            Observed::Values(_) if depth == Depth::Tables => String::new(),
            Observed::Values(values) => {
                values.iter().map(|value| short(*value)).collect::<Vec<_>>().join(" · ")
            }
            Observed::NotObservable(reason) => label(reason),
        };
        (titled(name), value(name, Some(observed)), repeats)
    });
    let joined = |of: fn(&crate::bench::Repeat) -> String| {
        let parts: Vec<String> =
            cell.repeats.iter().map(of).filter(|part| !part.is_empty()).collect();
        label(&parts.join(" · "))
    };
    let map = |map: &std::collections::BTreeMap<String, u64>| {
        map.iter().map(|(name, count)| format!("{name}: {count}")).collect::<Vec<_>>().join(", ")
    };
    let counts = [
        ("errors", label(&map(&summed(cell.repeats.iter().map(|repeat| &repeat.errors))))),
        ("who waited", label(&map(&summed(cell.repeats.iter().map(|repeat| &repeat.blockers))))),
        ("seeds", joined(|repeat| repeat.seed.to_string())),
        ("order", joined(|repeat| repeat.order.to_string())),
        ("seconds", joined(|repeat| short(repeat.seconds))),
    ];
    Detail {
        id: measured.id.clone(),
        title: format!(
            "{} on {}: {}",
            label(&cell.scenario),
            label(&cell.engine),
            title(group, measured)
        ),
        violations: cell.violations.iter().map(|violation| label(violation)).collect(),
        // What a violated cell measured says nothing about an engine that keeps its promises.
        metrics: if cell.is_result() { metrics.collect() } else { Vec::new() },
        counts: counts.into_iter().filter(|(_, text)| !text.is_empty()).collect(),
    }
}

fn summed<'run>(
    maps: impl Iterator<Item = &'run std::collections::BTreeMap<String, u64>>,
) -> std::collections::BTreeMap<String, u64> {
    let mut sum = std::collections::BTreeMap::new();
    for (name, count) in maps.flatten() {
        let total: &mut u64 = sum.entry(name.clone()).or_default();
        *total = total.saturating_add(*count);
    }
    sum
}

/// A metric as the title of a column; a latency says its unit with each number.
fn titled(name: &str) -> String {
    label(&match Metric::of(name).unit {
        "" | "µs" => words(name),
        unit if unit.starts_with('/') => format!("{}{unit}", words(name)),
        unit => format!("{}, {unit}", words(name)),
    })
}
