//! `leaseproof adopt`: one page for the decision whether to adopt an engine.

use std::path::{Path, PathBuf};

use clap::Args;
use leaseproof_engines::Engine;
use leaseproof_engines::servers::Selection;
use leaseproof_reports::digest::Seal;
use leaseproof_reports::format::markdown::adopt::{Statements, is_undecided, render};
use leaseproof_reports::schema::SEED_MAX;
use leaseproof_reports::{EngineRun, ReadError, Run, RunDir, Summary};

use super::carried_out::{CarriedOut, carry_out, known_failures};
use super::error::CliError;
use super::locate::locate_contracts;
use super::output::out;
use super::select::Select;
use crate::contracts::REGISTRY;
use crate::exit_code::Exit;
use crate::plan::required::required;
use crate::plan::variant::Matrix;
use crate::run::suite::Plan;

/// Statements that only the suite needs, to look at a store or to mislead the engine.
const SCAFFOLDING: [&str; 4] = ["apply_effect", "effects", "event", "mislead_planner"];

#[derive(Args)]
#[command(after_help = Exit::HELP)]
pub(super) struct Arguments {
    /// The engine, or one version of it: `postgres`, `postgres:15`
    #[arg(value_name = "ENGINE[:VERSION]")]
    engine: String,
    /// Write the page from this run and run nothing: a run directory, its `run.json`, an id under
    /// `<out>/runs`, or `latest`
    #[arg(long, value_name = "DIR", conflicts_with_all = ["seed", "repeat", "jobs", "known_failing"])]
    from: Option<PathBuf>,
    /// The seed of every random choice; drawn when it is not given
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(..=SEED_MAX))]
    seed: Option<u64>,
    /// How often each case is run
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..))]
    repeat: u32,
    /// How many cases run at once [default: 4, on an embedded engine 8]
    #[arg(long, value_name = "N")]
    jobs: Option<std::num::NonZeroUsize>,
    /// A file of known failures, beside those that ship with the suite
    #[arg(long, value_name = "FILE")]
    known_failing: Option<PathBuf>,
    /// Where `runs/<time>-<id>` and the link `latest` are written
    #[arg(long, value_name = "DIR", default_value = "reports")]
    out: PathBuf,
}

pub(super) async fn run(arguments: &Arguments) -> Result<Exit, CliError> {
    let selection = selection(&arguments.engine)?;
    let engine = selection.engine;
    let (run, directory, interrupted) = match &arguments.from {
        Some(from) => {
            let path = locate_contracts(from, &arguments.out);
            let run = RunDir::load(&path)?;
            if RunDir::load_as_found(&path)?.1 == Seal::Broken {
                return Err(ReadError::Edited { path }.into());
            }
            let directory = match path.is_dir() {
                true => path,
                false => path.parent().unwrap_or(Path::new("")).to_owned(),
            };
            (run, directory, false)
        }
        None => {
            let CarriedOut { run, directory, interrupted, .. } =
                measured(arguments, selection.clone()).await?;
            (run, directory.path().to_owned(), interrupted)
        }
    };
    let label = found(&run, &selection, &directory)?.label.clone();
    let required = required(&run);
    let page = render(&run, &label, &required, &statements(engine))
        .expect("the engine was found in the run");
    let path = RunDir::write_adoption(&directory, &page)?;
    // The decision is its third line, and is what a reader on a terminal wants.
    out!("{}", page.lines().nth(2).unwrap_or_default().trim_matches('*'));
    out!("{}", path.display());
    if interrupted {
        return Ok(Exit::Interrupted);
    }
    let undecided = is_undecided(&run, &label, &required);
    Ok(match Exit::of(&of_engine(run, &label), true) {
        // What a part of a run has kept decides nothing.
        Exit::Kept if undecided => Exit::Undecided,
        exit => exit,
    })
}

/// Runs everything on the engine.
async fn measured(arguments: &Arguments, selection: Selection) -> Result<CarriedOut, CliError> {
    let known = known_failures(arguments.known_failing.as_deref())?;
    carry_out(&plan(arguments, selection), &known, &arguments.out).await
}

/// Exactly one engine.
fn selection(text: &str) -> Result<Selection, CliError> {
    let mut selections = Select::engines(&[text.to_owned()]).selections()?.0;
    match (selections.pop(), selections.is_empty()) {
        (Some(selection), true) => Ok(selection),
        _ => Err(CliError::OneEngine { text: text.to_owned() }),
    }
}

fn plan(arguments: &Arguments, selection: Selection) -> Plan {
    Plan {
        selections: vec![selection],
        contracts: REGISTRY.to_vec(),
        seed: arguments.seed.unwrap_or_else(|| rand::random_range(0..=SEED_MAX)),
        repeat: arguments.repeat,
        matrix: Matrix::Full,
        jobs: arguments.jobs,
        controls: false,
        shard: None,
    }
}

/// The engine in the run: by its label, or by its name where no version was asked for and only one is there.
fn found<'run>(
    run: &'run Run,
    selection: &Selection,
    directory: &Path,
) -> Result<&'run EngineRun, CliError> {
    let label = selection.label();
    let of_name = run.engines.iter().filter(|engine| engine.name == selection.engine.name());
    let of_name: Vec<&EngineRun> = of_name.collect();
    let by_label = of_name.iter().copied().find(|engine| engine.label == label);
    match (by_label, &of_name[..]) {
        (Some(engine), _) => Ok(engine),
        (None, [engine]) if !selection.explicit => Ok(engine),
        _ => Err(CliError::NoEngineIn {
            label,
            run: directory.to_owned(),
            engines: run
                .engines
                .iter()
                .map(|engine| engine.label.as_str())
                .collect::<Vec<_>>()
                .join(", "),
        }),
    }
}

/// The run with this engine alone: what others in it did decides nothing here.
fn of_engine(mut run: Run, label: &str) -> Run {
    run.engines.retain(|engine| engine.label == label);
    run.cases.retain(|case| case.engine == label);
    let keys: Vec<String> = run.cases.iter().map(leaseproof_reports::Case::key).collect();
    run.rotten.retain(|rotten| rotten.kept.iter().any(|key| keys.contains(key)));
    run.summary = Summary::of(&run.cases, &run.engines);
    run
}

/// The reference statements on both clocks.
fn statements(engine: &dyn Engine) -> Vec<Statements> {
    let texts = |statements: leaseproof_engines::statement::Statements| {
        let texts = statements.iter();
        let texts = texts.filter(|(name, _)| !SCAFFOLDING.contains(name));
        texts.map(|(name, text)| (name.to_owned(), text.to_owned())).collect::<Vec<_>>()
    };
    let clock = engine.database_clock();
    vec![
        Statements {
            title: "Statements to copy".to_owned(),
            note: "These were run. They take the current instant from the caller; each says which \
                   faults its form avoids."
                .to_owned(),
            texts: texts(engine.statements()),
        },
        Statements {
            title: "Statements on the engine's clock".to_owned(),
            note: format!(
                "In place of those with the same name, where the callers' clocks are not to be \
                 trusted. `{}` is current even inside a unit that has waited.",
                clock.readings[0]
            ),
            texts: texts(clock.statements),
        },
    ]
}
