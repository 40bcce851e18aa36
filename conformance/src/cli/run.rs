//! `leaseproof run`: the contracts on real engines, and the reports.

use std::path::PathBuf;

use clap::Args;
use leaseproof_reports::schema::SEED_MAX;

use super::carried_out::{CarriedOut, carry_out, known_failures};
use super::error::CliError;
use super::output::out;
use super::select::{Select, matrix};
use super::shown::tables;
use crate::exit_code::Exit;
use crate::plan::shard::{Layout, Shard};
use crate::plan::variant::Matrix;
use crate::run::suite::Plan;
use crate::run::summary;

#[derive(Args)]
#[command(after_help = Exit::HELP)]
pub(super) struct Arguments {
    #[command(flatten)]
    select: Select,
    /// The seed of every random choice; drawn and printed when it is not given, but 0 with `--shard`,
    /// whose shards must have the same
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = clap::value_parser!(u64).range(..=SEED_MAX))]
    seed: Option<u64>,
    /// How often each case is run; one that differs once is shown with its worst outcome
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..))]
    repeat: u32,
    /// Which variants: the engine's defaults, or every isolation, clock and journal mode as well
    #[arg(long, value_name = "MATRIX", default_value = "default", value_parser = matrix)]
    matrix: Matrix,
    /// Run only part K of N of the cases, for a job of a CI matrix; `leaseproof merge` joins the parts
    #[arg(long, value_name = "K/N")]
    shard: Option<Shard>,
    /// A file of known failures, beside those that ship with the suite: they are reported and do not
    /// fail the run, unless they are kept again
    #[arg(long, value_name = "FILE")]
    known_failing: Option<PathBuf>,
    /// Where `runs/<time>-<id>` and the link `latest` are written
    #[arg(long, value_name = "DIR", default_value = "reports")]
    out: PathBuf,
}

pub(super) async fn run(arguments: Arguments) -> Result<Exit, CliError> {
    let (selections, named) = arguments.select.selections()?;
    let known = known_failures(arguments.known_failing.as_deref())?;
    let plan = Plan {
        selections,
        contracts: arguments.select.contracts()?,
        seed: seed(&arguments),
        repeat: arguments.repeat,
        matrix: arguments.matrix,
        jobs: arguments.select.jobs,
        controls: false,
        shard: arguments.shard,
    };
    // Before anything is started or written: there would be nothing to report.
    let plan = some_case(plan)?;
    let done = carry_out(&plan, &known, &arguments.out).await?;
    print(&done);
    if done.interrupted {
        return Ok(Exit::Interrupted);
    }
    Ok(Exit::of(&done.run, named || done.given_in_vain()))
}

fn seed(arguments: &Arguments) -> u64 {
    // A shard that drew its own seed could not be merged with the others.
    let drawn = || if arguments.shard.is_some() { 0 } else { rand::random_range(0..=SEED_MAX) };
    arguments.seed.unwrap_or_else(drawn)
}

/// The plan, unless its shard has no case.
fn some_case(plan: Plan) -> Result<Plan, CliError> {
    let Some(shard) = plan.shard else { return Ok(plan) };
    let layout = Layout::of(&plan);
    match layout.cases_of(shard) {
        0 => Err(CliError::EmptyShard { shard, cases: layout.cases() }),
        _ => Ok(plan),
    }
}

fn print(done: &CarriedOut) {
    let CarriedOut { run, directory, .. } = done;
    tables(run);
    done.print_missing();
    out!(
        "{} cases in {:.1} s, at most {} MiB in use by this program; reports in {}",
        run.cases.len(),
        f64::from(u32::try_from(run.duration_ms).unwrap_or(u32::MAX)) / 1000.0,
        summary::peak_memory_mib(),
        directory.path().display()
    );
}
