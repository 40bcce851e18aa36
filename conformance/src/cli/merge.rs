//! `leaseproof merge`: the shards of one run, joined into one report.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use clap::Args;
use leaseproof_engines::servers::ProviderKind;
use leaseproof_reports::merge::{self, BenchInput, Input, merge_bench};
use leaseproof_reports::run_dir::{BENCH_JSON, RUN_JSON};
use leaseproof_reports::{ReadError, Run, RunDir};

use super::bench_table;
use super::error::CliError;
use super::output::out;
use super::shown::tables;
use crate::exit_code::Exit;
use crate::run::origin::{now, run_id};

#[derive(Args)]
#[command(after_help = Exit::HELP)]
pub(super) struct Arguments {
    /// The shards: run directories, their `run.json` or `bench.json`, or directories that `run --out` named
    #[arg(required = true, value_name = "DIR")]
    shards: Vec<PathBuf>,
    /// Where `runs/<time>-<id>` and the link `latest` are written; nothing there is overwritten
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
    /// Do without shards that are missing or were interrupted: the report is marked as partial, and
    /// does not end with 0
    #[arg(long)]
    partial: bool,
}

pub(super) fn run(arguments: &Arguments) -> Result<Exit, CliError> {
    let mut inputs = Vec::new();
    let mut benches = Vec::new();
    let mut histories = BTreeMap::new();
    for path in shards(&arguments.shards)? {
        let name = path.display().to_string();
        if holds(&path, RUN_JSON) {
            let run = RunDir::load_sealed(&path)?;
            // All are read before anything is written, so that a failure leaves nothing half-done.
            read_histories(&path, &run, &mut histories)?;
            inputs.push(Input { name: name.clone(), run });
        }
        if holds(&path, BENCH_JSON) {
            benches.push(BenchInput { name, run: RunDir::load_bench(&path)? });
        }
    }
    let id = run_id(now());
    let partial = arguments.partial;
    let run = (!inputs.is_empty()).then(|| merge::merge(&inputs, &id, partial)).transpose()?;
    let bench = (!benches.is_empty()).then(|| merge_bench(&benches, &id, partial)).transpose()?;
    let directory = RunDir::create(&arguments.out, &id)?;
    let path = directory.path().display();
    let mut exits = [Exit::Kept; 3];
    if let Some(bench) = &bench {
        directory.write_bench(bench)?;
        out!("{}", bench_table::render(bench));
        out!("{} cells of {} shards; reports in {path}", bench.cells.len(), benches.len());
        let total = benches[0].run.shard.as_ref().map_or(0, |shard| shard.total as usize);
        let named = bench.command.iter().any(|word| word.starts_with("--engine"));
        if bench.cells.len() < total {
            out!(
                "{} of {total} cells are absent: their engines were missing, or a shard is",
                total - bench.cells.len()
            );
        }
        exits[0] = Exit::of_bench(bench, named && bench.cells.len() < total);
    }
    if let Some(mut run) = run {
        for case in run.cases.iter_mut().filter(|case| case.history.is_some()) {
            let bytes = histories.remove(&case.key()).unwrap_or_default();
            case.history = Some(directory.write_history(&case.key(), bytes)?);
        }
        run.seal();
        directory.write_run(&run)?;
        tables(&run);
        out!("{} cases of {} shards; reports in {path}", run.cases.len(), inputs.len());
        exits[1] = Exit::of(&run, engines_required(&run));
        if run.cases.is_empty() && bench.is_none() {
            return Ok(exits[1]);
        }
    }
    directory.publish()?;
    Ok(Exit::worst(exits))
}

/// Whether a path is a file of that name, or a directory with one. Any other file is taken for a run.
fn holds(path: &Path, name: &str) -> bool {
    let is_bench = path.file_name().is_some_and(|file| file == BENCH_JSON);
    match path.is_dir() {
        true => path.join(name).exists(),
        false => (name == BENCH_JSON) == is_bench,
    }
}

/// The paths of the runs that are meant: a directory of runs stands for all that are in it, because
/// the link to the latest does not survive an upload.
fn shards(paths: &[PathBuf]) -> Result<Vec<PathBuf>, CliError> {
    let mut shards = Vec::new();
    for path in paths {
        if is_run(path) || !path.is_dir() {
            shards.push(path.clone());
            continue;
        }
        let mut found = runs_in(&path.join("runs"))?;
        if found.is_empty() {
            found = runs_in(path)?;
        }
        if found.is_empty() {
            return Err(CliError::NoRun { path: path.clone() });
        }
        shards.extend(found);
    }
    Ok(shards)
}

fn is_run(path: &Path) -> bool {
    path.join(RUN_JSON).exists() || path.join(BENCH_JSON).exists()
}

/// The run directories in a directory, which need not be there.
fn runs_in(path: &Path) -> Result<Vec<PathBuf>, CliError> {
    if !path.is_dir() {
        return Ok(Vec::new());
    }
    let unreadable = |source| ReadError::Open { path: path.to_owned(), source };
    let mut found = Vec::new();
    for entry in std::fs::read_dir(path).map_err(unreadable)? {
        let run = entry.map_err(unreadable)?.path();
        // A link beside the runs is `latest`, which is one of them.
        if is_run(&run) && !run.is_symlink() {
            found.push(run);
        }
    }
    found.sort();
    Ok(found)
}

fn read_histories(
    path: &Path,
    run: &Run,
    histories: &mut BTreeMap<String, Vec<u8>>,
) -> Result<(), CliError> {
    let directory = match path.is_dir() {
        true => path,
        false => path.parent().unwrap_or(Path::new("")),
    };
    for case in &run.cases {
        let Some(history) = &case.history else { continue };
        let path = directory.join(history);
        let bytes = std::fs::read(&path).map_err(|source| ReadError::Open { path, source })?;
        histories.insert(case.key(), bytes);
    }
    Ok(())
}

/// Whether an engine that is missing fails the run, as it did the shards: it was named or given by
/// URL, or was there in another shard.
fn engines_required(run: &Run) -> bool {
    let named = run.command.iter().any(|word| word.starts_with("--engine"));
    let url = format!("{}:", ProviderKind::Url.as_str());
    let given = |reason: &str| reason.starts_with(&url);
    let mut missing = run.engines.iter().filter(|engine| engine.is_missing());
    named
        || missing.any(|engine| {
            engine.reason.as_deref().is_some_and(given)
                || run.cases_of(&engine.label).next().is_some()
        })
}
