//! `leaseproof doctor`: where each engine's server would come from, without starting any.

use clap::Args;
use futures::future::join_all;
use leaseproof_engines::servers::{Finding, Selection, survey};

use super::error::CliError;
use super::output::out;
use super::select::Select;
use crate::exit_code::Exit;

#[derive(Args)]
pub(super) struct Arguments {
    /// An engine, or one version of it; may be repeated. Without it, every engine
    #[arg(long = "engine", value_name = "ENGINE[:VERSION]")]
    engines: Vec<String>,
}

pub(super) async fn run(arguments: &Arguments) -> Result<Exit, CliError> {
    let (selections, named) = Select::engines(&arguments.engines).selections()?;
    let surveys = join_all(selections.iter().map(survey)).await;
    let mut missing = 0;
    for (selection, findings) in selections.iter().zip(&surveys) {
        missing += u32::from(!show(selection, findings));
    }
    match missing {
        0 => out!("Every engine can be provided."),
        count => out!("{count} of {} engines cannot be provided.", selections.len()),
    }
    // A machine without Docker is no failure, unless the engine was asked for by name.
    Ok(if missing > 0 && named { Exit::EngineMissing } else { Exit::Kept })
}

/// Prints one engine's findings; whether any is usable.
fn show(selection: &Selection, findings: &[Finding]) -> bool {
    let chosen = findings.iter().position(|finding| finding.usable);
    out!("{} ({})", selection.label(), selection.engine.title());
    for (index, finding) in findings.iter().enumerate() {
        let mark = match (finding.usable, Some(index) == chosen) {
            (true, true) => "used  ",
            (true, false) => "usable",
            (false, _) => "no    ",
        };
        out!("  {mark} {:12} {}", finding.provider.as_str(), finding.detail);
        if let (Some(remedy), None) = (&finding.remedy, chosen) {
            out!("  {:19} → {remedy}", "");
        }
    }
    out!();
    chosen.is_some()
}
