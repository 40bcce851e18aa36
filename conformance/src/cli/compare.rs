//! `leaseproof compare`: what broke, what was fixed, and what became slower between two runs.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use leaseproof_reports::compare::{self, Comparison, Gate, Verdict};
use leaseproof_reports::{RunDir, format::comparison};

use super::error::CliError;
use super::locate::locate;
use super::output::out;
use crate::exit_code::Exit;

/// The width of the table when nobody says another, in columns.
const WIDTH: u16 = 120;

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
    /// The run to compare with: a directory, a file in it, an id under `<out>/runs`, or `latest`
    base: PathBuf,
    /// The run to judge, named the same way
    head: PathBuf,
    /// How the comparison is written to standard output
    #[arg(long, value_name = "FORMAT", default_value = "table")]
    format: Format,
    /// The smallest change of throughput that counts, in per cent
    #[arg(long, value_name = "PERCENT", default_value_t = 10.0, value_parser = percent)]
    throughput: f64,
    /// The smallest change of p99 latencies that counts, in per cent
    #[arg(long, value_name = "PERCENT", default_value_t = 20.0, value_parser = percent)]
    tail: f64,
    /// The smallest change of counted work (pages, lock requests, skips, steps) that counts, in per cent
    #[arg(long, value_name = "PERCENT", default_value_t = 2.0, value_parser = percent)]
    counters: f64,
    /// Judge counted work alone: times are shown and decide nothing
    #[arg(long)]
    counters_only: bool,
    /// Where runs were written
    #[arg(long, value_name = "DIR", default_value = "reports")]
    out: PathBuf,
}

fn percent(text: &str) -> Result<f64, String> {
    let number: f64 = text.parse().map_err(|_| "it is not a number".to_owned())?;
    if (0.1..100.0).contains(&number) {
        return Ok(number);
    }
    Err("it must be at least 0.1 and less than 100".to_owned())
}

pub(super) fn run(arguments: &Arguments) -> Result<Exit, CliError> {
    let [base, head] =
        [&arguments.base, &arguments.head].map(|run| RunDir::load_any(locate(run, &arguments.out)));
    let gate = Gate {
        throughput: arguments.throughput / 100.0,
        tail: arguments.tail / 100.0,
        counters: arguments.counters / 100.0,
        wall_clock: !arguments.counters_only,
    };
    let found = compare::compare(&base?, &head?, gate)?;
    out!("{}", render(&found, arguments.format).trim_end());
    Ok(match found.verdict {
        Verdict::Fine => Exit::Kept,
        Verdict::Inconclusive => Exit::Undecided,
        Verdict::Worse => Exit::Regression,
    })
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
