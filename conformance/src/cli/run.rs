//! `leaseproof run`: the contracts on real engines, and the reports.

use std::io::IsTerminal;
use std::path::{Path, PathBuf};
use std::time::Instant;

use clap::Args;
use jiff::Timestamp;
use leaseproof_engines::servers::redact;
use leaseproof_reports::schema::SEED_MAX;
use leaseproof_reports::{Outcome, Run, RunDir, format};

use super::error::CliError;
use super::output::out;
use super::progress::{Display, Wording};
use super::select::Select;
use crate::exit_code::Exit;
use crate::plan::shard::{Layout, Shard};
use crate::plan::variant::Matrix;
use crate::run::known_failures::KnownFailures;
use crate::run::suite::{self, Part, Plan};
use crate::run::summary::{self, Frame};

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

pub(super) fn matrix(text: &str) -> Result<Matrix, String> {
    let found = [Matrix::Default, Matrix::Full].into_iter().find(|matrix| matrix.as_str() == text);
    found.ok_or_else(|| "matrices are `default` and `full`".to_owned())
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
    let done = perform(&plan, &known, &arguments.out).await?;
    print(&done);
    if done.interrupted {
        return Ok(Exit::Interrupted);
    }
    Ok(Exit::of(&done.run, named || done.given_in_vain()))
}

/// A plan that was carried out, with its reports written.
pub(super) struct Done {
    pub(super) run: Run,
    pub(super) directory: RunDir,
    pub(super) interrupted: bool,
    parts: Vec<Part>,
}

impl Done {
    /// Whether a server was given by URL and could not be used.
    pub(super) fn given_in_vain(&self) -> bool {
        self.parts.iter().any(Part::given_in_vain)
    }

    /// Says why engines are missing.
    pub(super) fn print_missing(&self) {
        for missing in self.parts.iter().filter_map(|part| part.server.as_ref().err()) {
            out!("{}", super::missing(missing));
        }
    }
}

/// Carries out a plan while the user watches, and writes its reports.
pub(super) async fn perform(
    plan: &Plan,
    known: &KnownFailures,
    out: &Path,
) -> Result<Done, CliError> {
    perform_as(run_id(now()), plan, known, out).await
}

/// Carries out a plan as the run with that id.
pub(super) async fn perform_as(
    id: String,
    plan: &Plan,
    known: &KnownFailures,
    out: &Path,
) -> Result<Done, CliError> {
    let started = now();
    // Before anything is started: a directory that cannot be written makes the rest pointless.
    let directory = RunDir::create(out, &id)?;
    let (contracts, engines) = (plan.contracts.len(), plan.selections.len());
    let shard = plan.shard.map(|shard| format!(", shard {shard}")).unwrap_or_default();
    eprintln!("seed {}, contracts: {contracts}, engines: {engines}{shard}", plan.seed);
    let interrupt = super::interruptible()?;
    let clock = Instant::now();
    let display = Display::new(Wording {
        notable: |outcome| !matches!(outcome, Outcome::Kept | Outcome::Unsupported),
    });
    let options = super::provide_options()?;
    let parts = suite::run(plan, &options, &interrupt, &|event| display.show(&event)).await;
    display.clear();
    let replay_options = match out == Path::new("reports") {
        true => String::new(),
        false => format!(" --out '{}'", out.display()),
    };
    let (duration, command) = (clock.elapsed(), command_line());
    let frame = Frame { id, started, duration, command, replay_options };
    let mut save = |key: &str, history: Vec<u8>| directory.write_history(key, history);
    let run = summary::run_of(plan, &parts, known, frame, &mut save)?;
    directory.write_run(&run)?;
    if !run.cases.is_empty() {
        // `latest` stays at the last run that says something.
        directory.publish()?;
    }
    Ok(Done { run, directory, interrupted: interrupt.was_asked(), parts })
}

/// The known failures that ship with the suite, and those of a file.
pub(super) fn known_failures(file: Option<&Path>) -> Result<KnownFailures, CliError> {
    let mut known = KnownFailures::shipped();
    if let Some(path) = file {
        known.entries.extend(KnownFailures::read(path)?.entries);
    }
    Ok(known)
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

/// Prints the table, and with the full matrix also what the losers of races see.
pub(super) fn print_tables(run: &Run) {
    out!("{}", format::table::render(run, colour()));
    if run.matrix_name == Matrix::Full.as_str() {
        out!("{}", format::table::render_losers(run, format::table::WIDTH));
    }
}

fn print(done: &Done) {
    let Done { run, directory, .. } = done;
    print_tables(run);
    done.print_missing();
    out!(
        "{} cases in {:.1} s, at most {} MiB in use by this program; reports in {}",
        run.cases.len(),
        f64::from(u32::try_from(run.duration_ms).unwrap_or(u32::MAX)) / 1000.0,
        summary::peak_memory_mib(),
        directory.path().display()
    );
}

/// Colour on a terminal, unless `NO_COLOR` is set to anything.
pub(super) fn colour() -> bool {
    let refused = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
    std::io::stdout().is_terminal() && !refused
}

/// When a run begins. It names the run; no verdict depends on it.
#[expect(clippy::disallowed_methods, reason = "it names the run; no verdict depends on it")]
pub(super) fn now() -> Timestamp {
    Timestamp::now()
}

/// Sortable by time, unique by 32 random bits.
pub(super) fn run_id(started: Timestamp) -> String {
    let time = started.strftime("%Y%m%dT%H%M%SZ");
    format!("{time}-{:08x}", rand::random::<u32>())
}

/// The command line as it was given, without passwords of URLs.
pub(super) fn command_line() -> Vec<String> {
    let without_password = |argument: String| match argument.split_once('=') {
        Some((name, text)) if text.contains("://") => {
            let shown = url::Url::parse(text).map_or_else(|_| "***".to_owned(), |url| redact(&url));
            format!("{name}={shown}")
        }
        _ => argument,
    };
    let mut command: Vec<String> = std::env::args().map(without_password).collect();
    if let Some(program) = command.first_mut() {
        "leaseproof".clone_into(program);
    }
    command
}
