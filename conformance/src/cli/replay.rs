//! `leaseproof replay`: one case of an earlier run again, with its seed.

use std::path::{Path, PathBuf};

use clap::Args;
use leaseproof_engines::servers::Selection;
use leaseproof_reports::history::words;
use leaseproof_reports::{Case, Outcome, Run, RunDir};

use super::error::CliError;
use super::locate::locate_contracts;
use super::output::out;
use super::progress::{Display, Wording};
use crate::contract::Contract;
use crate::contracts::REGISTRY;
use crate::exit_code::Exit;
use crate::harness::target::Target;
use crate::plan::variant::{Matrix, Variant};
use crate::run::runner;
use leaseproof_engines::servers::provide;

#[derive(Args)]
#[command(after_help = Exit::HELP)]
pub(super) struct Arguments {
    /// A run directory, its `run.json`, an id under `<out>/runs`, or `latest`
    run: PathBuf,
    /// The case, as the run names it: `claim/is-exclusive/postgres:18/default`, or the beginning of its name
    /// where no other case begins so
    case: String,
    /// Where runs were written
    #[arg(long, value_name = "DIR", default_value = "reports")]
    out: PathBuf,
}

pub(super) async fn run(arguments: &Arguments) -> Result<Exit, CliError> {
    let path = locate_contracts(&arguments.run, &arguments.out);
    let earlier = RunDir::load(&path)?;
    let case = find(&earlier, &arguments.case, &path)?;
    let absent =
        |help: String| CliError::NoCase { case: arguments.case.clone(), run: path.clone(), help };
    let contract = REGISTRY.iter().copied().find(|contract| contract.id == case.id);
    let contract: &'static Contract =
        contract.ok_or_else(|| absent(format!("this version has no contract `{}`", case.id)))?;
    let selection = Selection::parse(&case.engine)?;
    let variants = Variant::of(contract, selection.engine, Matrix::Full);
    let variant = variants.into_iter().find(|variant| variant.label() == case.variant);
    let variant =
        variant.ok_or_else(|| absent(format!("this version has no variant `{}`", case.variant)))?;
    let interrupt = super::interruptible()?;
    let display = Display::new(Wording { notable: |_| false });
    let progress = |step| display.show(&crate::run::suite::Event::Providing(&step));
    let provided = provide(&selection, &super::provide_options()?, &progress).await;
    display.clear();
    let endpoint = match provided {
        Ok(endpoint) => endpoint,
        Err(missing) => {
            eprintln!("{}", super::missing(&missing));
            return Ok(Exit::EngineMissing);
        }
    };
    let target = Target { engine: selection.engine, endpoint };
    let result =
        runner::run_until(contract, &target, variant, case.seed, None, interrupt.asked()).await;
    match result.recorder.operations() {
        Ok(operations) => operations.iter().for_each(|one| out!("{}", words::line(one))),
        Err(error) => eprintln!("{error}"),
    }
    out!("{} with seed {}: {}: {}", case.key(), case.seed, result.outcome, result.detail);
    out!("in the earlier run: {}: {}", case.outcome, case.detail);
    Ok(match result.outcome {
        Outcome::Broken => Exit::Broken,
        Outcome::Skipped => Exit::Interrupted,
        Outcome::Inconclusive | Outcome::Errored => Exit::Undecided,
        _ => Exit::Kept,
    })
}

fn find<'run>(run: &'run Run, wanted: &str, path: &Path) -> Result<&'run Case, CliError> {
    if let Some(case) = run.case(wanted) {
        return Ok(case);
    }
    let matching: Vec<&Case> =
        run.cases.iter().filter(|case| case.key().starts_with(wanted)).collect();
    if let [case] = matching[..] {
        return Ok(case);
    }
    let pool = if matching.is_empty() { run.cases.iter().collect() } else { matching };
    let names: Vec<_> = pool.iter().take(8).map(|case| case.key()).collect();
    Err(CliError::NoCase {
        case: wanted.to_owned(),
        run: path.to_owned(),
        help: format!("its cases are, among others: {}", names.join(", ")),
    })
}
