//! The commands: one file each. Only this module and its children print.

use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use clap::{Parser, Subcommand};
use leaseproof_engines::servers::{OwnerPid, ProvideOptions, release};
use tracing_subscriber::Layer as _;
use tracing_subscriber::layer::SubscriberExt as _;
use tracing_subscriber::util::SubscriberInitExt as _;

use crate::exit_code::Exit;
use crate::run::suite::Interrupt;

mod adopt;
mod asked;
mod bench;
mod bench_progress;
mod bench_table;
mod carried_out;
mod compare;
mod doctor;
mod error;
mod explain;
mod gate;
mod gate_options;
mod images;
mod list;
mod locate;
mod merge;
mod output;
mod progress;
mod replay;
mod report;
mod run;
mod select;
mod selftest;
mod shown;
mod upgrade;
mod verify_report;

use error::CliError;

/// The longest wait for servers to be removed; what is left then is removed all the same.
const RELEASE_BOUND: Duration = Duration::from_secs(20);

/// The conformance suite for databases that carry leases, outboxes and job queues.
#[derive(Parser)]
#[command(name = "leaseproof", version, after_help = Exit::HELP, max_term_width = 100)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Run the contracts on real engines and write the reports
    Run(run::Arguments),
    /// Measure what leases cost on real engines and write `bench.json`
    Bench(bench::Arguments),
    /// Show what there is to run
    List(list::Arguments),
    /// Explain a contract: promise, steps, sources, and the statements that keep it
    Explain(explain::Arguments),
    /// Explain where each engine's server would come from, and what is missing
    Doctor(doctor::Arguments),
    /// Run every contract on stores that break it, and fail if one is not found broken
    Selftest(selftest::Arguments),
    /// Run one case of an earlier run again, with its seed
    Replay(replay::Arguments),
    /// Compare two runs: what broke, was fixed, or became slower
    Compare(compare::Arguments),
    /// Decide on an upgrade: both versions at once, contracts and measurements, one verdict
    Upgrade(upgrade::Arguments),
    /// Decide on one server: contracts and measurements against a committed baseline
    Gate(gate::Arguments),
    /// Write one page for the decision whether to adopt an engine
    Adopt(adopt::Arguments),
    /// Join the shards of one run into one report
    Merge(merge::Arguments),
    /// Render the page of an earlier run anew
    Report(report::Arguments),
    /// Check a published report: whole, consistent, and as it was written
    VerifyReport(verify_report::Arguments),
    /// Build the local images of engines that cannot be pulled
    Images(images::Arguments),
}

/// Runs the command line of this process.
#[must_use]
pub fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if let Some(("keep", rest)) =
        arguments.split_first().map(|(first, rest)| (first.as_str(), rest))
    {
        return leaseproof_engines::servers::keeper_main(rest);
    }
    if arguments.first().is_some_and(|first| first == leaseproof_benches::process::COMMAND) {
        return leaseproof_benches::process::main();
    }
    // Help on stdout with code 0, errors on stderr with code 2: as clap does by itself.
    let arguments = Arguments::parse();
    start_log();
    // A long name must stay in one piece, to be copied.
    let shape = |_: &dyn miette::Diagnostic| -> Box<dyn miette::ReportHandler> {
        Box::new(miette::MietteHandlerOpts::new().width(100).break_words(false).build())
    };
    miette::set_hook(Box::new(move |error| shape(error))).expect("no other hook was set");
    let mut builder = tokio::runtime::Builder::new_multi_thread();
    if let Command::Bench(_) | Command::Gate(_) | Command::Upgrade(_) = arguments.command {
        builder.worker_threads(leaseproof_benches::load::threads());
    }
    let outcome = match builder.enable_all().build() {
        Ok(runtime) => runtime.block_on(async {
            let outcome = dispatch(arguments.command).await;
            // Nothing runs any more when this program has returned.
            release(OwnerPid::current(), RELEASE_BOUND).await;
            outcome
        }),
        Err(error) => Err(CliError::Runtime(error)),
    };
    match outcome {
        Ok(exit) => exit.into(),
        Err(error) => {
            let exit = error.exit();
            eprintln!("{:?}", miette::Report::new(error));
            exit.into()
        }
    }
}

async fn dispatch(command: Command) -> Result<Exit, CliError> {
    match command {
        Command::Run(arguments) => run::run(arguments).await,
        Command::Bench(arguments) => bench::run(arguments).await,
        Command::List(arguments) => list::run(&arguments),
        Command::Explain(arguments) => explain::run(&arguments),
        Command::Doctor(arguments) => doctor::run(&arguments).await,
        Command::Selftest(arguments) => selftest::run(arguments).await,
        Command::Replay(arguments) => replay::run(&arguments).await,
        Command::Compare(arguments) => compare::run(&arguments),
        Command::Upgrade(arguments) => upgrade::run(&arguments).await,
        Command::Gate(arguments) => gate::run(&arguments).await,
        Command::Adopt(arguments) => adopt::run(&arguments).await,
        Command::Merge(arguments) => merge::run(&arguments),
        Command::Report(arguments) => report::run(&arguments),
        Command::VerifyReport(arguments) => verify_report::run(&arguments),
        Command::Images(arguments) => images::run(&arguments).await,
    }
}

/// Logs are for finding faults of this program: `RUST_LOG` turns them on, to stderr.
fn start_log() {
    let filter = tracing_subscriber::EnvFilter::try_from_default_env();
    let filter = filter.unwrap_or_else(|_| tracing_subscriber::EnvFilter::new("off"));
    let lines = tracing_subscriber::fmt::layer().with_writer(std::io::stderr).with_filter(filter);
    // Not for reading: PostgreSQL tells of each lock wait in a message to the client.
    let waits = leaseproof_engines::postgres::LockLog::layer();
    tracing_subscriber::registry().with(lines).with(waits).init();
}

/// How this process has servers provided: by this program itself, for as long as it lives.
fn provide_options() -> Result<ProvideOptions, CliError> {
    let program = std::env::current_exe().map_err(CliError::Runtime)?;
    Ok(ProvideOptions::new(program, OwnerPid::current()))
}

/// Turns the first Ctrl-C or SIGTERM into an orderly end, and the second into an immediate one.
fn interruptible() -> Result<Arc<Interrupt>, CliError> {
    use tokio::signal::unix::{SignalKind, signal};
    let interrupt = Arc::new(Interrupt::default());
    let mut keyboard = signal(SignalKind::interrupt()).map_err(CliError::Runtime)?;
    let mut terminate = signal(SignalKind::terminate()).map_err(CliError::Runtime)?;
    let asked = Arc::clone(&interrupt);
    tokio::spawn(async move {
        loop {
            tokio::select! {
                _ = keyboard.recv() => {}
                _ = terminate.recv() => {}
            }
            if asked.was_asked() {
                // Servers are removed all the same: their keepers see this process end.
                std::process::exit(Exit::Interrupted as i32);
            }
            eprintln!(
                "interrupted: ending what runs and removing what was created; once more to leave at once"
            );
            asked.ask();
        }
    });
    Ok(interrupt)
}

/// Why an engine is missing and what to do about it, a line for each provider that was asked.
fn missing(missing: &leaseproof_engines::servers::Missing) -> String {
    let mut lines = vec![format!("{} is missing:", missing.label)];
    for attempt in &missing.attempts {
        lines.push(format!("  {:12} {}", attempt.provider.as_str(), attempt.reason));
        if !attempt.remedy.is_empty() {
            lines.push(format!("  {:12} → {}", "", attempt.remedy));
        }
    }
    lines.push(String::new());
    lines.join("\n")
}
