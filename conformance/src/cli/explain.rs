//! `leaseproof explain`: what a contract promises, how it is tested, and by which statements.

use std::path::{Path, PathBuf};

use clap::Args;
use leaseproof_engines::Capability;
use leaseproof_engines::servers::Selection;
use leaseproof_reports::run_dir::LATEST;
use leaseproof_reports::{CapabilityState, RunDir};

use super::error::CliError;
use super::locate::locate_contracts;
use super::output::out;
use super::select::Select;
use crate::contract::Contract;
use crate::document;
use crate::exit_code::Exit;

#[derive(Args)]
pub(super) struct Arguments {
    /// The contract's id, or a pattern over ids: `renew/never-shortens`, `claim/*`
    contract: String,
    /// Also show this engine's reference statements, and what its latest run found
    #[arg(long, value_name = "ENGINE")]
    engine: Option<String>,
    /// Where reports are, for what the latest run found
    #[arg(long, value_name = "DIR", default_value = "reports")]
    out: PathBuf,
}

pub(super) fn run(arguments: &Arguments) -> Result<Exit, CliError> {
    let engines: Vec<String> = arguments.engine.iter().cloned().collect();
    let mut select = Select::engines(&engines);
    select.contracts = vec![arguments.contract.clone()];
    let engine = match arguments.engine {
        Some(_) => select.selections()?.0.into_iter().next(),
        None => None,
    };
    for contract in select.contracts()? {
        explain(contract);
        if let Some(selection) = &engine {
            capabilities(contract, selection, &arguments.out);
            statements(contract, selection);
        }
    }
    Ok(Exit::Kept)
}

fn explain(contract: &Contract) {
    out!("{} ({})\n", contract.id, contract.level);
    out!("{}\n", document::body(contract));
    out!("# Found broken on\n");
    for control in contract.controls {
        match control.source {
            "" => out!("- {}", control.name),
            source => out!("- {} ({source})", control.name),
        }
    }
    out!();
}

/// What the contract needs and the engine declares, and what the latest run found of it.
fn capabilities(contract: &Contract, selection: &Selection, reports: &Path) {
    let engine = selection.engine;
    let latest = RunDir::load(locate_contracts(Path::new(LATEST), reports)).ok();
    let found = latest.iter().flat_map(|run| &run.engines).find(|run| run.name == engine.name());
    out!("# Capabilities of {}\n", engine.title());
    for capability in Capability::ALL {
        let declared = engine.capabilities().contains(&capability);
        let needed = if contract.requires.contains(&capability) { ", needed here" } else { "" };
        let word = if declared { "declared" } else { "not declared" };
        let probed = found.and_then(|run| run.capabilities.get(capability.as_str()));
        let probed = match probed {
            Some(CapabilityState { probed: Some(true), detail, .. }) => {
                format!("; there: {detail}")
            }
            Some(CapabilityState { probed: Some(false), detail, .. }) => {
                format!("; not there: {detail}")
            }
            _ => String::new(),
        };
        out!("- {capability}: {word}{needed}{probed}");
    }
    match found {
        Some(run) => out!("\nProbed on {} in the latest run.\n", run.version),
        None => {
            out!("\nNo run of this engine is in `{}` yet, so none is probed.\n", reports.display())
        }
    }
    let lacking = contract.requires.iter().filter(|wanted| !engine.capabilities().contains(wanted));
    for capability in lacking {
        out!("{} lacks `{capability}`, so the contract does not apply to it.\n", engine.title());
    }
}

/// The statements of the contract's own verb: those that start with its family's name.
fn statements(contract: &Contract, selection: &Selection) {
    let engine = selection.engine;
    out!("# Reference statements on {}\n", engine.title());
    let statements = engine.statements();
    let relevant = |name: &str| match contract.family() {
        "claim" => {
            name.starts_with("claim") || matches!(name, "candidates" | "exhausted" | "dead_letter")
        }
        "replay" => name == "reserve" || name == "apply_effect",
        "stop" => name == "release" || name == "backlog",
        "fence" | "time" => matches!(name, "claim" | "renew" | "ack" | "release" | "schema"),
        "unit" => matches!(name, "begin" | "begin_snapshot" | "claim"),
        // How long an ack waits is up to the claims that run beside it.
        "ack" => name.starts_with("ack") || name.starts_with("claim_batch"),
        family => name.starts_with(family),
    };
    let relevant = |name: &str| relevant(name) || name == "schema";
    for (name, text) in statements.iter().filter(|(name, _)| relevant(name)) {
        out!("-- {name}.sql\n{text}");
    }
}
