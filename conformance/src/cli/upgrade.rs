//! `leaseproof upgrade`: two servers at once, the catalogue on both, measured turn about, one verdict.

use clap::Args;
use leaseproof_benches::conditions;
use leaseproof_benches::interleaved::{self, Hooks};
use leaseproof_benches::server::{Bench, Fault};
use leaseproof_engines::servers::Selection;
use leaseproof_reports::bench::BenchRun;
use leaseproof_reports::compare;
use leaseproof_reports::{Loaded, RunDir};

use super::asked::Asked;
use super::bench_progress::Watch;
use super::error::CliError;
use super::gate_options::{GateOptions, exit_of};
use super::output::out;
use super::shown;
use crate::exit_code::Exit;
use crate::run::measured::fresh;
use crate::run::origin::{now, run_id};
use crate::run::summary;

#[derive(Args)]
#[command(after_help = Exit::HELP)]
pub(super) struct Arguments {
    /// What is in use: `postgres:15`, or a server of yours, `url=postgresql://USER:PASSWORD@HOST/DB`
    /// (`mariadb=mysql://…` where the scheme does not say which engine)
    #[arg(value_name = "BASE")]
    base: String,
    /// What it may become, named the same way
    #[arg(value_name = "HEAD")]
    head: String,
    #[command(flatten)]
    asked: Asked,
    /// In how many groups of base, head, head, base each cell is measured; fewer than 10 seldom decide
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = clap::value_parser!(u32).range(2..=1000))]
    groups: u32,
    #[command(flatten)]
    gate: GateOptions,
    /// Put a known fault into the measured head, to see that it is found: `slow-claim` or `no-index`
    #[arg(long, value_name = "FAULT", default_value = "none", value_parser = fault)]
    control: Fault,
}

fn fault(name: &str) -> Result<Fault, String> {
    let found = Fault::ALL.into_iter().find(|fault| fault.as_str() == name);
    found.ok_or_else(|| "controls are `none`, `slow-claim` and `no-index`".to_owned())
}

/// One side and where it is written.
struct Side {
    selection: Selection,
    directory: String,
    loaded: Loaded,
}

/// Why there is nothing to compare.
type Ended = Option<Exit>;

pub(super) async fn run(arguments: &Arguments) -> Result<Exit, CliError> {
    let mut sides = sides(arguments)?;
    let asked = &arguments.asked;
    let seed = asked.seed();
    let scenarios = asked.scenarios()?;
    // Before anything runs: a pattern that selects nothing is an error.
    let plans = [asked.plan(&sides[0].selection, seed)?, asked.plan(&sides[1].selection, seed)?];
    let id = run_id(now());
    for (side, name) in sides.iter_mut().zip(["base", "head"]) {
        side.directory = format!("{id}-{name}");
    }
    let directory = RunDir::create(&asked.out, &id)?;
    if asked.contracts() {
        for (side, plan) in sides.iter_mut().zip(&plans) {
            let done = match asked.run(side.directory.clone(), plan).await? {
                Ok(done) => done,
                Err(exit) => return Ok(exit),
            };
            let (verdict, path) = (done.run.verdict(), done.directory.path().display());
            out!("{}: {verdict}; reports in {path}", side.selection);
            side.loaded.run = Some(done.run);
        }
    }
    let mut measured = Exit::Kept;
    if asked.measurements() {
        let plan =
            interleaved::Plan { scenarios, profile: asked.profile, groups: arguments.groups, seed };
        match measure(arguments, &id, &mut sides, &plan).await? {
            Some(exit) => return Ok(exit),
            None => {
                measured =
                    Exit::of_bench(sides[1].loaded.bench.as_ref().expect("it was measured"), false)
            }
        }
    }
    let found = compare::compare(&sides[0].loaded, &sides[1].loaded, arguments.gate.gate())?;
    let page = directory.write_comparison(&found)?;
    shown::comparison(&found);
    out!("reports in {}", page.display());
    let contracts = sides[1].loaded.run.as_ref().map_or(Exit::Kept, |run| Exit::of(run, true));
    Ok(Exit::worst([exit_of(found.verdict), contracts, measured]))
}

/// Both sides, which must be of one engine.
fn sides(arguments: &Arguments) -> Result<[Side; 2], CliError> {
    let side = |text: &String| -> Result<Side, CliError> {
        let selection = Selection::parse(text)?;
        Ok(Side { selection, directory: String::new(), loaded: Loaded::default() })
    };
    let sides = [side(&arguments.base)?, side(&arguments.head)?];
    let [base, head] = [&sides[0], &sides[1]].map(|side| side.selection.engine.name());
    match base == head {
        true => Ok(sides),
        false => Err(CliError::TwoEngines { base: base.to_owned(), head: head.to_owned() }),
    }
}

/// Measures both sides turn about.
async fn measure(
    arguments: &Arguments,
    id: &str,
    sides: &mut [Side; 2],
    plan: &interleaved::Plan,
) -> Result<Ended, CliError> {
    let Some([base, mut head]) = provide(sides).await? else {
        return Ok(Some(Exit::EngineMissing));
    };
    head.fault = arguments.control;
    let seconds = plan.seconds(&base);
    if plan.cells(&base).is_empty() {
        return Ok(Some(Exit::NothingSelected));
    }
    eprintln!(
        "seed {}, {} cells in {} groups of 4 turns, about {:.1} min",
        plan.seed,
        plan.cells(&base).len(),
        plan.groups,
        seconds / 60.0
    );
    let interrupt = super::interruptible()?;
    let clock = std::time::Instant::now();
    let watch = Watch::new(seconds);
    let mut directories = Vec::new();
    let mut runs = Vec::new();
    for side in &*sides {
        let directory = match &side.loaded.run {
            Some(_) => existing(arguments, &side.directory)?,
            None => RunDir::create(&arguments.asked.out, &side.directory)?,
        };
        let mut run = fresh(side.directory.clone(), plan.seed, plan.profile);
        run.turn_about = Some(id.to_owned());
        directories.push(directory);
        runs.push(run);
    }
    let mut runs: [BenchRun; 2] = runs.try_into().expect("there are two sides");
    let mut hooks = Hooks {
        event: &mut |event| watch.show(&event),
        stop: &|| interrupt.was_asked(),
        save: &mut |runs| {
            let sides = directories.iter().zip(runs);
            sides.into_iter().try_for_each(|(directory, run)| {
                let mut run = run.clone();
                run.left = plan.left(&run);
                directory.save_bench(&run)
            })
        },
    };
    let measured = interleaved::run(plan, [&base, &head], &mut runs, &mut hooks).await;
    watch.clear();
    measured?;
    for ((run, directory), side) in runs.into_iter().zip(&directories).zip(sides) {
        let mut run = run;
        run.conditions.load_after = conditions::load();
        run.duration_ms = summary::millis(clock.elapsed());
        run.left = plan.left(&run);
        directory.write_bench(&run)?;
        if run.left == 0 {
            directory.publish()?;
        }
        side.loaded.bench = Some(run);
    }
    Ok(interrupt.was_asked().then_some(Exit::Interrupted))
}

fn existing(arguments: &Arguments, id: &str) -> Result<RunDir, CliError> {
    let path = arguments.asked.out.join("runs").join(id);
    RunDir::existing(&path).ok_or(CliError::NoRun { path })
}

/// Both servers, up at once; `None` when one is missing, which has been said.
async fn provide(sides: &[Side; 2]) -> Result<Option<[Bench; 2]>, CliError> {
    let options = super::provide_options()?;
    let watch = Watch::new(0.0);
    let progress = |step| watch.providing(&step);
    let one = |side: usize| Bench::provide(&sides[side].selection, &options, &progress);
    let provided = futures::future::join(one(0), one(1)).await;
    watch.clear();
    match provided {
        (Ok(base), Ok(head)) => Ok(Some([base, head])),
        (base, head) => {
            for error in [base.err(), head.err()].into_iter().flatten() {
                watch.missing(&error);
            }
            Ok(None)
        }
    }
}
