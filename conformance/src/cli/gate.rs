//! `leaseproof gate`: one server against what it was accepted with.

use std::path::{Path, PathBuf};

use clap::Args;
use leaseproof_benches::conditions;
use leaseproof_benches::plan::Plan;
use leaseproof_benches::suite::{self, Hooks};
use leaseproof_engines::servers::Selection;
use leaseproof_reports::baseline::{Baseline, only};
use leaseproof_reports::{Loaded, Outcome, RunDir, compare};

use super::asked::Asked;
use super::bench_progress::Watch;
use super::error::CliError;
use super::gate_options::{GateOptions, exit_of};
use super::locate::locate;
use super::output::out;
use super::shown;
use crate::exit_code::Exit;
use crate::run::measured::{conclude, fresh};
use crate::run::origin::{now, run_id};
use crate::run::summary;

#[derive(Args)]
#[command(after_help = Exit::HELP)]
pub(super) struct Arguments {
    /// The engine, or one version of it: `postgres`, `postgres:18`, or a server of yours, `url=URL`
    #[arg(value_name = "ENGINE[:VERSION]")]
    engine: String,
    /// The baseline: a file, or a directory with one `<engine>-<version>.json` for each
    #[arg(long, value_name = "PATH", default_value = "reports/baselines")]
    baseline: PathBuf,
    /// Write what is found now as the baseline, and show what changed against the one before
    #[arg(long)]
    update: bool,
    /// Judge this run and run nothing: a run directory, an id under `<out>/runs`, or `latest`
    #[arg(long, value_name = "RUN", conflicts_with_all = [
        "only", "seed", "known_failing", "contracts", "scenarios", "matrix", "profile", "jobs",
    ])]
    from: Option<PathBuf>,
    #[command(flatten)]
    asked: Asked,
    #[command(flatten)]
    gate: GateOptions,
}

/// What is judged: its label, what was found, where it is, and what it amounts to by itself.
struct Head {
    label: String,
    loaded: Loaded,
    directory: Option<RunDir>,
    exits: [Exit; 2],
}

pub(super) async fn run(arguments: &Arguments) -> Result<Exit, CliError> {
    let selection = Selection::parse(&arguments.engine)?;
    // Before anything runs: a gate without its baseline says nothing, however long it ran.
    let known = match named_already(&selection) {
        true => base(arguments, &selection.label())?,
        false => None,
    };
    let head = match &arguments.from {
        Some(from) => head_from(from, arguments, &selection)?,
        None => match found_on(arguments, &selection).await? {
            Ok(head) => head,
            Err(exit) => return Ok(exit),
        },
    };
    let base = match known {
        Some(known) => Some(known),
        None => base(arguments, &head.label)?,
    };
    let mut exits = [Exit::Kept, head.exits[0], head.exits[1]];
    let mut before = Loaded::default();
    if let Some((path, baseline)) = base {
        before = baseline.into_loaded();
        let mut base = before.clone();
        arguments.asked.keep(&mut base)?;
        match compare::compare(&base, &head.loaded, arguments.gate.gate()) {
            Ok(found) => {
                if let Some(directory) = &head.directory {
                    directory.write_comparison(&found)?;
                }
                shown::comparison(&found);
                exits[0] = exit_of(found.verdict);
            }
            // What is to be replaced need not be comparable: it may be of another profile.
            Err(error) if arguments.update => out!("not compared: {error}"),
            Err(error) => return Err(error.into()),
        }
        out!("baseline {}", path.display());
    }
    if arguments.update {
        return update(arguments, head, before);
    }
    if let Some(directory) = &head.directory {
        out!("reports in {}", directory.path().display());
    }
    Ok(Exit::worst(exits))
}

/// Whether the label is known before a server has said what it is.
fn named_already(selection: &Selection) -> bool {
    selection.explicit || selection.engine.server().is_none()
}

/// The baseline of an engine. With `--update` there need be none; one that cannot be read is an error
/// all the same, for it would be overwritten.
fn base(arguments: &Arguments, label: &str) -> Result<Option<(PathBuf, Baseline)>, CliError> {
    let path = place(&arguments.baseline, label);
    if !path.exists() {
        if arguments.update {
            return Ok(None);
        }
        let others = others(&arguments.baseline);
        return Err(CliError::NoBaseline { path, engine: arguments.engine.clone(), others });
    }
    let baseline = RunDir::load_baseline(&path)?;
    let measured = baseline.bench.as_ref().filter(|_| arguments.asked.measurements());
    // Not after hours: with `--update`, another profile replaces it.
    match measured.filter(|_| !arguments.update && arguments.from.is_none()) {
        Some(bench) if bench.profile != arguments.asked.profile.name => {
            let (base, head) = (bench.profile.clone(), arguments.asked.profile.name.to_owned());
            Err(compare::Incomparable::Profiles { base, head }.into())
        }
        _ => Ok(Some((path, baseline))),
    }
}

fn place(path: &Path, label: &str) -> PathBuf {
    match path.extension().is_some_and(|extension| extension == "json") {
        true => path.to_owned(),
        false => path.join(Baseline::file_name(label)),
    }
}

/// The baselines that are there, for a message.
fn others(directory: &Path) -> String {
    let entries = std::fs::read_dir(directory).into_iter().flatten().flatten();
    let names = entries.map(|entry| entry.file_name().to_string_lossy().into_owned());
    let mut names: Vec<String> = names.filter(|name| name.ends_with(".json")).collect();
    names.sort();
    match names.is_empty() {
        true => String::new(),
        false => format!("; there are {}", names.join(", ")),
    }
}

/// Writes the baseline, unless what was found must not be a measure for anything. What was not asked for
/// stays as it was in the one `before`.
fn update(arguments: &Arguments, mut head: Head, before: Loaded) -> Result<Exit, CliError> {
    let path = place(&arguments.baseline, &head.label);
    let asked = &arguments.asked;
    if asked.is_narrower_than(&before)? {
        out!(
            "{} was not written: a part of it would be lost; ask for all of it, without `--contract` and `--scenario`, \
             or remove the file first",
            path.display()
        );
        return Ok(Exit::Usage);
    }
    if let Some(reason) = incomplete(&head.loaded) {
        out!("{} was not written: {reason}, and what is incomplete is no baseline", path.display());
        return Ok(Exit::Undecided);
    }
    if !asked.contracts() {
        head.loaded.run = before.run;
    }
    if !asked.measurements() {
        head.loaded.bench = before.bench;
    }
    if let Some(exit) = head.exits.into_iter().find(|exit| *exit != Exit::Kept) {
        out!("{} was not written: what is broken or undecided is no baseline", path.display());
        return Ok(exit);
    }
    let engines = || engines(&head.loaded);
    let baseline = Baseline::of(&head.loaded, &head.label).ok_or_else(|| CliError::NoEngineIn {
        label: head.label.clone(),
        run: path.clone(),
        engines: engines(),
    })?;
    baseline.write(&path)?;
    out!("wrote {}", path.display());
    Ok(Exit::Kept)
}

/// Why a run is not all that it was asked for.
fn incomplete(loaded: &Loaded) -> Option<&'static str> {
    let Loaded { run, bench } = loaded;
    let not_run = |outcome| matches!(outcome, Outcome::Skipped | Outcome::Missing);
    if run.as_ref().is_some_and(|run| run.cases.iter().any(|case| not_run(case.outcome))) {
        return Some("some contracts did not run");
    }
    if bench.as_ref().is_some_and(|bench| bench.left > 0) {
        return Some("the measurements were interrupted");
    }
    let parts = [
        run.as_ref().is_some_and(|run| run.shard.is_some() || run.partial.is_some()),
        bench.as_ref().is_some_and(|bench| bench.shard.is_some() || bench.partial.is_some()),
    ];
    parts.contains(&true).then_some("it is a part of a run")
}

fn engines(loaded: &Loaded) -> String {
    let of_run = loaded.run.iter().flat_map(|run| &run.engines).map(|engine| &engine.label);
    let of_bench = loaded.bench.iter().flat_map(|bench| &bench.engines).map(|engine| &engine.name);
    let mut labels: Vec<&str> = of_run.chain(of_bench).map(String::as_str).collect();
    labels.sort_unstable();
    labels.dedup();
    labels.join(", ")
}

/// What an earlier run says of the engine.
fn head_from(from: &Path, arguments: &Arguments, selection: &Selection) -> Result<Head, CliError> {
    let path = locate(from, &arguments.asked.out);
    let all = RunDir::load_any(&path)?;
    let known = engines(&all);
    let name = selection.engine.name();
    let of_name = |label: &&str| label.split_once(':').map_or(*label, |(name, _)| name) == name;
    let of_name: Vec<&str> = known.split(", ").filter(of_name).collect();
    let label = match &of_name[..] {
        labels if labels.contains(&selection.label().as_str()) => selection.label(),
        [only] if !selection.explicit => (*only).to_owned(),
        _ => {
            let label = selection.label();
            return Err(CliError::NoEngineIn { label, run: path, engines: known });
        }
    };
    let loaded = only(&all, &label);
    let exits = exits(&loaded);
    Ok(Head { label, loaded, directory: RunDir::existing(&path), exits })
}

fn exits(loaded: &Loaded) -> [Exit; 2] {
    [
        loaded.run.as_ref().map_or(Exit::Kept, |run| Exit::of(run, true)),
        loaded.bench.as_ref().map_or(Exit::Kept, |bench| Exit::of_bench(bench, false)),
    ]
}

/// Runs the contracts and the measurements.
async fn found_on(
    arguments: &Arguments,
    selection: &Selection,
) -> Result<Result<Head, Exit>, CliError> {
    let asked = &arguments.asked;
    let seed = asked.seed();
    let scenarios = asked.scenarios()?;
    let contracts = asked.plan(selection, seed)?;
    let id = run_id(now());
    let mut loaded = Loaded::default();
    let mut directory = None;
    if asked.contracts() {
        let done = match asked.run(id.clone(), &contracts).await? {
            Ok(done) => done,
            Err(exit) => return Ok(Err(exit)),
        };
        out!("{}", done.run.verdict());
        loaded.run = Some(done.run);
        directory = Some(done.directory);
    }
    let directory = match directory {
        Some(directory) => directory,
        None => RunDir::create(&asked.out, &id)?,
    };
    if asked.measurements() {
        let plan = Plan {
            selections: vec![selection.clone()],
            scenarios,
            profile: asked.profile,
            seed,
            shard: None,
        };
        match measure(&plan, &directory).await? {
            Ok(bench) => loaded.bench = Some(bench),
            Err(exit) => return Ok(Err(exit)),
        }
    }
    let label = engines(&loaded);
    let exits = exits(&loaded);
    Ok(Ok(Head { label, loaded, directory: Some(directory), exits }))
}

async fn measure(
    plan: &Plan,
    directory: &RunDir,
) -> Result<Result<leaseproof_reports::bench::BenchRun, Exit>, CliError> {
    let mut run = fresh(directory.id().to_owned(), plan.seed, plan.profile);
    let interrupt = super::interruptible()?;
    let clock = std::time::Instant::now();
    let watch = Watch::new(plan.seconds(&run));
    eprintln!("measuring, about {:.1} min", plan.seconds(&run) / 60.0);
    let mut missing = false;
    let mut hooks = Hooks {
        event: &mut |event| {
            missing |= matches!(event, suite::Event::Missing(..));
            watch.show(&event);
        },
        stop: &|| interrupt.was_asked(),
        save: &mut |run| {
            let mut run = run.clone();
            conclude(&mut run, plan, true);
            directory.save_bench(&run)
        },
    };
    let options = super::provide_options()?;
    let progress = |step| watch.providing(&step);
    let measured = suite::run(plan, &mut run, &options, &progress, &mut hooks).await;
    watch.clear();
    measured.map_err(|error| CliError::of_suite(error, directory.path()))?;
    if interrupt.was_asked() {
        return Ok(Err(Exit::Interrupted));
    }
    if missing {
        return Ok(Err(Exit::EngineMissing));
    }
    run.conditions.load_after = conditions::load();
    run.duration_ms = summary::millis(clock.elapsed());
    directory.write_bench(&run)?;
    directory.publish()?;
    Ok(Ok(run))
}
