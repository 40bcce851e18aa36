//! Measures a plan, repeat by repeat, and saves after each what there is.
//!
//! Invariants: what was measured is saved before the next thing begins; what one run holds was measured
//! on one server and by one client.

use leaseproof_engines::servers::{ProgressFn, ProvideOptions};
use leaseproof_engines::{EngineError, Identity};
use leaseproof_reports::RunDirError;
pub use leaseproof_reports::bench::UNMEASURED;
use leaseproof_reports::bench::{BenchCell, BenchEngine, BenchRun, Plan as StatementPlan};
use leaseproof_reports::seed::derive;

use crate::measured::Measured;
use crate::plan::{Job, Plan, is_cell_of, seconds};
use crate::profile::Profile;
use crate::scenario::{Scenario, Spec, Stop, Task};
use crate::server::{Bench, BenchError, Queue};

/// Why a plan could not be measured.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SuiteError {
    /// What was measured could not be saved.
    #[error(transparent)]
    Save(#[from] RunDirError),
    /// The run holds measurements of a server that is no longer the same.
    #[error("{engine} is not what was measured before: {change}")]
    Changed {
        /// The engine.
        engine: String,
        /// What differs, from what to what.
        change: String,
    },
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

/// Measures what `run` does not hold yet, engine by engine.
///
/// # Errors
/// [`SuiteError`] when it could not be saved, or `run` holds measurements of another server.
pub async fn run(
    plan: &Plan,
    run: &mut BenchRun,
    options: &ProvideOptions,
    progress: ProgressFn<'_>,
    hooks: &mut Hooks<'_>,
) -> Result<(), SuiteError> {
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
        // Of a server given by URL it is known only now which one it is.
        match run.engines.iter().find(|engine| plan.is_of(&engine.name, selection)) {
            Some(known) => same(known, &bench)?,
            None => run.engines.push(engine_of(&bench).await),
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

/// Whether a server is the one whose measurements are in the run already.
fn same(known: &BenchEngine, bench: &Bench) -> Result<(), SuiteError> {
    let Identity { version, isolation, durability, settings, .. } = &bench.identity;
    let mut changes = Vec::new();
    let facts = [
        ("label", &known.name, &bench.label),
        ("version", &known.version, version),
        ("isolation", &known.isolation, isolation),
    ];
    for (name, before, now) in facts {
        if before != now {
            changes.push(format!("{name} {before} → {now}"));
        }
    }
    for (before, now) in [(&known.durability, durability), (&known.settings, settings)] {
        for (name, value) in before {
            match now.get(name) {
                Some(other) if other == value => {}
                Some(other) => changes.push(format!("{name} {value} → {other}")),
                None => changes.push(format!("{name} is gone")),
            }
        }
    }
    if changes.is_empty() {
        return Ok(());
    }
    Err(SuiteError::Changed { engine: known.title.clone(), change: changes.join(", ") })
}

/// Forgets the repeats of cells in which one could not be measured, so that they are measured again: what
/// kept it from being measured was no property of the engine.
pub fn forget_unmeasured(run: &mut BenchRun) {
    for cell in &mut run.cells {
        if cell.unmeasured().is_some() {
            cell.repeats.clear();
            cell.violations.clear();
        }
    }
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
    let repeat = job.repeat.to_string();
    let mut key: Vec<&str> = vec![&bench.label, job.scenario.id(), &repeat];
    key.extend(job.spec.parameters.iter().flat_map(|(name, value)| [name.as_str(), value]));
    let seed = derive(seed, &key);
    let task = Task { bench, spec: &job.spec, profile, seed, stop };
    let mut measured = job.scenario.measure(task).await.unwrap_or_else(|error| Measured {
        violations: vec![format!("{UNMEASURED}{error}")],
        ..Measured::default()
    });
    bench.sweep().await;
    measured.repeat.seed = seed;
    let order = run.cells.iter().map(|cell| cell.repeats.len()).sum::<usize>();
    measured.repeat.order = u32::try_from(order).unwrap_or(u32::MAX);
    measured
}

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
    bench.sweep().await;
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
    let plan = |plan: leaseproof_engines::instruments::StatementPlan| StatementPlan {
        statement: plan.statement,
        sql: plan.sql,
        plan: plan.plan,
        fingerprint: plan.fingerprint,
    };
    Ok((plans?.into_iter().map(plan).collect(), counters))
}
