//! One cell: its numbers as they are shown, and everything that is known about it.

use std::collections::BTreeMap;

use super::{
    super::number::{duration_us, short},
    Depth, label,
    measured::{Group, Measured},
};
use crate::{
    bench::{Metric, Observed, Repeat, words},
    stats::Estimate,
};

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

pub(super) fn no_result() -> Value {
    Value {
        text: "no result".to_owned(),
        interval: String::new(),
        reason: "see the violations".to_owned(),
    }
}

pub(super) fn value(name: &str, observed: Option<&Observed>) -> Value {
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

pub(super) fn detail(group: &Group<'_>, measured: &Measured<'_>, depth: Depth) -> Detail {
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
    let joined = |of: fn(&Repeat) -> String| {
        let parts: Vec<String> =
            cell.repeats.iter().map(of).filter(|part| !part.is_empty()).collect();
        label(&parts.join(" · "))
    };
    let map = |map: &BTreeMap<String, u64>| {
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
            group.title(measured)
        ),
        violations: cell.violations.iter().map(|violation| label(violation)).collect(),
        // What a violated cell measured says nothing about an engine that keeps its promises.
        metrics: if cell.is_result() { metrics.collect() } else { Vec::new() },
        counts: counts.into_iter().filter(|(_, text)| !text.is_empty()).collect(),
    }
}

fn summed<'run>(maps: impl Iterator<Item = &'run BTreeMap<String, u64>>) -> BTreeMap<String, u64> {
    let mut sum = BTreeMap::new();
    for (name, count) in maps.flatten() {
        let total: &mut u64 = sum.entry(name.clone()).or_default();
        *total = total.saturating_add(*count);
    }
    sum
}

/// A metric as the title of a column; a latency says its unit with each number.
pub(super) fn titled(name: &str) -> String {
    label(&match Metric::of(name).unit {
        "" | "µs" => words(name),
        unit if unit.starts_with('/') => format!("{}{unit}", words(name)),
        unit => format!("{}, {unit}", words(name)),
    })
}
