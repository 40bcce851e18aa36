//! Measures a plan, repeat by repeat, and saves after each what there is.
//!
//! Invariants: the repeats of a cell are never measured one after the other, so that a drift of the
//! machine is spread over all cells; what was measured is saved before the next thing begins; a
//! seed depends on the run's seed, the cell and the number of the repeat alone.

use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use leaseproof_engines::EngineError;
use leaseproof_engines::provider::{ProgressFn, ProvideOptions, Selection};
use leaseproof_reports::RunDirError;
use leaseproof_reports::bench::{
    BenchCell, BenchEngine, BenchRun, BenchShard, Plan as StatementPlan,
};
use leaseproof_reports::schema::SEED_MAX;
use rand::seq::SliceRandom as _;
use rand::{SeedableRng as _, rngs::StdRng};

use crate::measured::Measured;
use crate::profile::Profile;
use crate::scenario::{Scenario, Spec, Stop, Task};
use crate::server::{Bench, BenchError, Queue};

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

/// What happens while a plan is measured.
pub enum Event<'run> {
    /// An engine's server answers, and that many seconds are expected.
    Ready(&'run Bench, f64),
    /// An engine is not measured.
    Missing(&'run str, &'run BenchError),
    /// A repeat begins.
    Started(&'run Bench, &'run Job),
    /// A repeat has ended.
    Finished(&'run Bench, &'run Job, &'run Measured),
}

/// How a run is watched, stopped and saved.
pub struct Hooks<'run> {
    /// Is told what happens.
    pub event: &'run mut dyn FnMut(Event<'_>),
    /// Whether to stop before the next repeat.
    pub stop: Stop<'run>,
    /// Saves what there is; what it fails with ends the run.
    pub save: &'run mut dyn FnMut(&BenchRun) -> Result<(), RunDirError>,
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
            let seed = derive(self.seed, &(&label, repeat));
            block.shuffle(&mut StdRng::seed_from_u64(seed));
            jobs.extend(block);
        }
        jobs
    }

    /// The cells on one engine that are in this part of the plan.
    fn specs(&self, selection: &Selection) -> Vec<(&'static dyn Scenario, Spec)> {
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

    /// What a report says of the part, or `None` for a whole run.
    #[must_use]
    pub fn report(&self, run: &BenchRun) -> Option<BenchShard> {
        let (index, count) = self.shard?;
        let mut places = BTreeMap::new();
        for selection in &self.selections {
            for (scenario, spec) in self.all_specs(selection) {
                let place = u32::try_from(places.len()).unwrap_or(u32::MAX);
                places.insert((selection.label(), scenario.id(), spec.parameters), place);
            }
        }
        let place = |cell: &BenchCell| {
            let found = places.iter().find(|((label, scenario, parameters), _)| {
                cell.engine == *label
                    && cell.scenario == *scenario
                    && cell.parameters == *parameters
            });
            found.map_or(u32::MAX, |(_, place)| *place)
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
        let label = selection.label();
        let done = |job: &Job| {
            let cell = run.cells.iter().find(|cell| is_cell_of(cell, &label, job));
            let repeats = cell.map_or(0, |cell| cell.repeats.len());
            job.repeat < u32::try_from(repeats).unwrap_or(u32::MAX)
        };
        self.jobs(selection).into_iter().filter(|job| !done(job)).collect()
    }
}

/// How long these are expected to take, in seconds.
#[must_use]
pub fn seconds(jobs: &[Job]) -> f64 {
    jobs.iter().map(|job| job.spec.seconds).sum()
}

fn is_cell_of(cell: &BenchCell, label: &str, job: &Job) -> bool {
    cell.engine == label
        && cell.scenario == job.scenario.id()
        && cell.parameters == job.spec.parameters
}

pub(crate) fn derive(seed: u64, of: &impl std::hash::Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    seed.hash(&mut hasher);
    of.hash(&mut hasher);
    hasher.finish() % (SEED_MAX + 1)
}

/// Measures what `run` does not hold yet, engine by engine.
///
/// # Errors
/// What saving failed with.
pub async fn run(
    plan: &Plan,
    run: &mut BenchRun,
    options: &ProvideOptions,
    progress: ProgressFn<'_>,
    hooks: &mut Hooks<'_>,
) -> Result<(), RunDirError> {
    for selection in &plan.selections {
        let left = plan.left(selection, run);
        if left.is_empty() || (hooks.stop)() {
            continue;
        }
        let bench = match Bench::provide(selection, options, progress).await {
            Ok(bench) => bench,
            Err(error) => {
                (hooks.event)(Event::Missing(&selection.label(), &error));
                continue;
            }
        };
        if run.engines.iter().all(|engine| engine.name != bench.label) {
            run.engines.push(engine_of(&bench).await);
        }
        announce(run, &bench, plan.specs(selection));
        (hooks.event)(Event::Ready(&bench, seconds(&left)));
        for job in left {
            if (hooks.stop)() {
                break;
            }
            (hooks.event)(Event::Started(&bench, &job));
            let measured = measure((plan.seed, plan.profile, hooks.stop), &bench, &job, run).await;
            let is_unmeasured = |violation: &String| violation.starts_with(UNMEASURED);
            if (hooks.stop)() && measured.violations.iter().any(is_unmeasured) {
                // An interrupt ends the processes of a measurement, too; a resumed run repeats it.
                break;
            }
            (hooks.event)(Event::Finished(&bench, &job, &measured));
            add(run, &bench, &job, measured);
            (hooks.save)(run)?;
        }
    }
    Ok(())
}

/// Gives the run a cell for each that will be measured, in report order.
pub(crate) fn announce(
    run: &mut BenchRun,
    bench: &Bench,
    cells: Vec<(&'static dyn Scenario, Spec)>,
) {
    for (scenario, spec) in cells {
        let job = Job { scenario, spec, repeat: 0 };
        if !run.cells.iter().any(|cell| is_cell_of(cell, &bench.label, &job)) {
            run.cells.push(BenchCell {
                engine: bench.label.clone(),
                scenario: scenario.id().to_owned(),
                parameters: job.spec.parameters,
                ..BenchCell::default()
            });
        }
    }
}

/// Measures one repeat of a cell; an error is a violation, for then there is no result.
pub(crate) async fn measure(
    (seed, profile, stop): (u64, &Profile, Stop<'_>),
    bench: &Bench,
    job: &Job,
    run: &BenchRun,
) -> Measured {
    let parameters: Vec<_> = job.spec.parameters.iter().collect();
    let key = (&bench.label, job.scenario.id(), &parameters, job.repeat);
    let seed = derive(seed, &key);
    let task = Task { bench, spec: &job.spec, profile, seed, stop };
    let mut measured = job.scenario.measure(task).await.unwrap_or_else(|error| Measured {
        violations: vec![format!("{UNMEASURED}{error}")],
        ..Measured::default()
    });
    measured.repeat.seed = seed;
    let order = run.cells.iter().map(|cell| cell.repeats.len()).sum::<usize>();
    measured.repeat.order = u32::try_from(order).unwrap_or(u32::MAX);
    measured
}

/// How a violation begins that is no violation of the engine's: it could not be measured.
pub const UNMEASURED: &str = "could not be measured: ";

/// Adds a repeat to its cell.
pub(crate) fn add(run: &mut BenchRun, bench: &Bench, job: &Job, measured: Measured) {
    let cell = run.cells.iter_mut().find(|cell| is_cell_of(cell, &bench.label, job));
    let cell = cell.expect("an engine's cells are there before the first is measured");
    for violation in measured.violations {
        cell.violations.push(format!("repeat {}: {violation}", job.repeat + 1));
    }
    cell.repeats.push(measured.repeat);
}

/// What a report says of the engine. A plan that cannot be had is left out.
pub(crate) async fn engine_of(bench: &Bench) -> BenchEngine {
    let (plans, housekeeping) = match looked_at(bench).await {
        Ok(found) => found,
        Err(error) => {
            let (statement, plan) = ("claim".to_owned(), error.to_string());
            (vec![StatementPlan { statement, plan, ..StatementPlan::default() }], Vec::new())
        }
    };
    BenchEngine {
        name: bench.label.clone(),
        title: bench.engine.title().to_owned(),
        version: bench.identity.version.clone(),
        provider: bench.endpoint.provider.as_str().to_owned(),
        isolation: bench.identity.isolation.clone(),
        durability: bench.identity.durability.clone(),
        settings: bench.identity.settings.clone(),
        housekeeping,
        plans,
    }
}

/// The plans on a queue that is as deep as those that are measured, and the counters that hold more than
/// the work of sessions.
async fn looked_at(bench: &Bench) -> Result<(Vec<StatementPlan>, Vec<String>), EngineError> {
    const DEPTH: u64 = 5000;
    let mut filled = bench.queue(&Queue::new(bench.engine, DEPTH)).await?;
    let plans = filled.instruments.plans().await;
    let counters = filled.instruments.with_housekeeping().iter();
    let counters = counters.map(|counter| counter.as_str().to_owned()).collect();
    filled.remove().await?;
    let plan = |plan: leaseproof_engines::waits::StatementPlan| StatementPlan {
        statement: plan.statement,
        sql: plan.sql,
        plan: plan.plan,
        fingerprint: plan.fingerprint,
    };
    Ok((plans?.into_iter().map(plan).collect(), counters))
}
