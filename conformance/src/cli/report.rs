//! `leaseproof report`: the page of an earlier run anew, from its JSON.

use std::path::{Path, PathBuf};

use clap::Args;
use leaseproof_reports::RunDir;

use super::error::CliError;
use super::locate::locate;
use super::output::out;
use crate::exit_code::Exit;

#[derive(Args)]
pub(super) struct Arguments {
    /// A run directory, an id under `<out>/runs`, or `latest`
    #[arg(default_value = "latest")]
    run: PathBuf,
    /// Where runs were written
    #[arg(long, value_name = "DIR", default_value = "reports")]
    out: PathBuf,
}

pub(super) fn run(arguments: &Arguments) -> Result<Exit, CliError> {
    let path = locate(&arguments.run, &arguments.out);
    // One of its files stands for its directory: the page has the other one too.
    let directory = match path.parent() {
        Some(parent) if path.is_file() && parent != Path::new("") => parent,
        Some(_) if path.is_file() => Path::new("."),
        _ => path.as_path(),
    };
    let loaded = RunDir::load_any(directory)?;
    let page = RunDir::write_page(directory, loaded.report())?;
    out!("{}", page.display());
    Ok(Exit::Kept)
}
