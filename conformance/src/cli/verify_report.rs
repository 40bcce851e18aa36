//! `leaseproof verify-report`: whether a published report is whole, consistent and unedited.

use std::path::PathBuf;

use clap::Args;
use leaseproof_reports::RunDir;
use leaseproof_reports::run_dir::BENCH_JSON;
use leaseproof_reports::verify::{Finding, Kind, verify};

use super::error::CliError;
use super::output::out;
use crate::exit_code::Exit;
use crate::plan::required::required;
use crate::plan::variant::Matrix;

/// What the exit codes of this command mean.
const EXIT_CODES: &str = "\
Exit codes:
    0  the report is whole, consistent and what was written; its contracts may be broken all the same
  100  it is not: a line for each finding says why
  110  there is no report that this version can read

The digest shows accidental changes and careless editing. It does not stop a forger, who can compute it too.";

#[derive(Args)]
#[command(after_help = EXIT_CODES)]
pub(super) struct Arguments {
    /// A run directory, with its measurements where it has any, or its `run.json`
    path: PathBuf,
}

pub(super) fn run(arguments: &Arguments) -> Result<Exit, CliError> {
    let path = &arguments.path;
    let (run, seal) = RunDir::load_as_found(path)?;
    let mut findings = verify(&run, seal, &required(&run));
    if path.is_dir() && run.validate().is_ok() {
        let histories = run.cases.iter().filter_map(|case| case.history.as_ref());
        let absent = histories.filter(|history| !path.join(history).is_file());
        let line = |history| Finding::new(Kind::File, &format!("`{history}` is not there"));
        findings.extend(absent.map(line));
    }
    if path.is_dir() && path.join(BENCH_JSON).exists() {
        // It has no digest: what can be said is whether it can be read, and whether it is all.
        let bench = RunDir::load_bench(path)?;
        if bench.left > 0 || bench.shard.is_some() || bench.partial.is_some() {
            let text = format!("`{BENCH_JSON}`: {}", bench.verdict());
            findings.push(Finding::new(Kind::Partial, &text));
        }
    }
    if [Matrix::Default, Matrix::Full].iter().all(|matrix| matrix.as_str() != run.matrix_name) {
        let text = format!("this version knows no matrix `{}`", run.matrix_name);
        findings.push(Finding::new(Kind::Partial, &text));
    }
    for finding in &findings {
        out!("{finding}");
    }
    let ours = env!("CARGO_PKG_VERSION");
    if run.tool.version != ours {
        let text = format!("note: written by version {}, verified by {ours}", run.tool.version);
        out!("{}", leaseproof_reports::format::plain(&text));
    }
    if findings.is_empty() {
        let verdict = leaseproof_reports::format::plain(&run.verdict());
        out!("{}: whole, consistent and as it was written; it says: {verdict}", path.display());
        return Ok(Exit::Kept);
    }
    Ok(Exit::Broken)
}
