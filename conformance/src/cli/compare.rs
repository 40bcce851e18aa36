//! `leaseproof compare`: what broke, what was fixed, and what became slower between two runs.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use leaseproof_reports::compare::{self, Comparison};
use leaseproof_reports::{RunDir, format::comparison};

use super::error::CliError;
use super::gate_options::{GateOptions, exit_of};
use super::locate::locate;
use super::output::out;
use super::shown::WIDTH;
use crate::exit_code::Exit;

#[derive(Clone, Copy, ValueEnum)]
enum Format {
    /// For a terminal
    Table,
    /// For a CI step summary
    Markdown,
    /// For programs
    Json,
    /// One page for a browser
    Html,
    /// For tools that read test results
    Junit,
}

#[derive(Args)]
#[command(after_help = Exit::HELP)]
pub(super) struct Arguments {
    /// The run to compare with: a directory, a file in it, an id under `<out>/runs`, a baseline, or
    /// `latest`
    base: PathBuf,
    /// The run to judge, named the same way
    head: PathBuf,
    /// How the comparison is written to standard output
    #[arg(long, value_name = "FORMAT", default_value = "table")]
    format: Format,
    #[command(flatten)]
    gate: GateOptions,
    /// Where runs were written
    #[arg(long, value_name = "DIR", default_value = "reports")]
    out: PathBuf,
}

pub(super) fn run(arguments: &Arguments) -> Result<Exit, CliError> {
    let [base, head] =
        [&arguments.base, &arguments.head].map(|run| RunDir::load_any(locate(run, &arguments.out)));
    let mut found = compare::compare(&base?, &head?, arguments.gate.gate())?;
    if found.base == found.head {
        // The link to the latest run has often moved to the head by then.
        found
            .notes
            .push("both sides are the same run, which equals itself whatever is in it".into());
    }
    out!("{}", render(&found, arguments.format).trim_end());
    Ok(exit_of(found.verdict))
}

fn render(found: &Comparison, format: Format) -> String {
    match format {
        Format::Table => comparison::table(found, WIDTH),
        Format::Markdown => comparison::markdown(found),
        Format::Json => comparison::json(found),
        Format::Html => comparison::html(found),
        Format::Junit => comparison::junit(found),
    }
}
