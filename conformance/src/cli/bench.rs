//! `leaseproof bench`: measures leases on real engines and writes `bench.json`.

use std::path::{Path, PathBuf};
use std::time::Instant;

use clap::Args;
use leaseproof_benches::conditions;
use leaseproof_benches::plan::Plan;
use leaseproof_benches::profile::Profile;
use leaseproof_benches::suite::{self, Hooks};
use leaseproof_reports::RunDir;
use leaseproof_reports::bench::{BENCH_SCHEMA, BenchRun};
use leaseproof_reports::run_dir::BENCH_JSON;
use leaseproof_reports::schema::{SEED_MAX, SchemaError};

use super::bench_progress::Watch;
use super::bench_table;
use super::error::CliError;
use super::output::out;
use super::select::{Select, scenarios_of};
use crate::exit_code::Exit;
use crate::plan::shard::Shard;
use crate::run::measured::{conclude, fresh};
use crate::run::origin::{now, run_id};
use crate::run::summary;

#[derive(Args)]
#[command(after_help = Exit::HELP)]
pub(super) struct Arguments {
    /// An engine, or one version of it: `postgres`, `postgres:15`; may be repeated. Without it,
    /// every engine that can be provided
    #[arg(long = "engine", value_name = "ENGINE[:VERSION]")]
    engines: Vec<String>,
    /// The scenarios, as a pattern over their ids: `claim-*`; may be repeated
    #[arg(long = "scenario", value_name = "GLOB")]
    scenarios: Vec<String>,
    /// How much is measured: `quick` shows every instrument, `full` is for comparisons
    #[arg(long, value_name = "PROFILE", default_value = "quick", value_parser = profile)]
    profile: &'static Profile,
    /// The seed of every random choice; drawn and printed when it is not given
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = clap::value_parser!(u64).range(..=SEED_MAX))]
    seed: Option<u64>,
    /// Measure only part K of N, for a job of a CI matrix; the cells of a scenario on one engine stay
    /// together, and `leaseproof merge` joins the parts. The seed is then 0 unless it is given
    #[arg(long, value_name = "K/N", conflicts_with = "resume")]
    shard: Option<Shard>,
    /// Where `runs/<time>-<id>` is written
    #[arg(long, value_name = "DIR", default_value = "reports")]
    out: PathBuf,
    /// A run directory that was interrupted: what it holds is kept, the rest is measured. Its seed
    /// and profile are used; name the same engines and scenarios
    #[arg(long, value_name = "RUN_DIR", conflicts_with_all = ["seed", "out", "profile"])]
    resume: Option<PathBuf>,
}

fn profile(name: &str) -> Result<&'static Profile, String> {
    let found = Profile::ALL.into_iter().find(|profile| profile.name == name);
    found.ok_or_else(|| "profiles are `quick` and `full`".to_owned())
}

pub(super) async fn run(arguments: Arguments) -> Result<Exit, CliError> {
    let (selections, named) = Select::engines(&arguments.engines).selections()?;
    let scenarios = scenarios_of(&arguments.scenarios, |scenario| !scenario.on_request())?;
    let (directory, mut run) = match &arguments.resume {
        Some(path) => resumed(path)?,
        None => begin(&arguments)?,
    };
    let profile = profile(&run.profile).map_err(|help| CliError::Profile { help })?;
    let part = run.shard.as_ref().map(|shard| (shard.index, shard.count));
    let shard = arguments.shard.map(Shard::numbers).or(part);
    let plan = Plan { selections, scenarios, profile, seed: run.seed, shard };
    let interrupt = super::interruptible()?;
    let clock = Instant::now();
    let measured_before_ms = run.duration_ms;
    let watch = Watch::new(plan.seconds(&run));
    eprintln!(
        "seed {}, profile {}, scenarios: {}, engines: {}, about {:.1} min if all are there",
        run.seed,
        profile.name,
        plan.scenarios.len(),
        plan.selections.len(),
        plan.seconds(&run).max(0.0) / 60.0
    );
    let mut missing = 0;
    let mut save = |run: &BenchRun| {
        let mut run = run.clone();
        conclude(&mut run, &plan, true);
        run.duration_ms = measured_before_ms + summary::millis(clock.elapsed());
        directory.save_bench(&run)
    };
    let mut hooks = Hooks {
        event: &mut |event| {
            missing += u32::from(matches!(event, suite::Event::Missing(..)));
            watch.show(&event);
        },
        stop: &|| interrupt.was_asked(),
        save: &mut save,
    };
    let options = super::provide_options()?;
    let progress = |step| watch.providing(&step);
    let measured = suite::run(&plan, &mut run, &options, &progress, &mut hooks).await;
    watch.clear();
    measured.map_err(|error| CliError::of_suite(error, directory.path()))?;
    run.conditions.load_after = conditions::load();
    conclude(&mut run, &plan, interrupt.was_asked());
    run.duration_ms = measured_before_ms + summary::millis(clock.elapsed());
    directory.write_bench(&run)?;
    if !run.cells.is_empty() && run.left == 0 {
        // `latest` stays at the last run that is whole and says something.
        directory.publish()?;
    }
    out!("{}", bench_table::render(&run));
    if run.cells.is_empty() && missing == 0 {
        out!(
            "No scenario that was chosen applies to these engines; `leaseproof bench --help` says how to choose."
        );
    }
    if run.left > 0 {
        let (left, path) = (run.left, directory.path().display());
        out!(
            "interrupted, {left} repeats left: `leaseproof bench --resume {path}` goes on with the same engines and scenarios"
        );
    }
    let (cells, seconds) = (run.cells.len(), clock.elapsed().as_secs_f64());
    out!("{cells} cells in {seconds:.0} s; reports in {}", directory.path().display());
    Ok(match () {
        () if interrupt.was_asked() => Exit::Interrupted,
        () => Exit::of_bench(&run, missing > 0 && named),
    })
}

/// A new run and its directory.
fn begin(arguments: &Arguments) -> Result<(RunDir, BenchRun), CliError> {
    let id = run_id(now());
    let directory = RunDir::create(&arguments.out, &id)?;
    // A part that drew its own seed could not be merged with the others.
    let drawn = || if arguments.shard.is_some() { 0 } else { rand::random_range(0..=SEED_MAX) };
    let seed = arguments.seed.unwrap_or_else(drawn);
    let run = fresh(id, seed, arguments.profile);
    Ok((directory, run))
}

/// A run that was interrupted, and its directory.
fn resumed(path: &Path) -> Result<(RunDir, BenchRun), CliError> {
    let unreadable = |reason: String| CliError::Resume { path: path.to_owned(), reason };
    let directory = RunDir::existing(path)
        .ok_or_else(|| unreadable("it is not a run directory, `<reports>/runs/<id>`".to_owned()))?;
    let file = directory.path().join(BENCH_JSON);
    let text = std::fs::read_to_string(&file).map_err(|error| unreadable(error.to_string()))?;
    let mut run: BenchRun =
        serde_json::from_str(&text).map_err(|error| unreadable(error.to_string()))?;
    match run.validate() {
        Ok(()) | Err(SchemaError::NoCells) => {}
        Err(error) => return Err(unreadable(error.to_string())),
    }
    if let Some(change) = changed(&run) {
        return Err(unreadable(change));
    }
    suite::forget_unmeasured(&mut run);
    Ok((directory, run))
}

/// What a run cannot be continued by: another program or another machine would be taken for the engine.
fn changed(before: &BenchRun) -> Option<String> {
    let (host, now) = (summary::host(), conditions::look(&std::env::temp_dir()));
    let cpus = [before.host.cpus, host.cpus].map(|cpus| cpus.to_string());
    let ours = [env!("CARGO_PKG_VERSION"), BENCH_SCHEMA].map(str::to_owned);
    let facts = [
        ("leaseproof", &before.tool.version, &ours[0]),
        ("the schema", &before.schema, &ours[1]),
        ("the kernel", &before.host.kernel, &host.kernel),
        ("the processor", &before.conditions.cpu, &now.cpu),
        ("the number of processors", &cpus[0], &cpus[1]),
        ("the file system", &before.conditions.file_system, &now.file_system),
    ];
    let (name, before, now) = facts.into_iter().find(|(_, before, now)| before != now)?;
    Some(format!("it was measured with other conditions: {name} was {before} and is {now}"))
}
