//! What a cell amounts to: its name, and each of its metrics over all repeats.

use std::collections::{BTreeMap, BTreeSet};

use super::{BenchCell, BenchRun, Latency, Reading, Repeat};
use crate::stats::Estimate;

/// The parameter that says how many workers a cell had.
const WORKERS: &str = "workers";

/// What a cell says about one metric.
#[derive(Clone, Debug, PartialEq)]
pub enum Observed {
    /// What was read, one value a repeat.
    Values(Vec<f64>),
    /// The engine does not show it; why.
    NotObservable(String),
}

impl Observed {
    /// The mean over the repeats, where there is one.
    #[must_use]
    pub fn estimate(&self) -> Option<Estimate> {
        match self {
            Self::Values(values) => Estimate::of(values),
            Self::NotObservable(_) => None,
        }
    }
}

impl BenchRun {
    /// The engine with the name `name`.
    #[must_use]
    pub fn engine(&self, name: &str) -> Option<&super::BenchEngine> {
        self.engines.iter().find(|engine| engine.name == name)
    }

    /// What `engine` does not show in any of its cells, with the reason.
    #[must_use]
    pub fn not_observable(&self, engine: &str) -> BTreeMap<String, String> {
        let mut hidden = BTreeMap::new();
        let mut seen = BTreeSet::new();
        for cell in self.cells.iter().filter(|cell| cell.engine == engine) {
            for (name, observed) in cell.metrics() {
                match observed {
                    Observed::Values(_) => drop(seen.insert(name)),
                    Observed::NotObservable(reason) => drop(hidden.entry(name).or_insert(reason)),
                }
            }
        }
        hidden.retain(|name, _| !seen.contains(name));
        hidden
    }

    /// How the run ended, in one line of plain text without a full stop.
    #[must_use]
    pub fn verdict(&self) -> String {
        let violated = self.cells.iter().filter(|cell| !cell.violations.is_empty()).count();
        let empty = self.cells.iter().filter(|cell| cell.repeats.is_empty()).count();
        let counted = |count: usize, noun: &str| {
            format!("{count} {noun}{}", if count == 1 { "" } else { "s" })
        };
        let mut line = format!(
            "{}, {} measured",
            counted(self.engines.len(), "engine"),
            counted(self.cells.iter().filter(|cell| cell.is_result()).count(), "cell")
        );
        if violated > 0 {
            line.push_str(&format!("; {} violated: no result", counted(violated, "cell")));
        }
        if empty > 0 {
            line.push_str(&format!("; {} without a repeat", counted(empty, "cell")));
        }
        if let Some(shard) = &self.shard {
            line = format!("shard {} of {}, {line}", shard.index, shard.count);
        }
        if self.left > 0 {
            line.push_str(&format!(
                "; incomplete: {} not measured",
                counted(self.left as usize, "repeat")
            ));
        }
        if let Some(partial) = &self.partial {
            let names = partial.missing.iter().map(u32::to_string).collect::<Vec<_>>().join(", ");
            line.push_str(&format!("; partial: of {} shards {names} missing", partial.count));
        }
        line
    }
}

/// How a violation begins that is no violation of the engine's: it could not be measured.
pub const UNMEASURED: &str = "could not be measured: ";

impl BenchCell {
    /// What the engine violated: an event was lost or doubled, or counts contradict each other.
    #[must_use]
    pub fn violated(&self) -> Option<&str> {
        self.entry(false)
    }

    /// Why something could not be measured, which says nothing of the engine.
    #[must_use]
    pub fn unmeasured(&self) -> Option<&str> {
        self.entry(true)
    }

    fn entry(&self, unmeasured: bool) -> Option<&str> {
        let mut entries = self.violations.iter();
        entries.find(|entry| entry.contains(UNMEASURED) == unmeasured).map(String::as_str)
    }

    /// What identifies the cell in its run: `<engine>/<scenario>/<parameter>=<value>/…`.
    #[must_use]
    pub fn key(&self) -> String {
        self.key_on(&self.engine)
    }

    /// The key that the cell has on another engine.
    pub(crate) fn key_on(&self, engine: &str) -> String {
        let place = self.place();
        let separator = if place.is_empty() { "" } else { "/" };
        format!("{engine}/{}{separator}{place}", self.scenario)
    }

    /// The parameters, as `batch=10/workers=4`.
    #[must_use]
    pub fn place(&self) -> String {
        let parts: Vec<String> =
            self.parameters.iter().map(|(name, value)| format!("{name}={value}")).collect();
        parts.join("/")
    }

    /// How many workers the cell had, when it says so.
    #[must_use]
    pub fn workers(&self) -> Option<u32> {
        self.parameters.get(WORKERS)?.parse().ok()
    }

    /// The parameters without the number of workers: cells that share them form one line.
    #[must_use]
    pub fn line(&self) -> String {
        let parts: Vec<String> = self
            .parameters
            .iter()
            .filter(|(name, _)| *name != WORKERS)
            .map(|(name, value)| format!("{name} {value}"))
            .collect();
        parts.join(", ")
    }

    /// Whether the cell is a result: nothing was violated, and something was measured.
    #[must_use]
    pub fn is_result(&self) -> bool {
        self.violations.is_empty() && !self.repeats.is_empty()
    }

    /// Every metric of the cell over its repeats, sorted by name.
    ///
    /// Percentiles of latencies are among them, as `<operation>_p99_us`. A metric that some repeat
    /// shows has the values of those that do.
    #[must_use]
    pub fn metrics(&self) -> BTreeMap<String, Observed> {
        let mut metrics: BTreeMap<String, Observed> = BTreeMap::new();
        for repeat in &self.repeats {
            for (name, reading) in &repeat.readings {
                add(&mut metrics, name, reading);
            }
            for (name, value) in percentiles(repeat) {
                if !repeat.readings.contains_key(&name) {
                    add(&mut metrics, &name, &Reading::Value(value));
                }
            }
        }
        metrics
    }

    /// One metric of the cell over its repeats.
    #[must_use]
    pub fn metric(&self, name: &str) -> Option<Observed> {
        let mut found = BTreeMap::new();
        for repeat in &self.repeats {
            if let Some(reading) = repeat.readings.get(name) {
                add(&mut found, name, reading);
            } else if let Some((_, value)) = percentiles(repeat).find(|(other, _)| other == name) {
                add(&mut found, name, &Reading::Value(value));
            }
        }
        found.remove(name)
    }

    /// One metric of the cell over its repeats, by the group in which each was measured.
    pub(crate) fn in_groups(&self, name: &str) -> BTreeMap<u32, Vec<f64>> {
        let mut groups: BTreeMap<u32, Vec<f64>> = BTreeMap::new();
        for repeat in &self.repeats {
            let read = repeat.readings.get(name).and_then(Reading::value);
            let value = read.or_else(|| {
                percentiles(repeat).find_map(|(other, value)| (other == name).then_some(value))
            });
            if let (Some(group), Some(value)) = (repeat.group, value) {
                groups.entry(group).or_default().push(value);
            }
        }
        groups
    }

    /// The fewest operations of the kind that `metric` is a percentile of, in any repeat; `None` for
    /// a metric that is no percentile of latencies.
    pub(crate) fn fewest_behind(&self, metric: &str) -> Option<u64> {
        let operation = self.operations().into_iter().find(|operation| {
            metric
                .strip_prefix(operation)
                .is_some_and(|rest| rest.starts_with("_p") || rest == "_max_us")
        })?;
        let count =
            |repeat: &Repeat| repeat.latencies.get(operation).map_or(0, |latency| latency.count);
        self.repeats.iter().map(count).min()
    }

    /// The operations of which there are latencies, sorted.
    #[must_use]
    pub fn operations(&self) -> BTreeSet<&str> {
        let repeats = self.repeats.iter();
        repeats.flat_map(|repeat| repeat.latencies.keys().map(String::as_str)).collect()
    }
}

fn add(metrics: &mut BTreeMap<String, Observed>, name: &str, reading: &Reading) {
    match (metrics.get_mut(name), reading) {
        (Some(Observed::Values(values)), Reading::Value(value)) => values.push(*value),
        (Some(Observed::Values(_)), Reading::NotObservable(_))
        | (Some(Observed::NotObservable(_)), Reading::NotObservable(_)) => {}
        (_, Reading::Value(value)) => {
            metrics.insert(name.to_owned(), Observed::Values(vec![*value]));
        }
        (None, Reading::NotObservable(reason)) => {
            metrics.insert(name.to_owned(), Observed::NotObservable(reason.clone()));
        }
    }
}

fn percentiles(repeat: &Repeat) -> impl Iterator<Item = (String, f64)> {
    let of = |(operation, latency): (&String, &Latency)| {
        [
            (format!("{operation}_p50_us"), latency.p50_us),
            (format!("{operation}_p90_us"), latency.p90_us),
            (format!("{operation}_p99_us"), latency.p99_us),
            (format!("{operation}_p999_us"), latency.p999_us),
            (format!("{operation}_max_us"), latency.max_us),
        ]
    };
    repeat.latencies.iter().filter(|(_, latency)| latency.count > 0).flat_map(of)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample;

    #[test]
    fn a_cell_has_a_name_and_a_line() {
        let run = sample::bench();
        let cell = &run.cells[0];
        assert_eq!(cell.key(), "postgres/claim-scaling/batch=1/strategy=skip-locked/workers=1");
        assert_eq!(cell.line(), "batch 1, strategy skip-locked");
        assert_eq!(cell.workers(), Some(1));
    }

    #[test]
    fn what_some_repeat_shows_is_shown() {
        let mut cell = sample::bench().cells[0].clone();
        let repeats = u32::try_from(cell.repeats.len()).unwrap();
        let hidden = Reading::NotObservable("the probe is off".to_owned());
        cell.repeats[0].readings.insert("claims_per_s".to_owned(), hidden.clone());
        let Some(Observed::Values(values)) = cell.metric("claims_per_s") else { panic!() };
        assert_eq!(values.len() + 1, repeats as usize);
        for repeat in &mut cell.repeats {
            repeat.readings.insert("claims_per_s".to_owned(), hidden.clone());
        }
        let reason = Observed::NotObservable("the probe is off".to_owned());
        assert_eq!(cell.metric("claims_per_s"), Some(reason));
        assert!(matches!(cell.metric("claim_p99_us"), Some(Observed::Values(_))));
        assert_eq!(cell.metric("nothing"), None);
        for (name, observed) in cell.metrics() {
            assert_eq!(cell.metric(&name), Some(observed), "{name}");
        }
    }
}
