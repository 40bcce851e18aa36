//! On what two runs are compared: each measured alone, or both turn about in groups.

use std::collections::BTreeMap;

use crate::{
    bench::{BenchCell, BenchRun, Floor, Metric, Nature, Observed},
    stats::Difference,
};

/// Two runs, and what is known of their noise.
pub(super) struct Basis<'run> {
    base: &'run BenchRun,
    head: &'run BenchRun,
    /// The name in the head of each engine of the base.
    in_head: BTreeMap<&'run str, &'run str>,
    /// The A/A floors of both runs, each found once.
    floors: BTreeMap<(String, String), Option<f64>>,
}

impl<'run> Basis<'run> {
    pub(super) fn new(
        base: &'run BenchRun,
        head: &'run BenchRun,
        engines: &[(&'run str, &'run str)],
    ) -> Self {
        Self { base, head, in_head: engines.iter().copied().collect(), floors: BTreeMap::new() }
    }

    /// The name in the head of an engine of the base.
    pub(super) fn in_head<'name>(&self, engine: &'name str) -> &'name str
    where
        'run: 'name,
    {
        self.in_head.get(engine).copied().unwrap_or(engine)
    }

    /// Whether both runs were measured turn about, so that what the machine did meanwhile is in both.
    pub(super) fn is_turn_about(&self) -> bool {
        is_turn_about(self.base, self.head)
    }

    /// Whether the server's own housekeeping is in a counter of that engine, on either side.
    pub(super) fn has_housekeeping(&self, engine: &str, metric: &str) -> bool {
        let sides = [self.base.engine(engine), self.head.engine(self.in_head(engine))];
        let mut counters = sides.into_iter().flatten().flat_map(|engine| &engine.housekeeping);
        counters.any(|counter| metric.starts_with(counter.as_str()))
    }

    /// How a metric differs; `None` when one side has no number.
    pub(super) fn difference(
        &self,
        [before, after]: [&BenchCell; 2],
        metric: &str,
        values: [&Observed; 2],
    ) -> Option<Difference> {
        let [Observed::Values(base), Observed::Values(head)] = values else { return None };
        if !self.is_turn_about() {
            return Difference::of(base, head);
        }
        let (before, mut after) = (before.in_groups(metric), after.in_groups(metric));
        let pairs = before.into_iter().filter_map(|(group, base)| {
            let head = after.remove(&group)?;
            Some((mean(&base), mean(&head)))
        });
        let (base, head): (Vec<f64>, Vec<f64>) = pairs.unzip();
        Difference::paired(&base, &head)
    }

    /// The greater A/A floor of a metric that is a time; counted work has none.
    pub(super) fn floor(&mut self, kind: Metric, engine: &str, metric: &str) -> Option<f64> {
        if kind.nature == Nature::Counter || !kind.gates() {
            return None;
        }
        let key = (engine.to_owned(), metric.to_owned());
        if let Some(known) = self.floors.get(&key) {
            return *known;
        }
        let turn_about = self.is_turn_about();
        let of = |run: &BenchRun, engine: &str| match turn_about {
            true => run.floor_of_turns(engine, metric),
            false => run.floor(engine, metric),
        };
        let floors: [Option<Floor>; 2] =
            [of(self.base, engine), of(self.head, self.in_head(engine))];
        let greatest = floors.into_iter().flatten().map(|floor| floor.relative).reduce(f64::max);
        *self.floors.entry(key).or_insert(greatest)
    }
}

/// Whether both runs are sides of the same comparison.
pub(super) fn is_turn_about(base: &BenchRun, head: &BenchRun) -> bool {
    base.turn_about.is_some() && base.turn_about == head.turn_about
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}
