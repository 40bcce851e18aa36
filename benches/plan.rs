//! What is to be measured, in which order, and which part of it is whose.
//!
//! Invariants: the repeats of a cell are never measured one after the other, so that a drift of the
//! machine is spread over all cells; a seed depends on the run's seed, the cell and the number of the
//! repeat alone.

use std::collections::BTreeMap;

use leaseproof_engines::servers::Selection;
use leaseproof_reports::bench::{BenchCell, BenchRun, BenchShard};
use leaseproof_reports::seed::derive;
use rand::seq::SliceRandom as _;
use rand::{SeedableRng as _, rngs::StdRng};

use crate::profile::Profile;
use crate::scenario::{Scenario, Spec};

/// What is to be measured.
pub struct Plan {
    /// The engines.
    pub selections: Vec<Selection>,
    /// The scenarios.
    pub scenarios: Vec<&'static dyn Scenario>,
    /// How much.
    pub profile: &'static Profile,
    /// The seed from which every repeat's own is derived.
    pub seed: u64,
    /// Which part of it is measured, from 1, of how many; `None` is all of it.
    pub shard: Option<(u32, u32)>,
}

/// One repeat of one cell.
#[derive(Clone)]
pub struct Job {
    /// The scenario.
    pub scenario: &'static dyn Scenario,
    /// The cell.
    pub spec: Spec,
    /// Which repeat it is, from 0.
    pub repeat: u32,
}

impl Plan {
    /// The repeats on one engine, in the order in which they are measured.
    #[must_use]
    pub fn jobs(&self, selection: &Selection) -> Vec<Job> {
        let mut jobs = Vec::new();
        let label = selection.label();
        let specs = self.specs(selection);
        let most = specs.iter().map(|(_, spec)| spec.repeats).max().unwrap_or(0);
        for repeat in 0..most {
            let of_repeat = specs.iter().filter(|(_, spec)| repeat < spec.repeats);
            let mut block: Vec<Job> = of_repeat
                .map(|(scenario, spec)| Job { scenario: *scenario, spec: spec.clone(), repeat })
                .collect();
            let seed = derive(self.seed, &[&label, &repeat.to_string()]);
            block.shuffle(&mut StdRng::seed_from_u64(seed));
            jobs.extend(block);
        }
        jobs
    }

    /// The cells on one engine that are in this part of the plan.
    pub(crate) fn specs(&self, selection: &Selection) -> Vec<(&'static dyn Scenario, Spec)> {
        let label = selection.label();
        let mut cells = self.all_specs(selection);
        if let Some((index, count)) = self.shard {
            let shards = self.dealt(count);
            cells.retain(|(scenario, _)| {
                shards.get(&(label.clone(), scenario.id())).is_some_and(|shard| *shard == index)
            });
        }
        cells
    }

    fn all_specs(&self, selection: &Selection) -> Vec<(&'static dyn Scenario, Spec)> {
        let cells = |scenario: &&'static dyn Scenario| {
            let scenario = *scenario;
            let specs = scenario.cells(selection.engine, self.profile).into_iter();
            specs.map(move |spec| (scenario, spec))
        };
        self.scenarios.iter().flat_map(cells).collect()
    }

    /// Which part measures which scenario on which engine: the longest first, each to the part that has
    /// least to do. It depends on what was asked for alone, so that jobs agree without talking.
    fn dealt(&self, count: u32) -> BTreeMap<(String, &'static str), u32> {
        let mut units: BTreeMap<(String, &'static str), f64> = BTreeMap::new();
        for selection in &self.selections {
            for (scenario, spec) in self.all_specs(selection) {
                let unit = units.entry((selection.label(), scenario.id())).or_default();
                *unit += spec.seconds * f64::from(spec.repeats);
            }
        }
        let mut units: Vec<_> = units.into_iter().collect();
        units.sort_by(|(_, one), (_, other)| other.total_cmp(one));
        let mut busy = vec![0.0_f64; count as usize];
        let mut dealt = BTreeMap::new();
        for (unit, seconds) in units {
            let least = (0..busy.len()).min_by(|one, other| busy[*one].total_cmp(&busy[*other]));
            let least = least.unwrap_or(0);
            busy[least] += seconds;
            dealt.insert(unit, u32::try_from(least).unwrap_or(0) + 1);
        }
        dealt
    }

    /// Whether cells with that label are those of `selection`. A server given by URL is named after what
    /// it says of itself, which nobody knows before it is asked.
    pub(crate) fn is_of(&self, label: &str, selection: &Selection) -> bool {
        if label == selection.label() {
            return true;
        }
        let name = selection.engine.name();
        let same = self.selections.iter().filter(|other| other.engine.name() == name);
        label.split(':').next() == Some(name) && !selection.explicit && same.count() == 1
    }

    /// What a report says of the part, or `None` for a whole run.
    #[must_use]
    pub fn report(&self, run: &BenchRun) -> Option<BenchShard> {
        let (index, count) = self.shard?;
        let mut places = Vec::new();
        for selection in &self.selections {
            for (scenario, spec) in self.all_specs(selection) {
                let place = u32::try_from(places.len()).unwrap_or(u32::MAX);
                places.push((selection, Job { scenario, spec, repeat: 0 }, place));
            }
        }
        let place = |cell: &BenchCell| {
            let found =
                places.iter().find(|(selection, job, _)| self.is_cell(cell, selection, job));
            found.map_or(u32::MAX, |(_, _, place)| *place)
        };
        let total = u32::try_from(places.len()).unwrap_or(u32::MAX);
        Some(BenchShard { index, count, total, cells: run.cells.iter().map(place).collect() })
    }

    /// How long the plan is expected to take, in seconds, without what `run` holds already.
    #[must_use]
    pub fn seconds(&self, run: &BenchRun) -> f64 {
        let selections = self.selections.iter();
        selections.map(|selection| seconds(&self.left(selection, run))).sum()
    }

    /// The repeats on one engine that the run does not hold yet.
    #[must_use]
    pub fn left(&self, selection: &Selection, run: &BenchRun) -> Vec<Job> {
        let done = |job: &Job| {
            let cell = run.cells.iter().find(|cell| self.is_cell(cell, selection, job));
            let repeats = cell.map_or(0, |cell| cell.repeats.len());
            job.repeat < u32::try_from(repeats).unwrap_or(u32::MAX)
        };
        self.jobs(selection).into_iter().filter(|job| !done(job)).collect()
    }

    fn is_cell(&self, cell: &BenchCell, selection: &Selection, job: &Job) -> bool {
        is_cell_of(cell, &cell.engine, job) && self.is_of(&cell.engine, selection)
    }
}

/// How long these are expected to take, in seconds.
#[must_use]
pub fn seconds(jobs: &[Job]) -> f64 {
    jobs.iter().map(|job| job.spec.seconds).sum()
}

pub(crate) fn is_cell_of(cell: &BenchCell, label: &str, job: &Job) -> bool {
    cell.engine == label
        && cell.scenario == job.scenario.id()
        && cell.parameters == job.spec.parameters
}
