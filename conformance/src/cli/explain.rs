//! `leaseproof explain`: what a contract promises, how it is tested, and by which statements.

use clap::Args;
use leaseproof_engines::provider::Selection;

use super::error::CliError;
use super::output::out;
use super::select::Select;
use crate::contract::Contract;
use crate::document;
use crate::exit_code::Exit;

#[derive(Args)]
pub(super) struct Arguments {
    /// The contract's id, or a pattern over ids: `renew/never-shortens`, `claim/*`
    contract: String,
    /// Also show this engine's reference statements
    #[arg(long, value_name = "ENGINE")]
    engine: Option<String>,
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

/// The statements of the contract's own verb: those that start with its family's name.
fn statements(contract: &Contract, selection: &Selection) {
    let engine = selection.engine;
    let lacking = contract.requires.iter().filter(|wanted| !engine.capabilities().contains(wanted));
    for capability in lacking {
        out!("{} lacks `{capability}`, so the contract does not apply to it.\n", engine.title());
    }
    out!("# Reference statements on {}\n", engine.title());
    let statements = engine.statements();
    let relevant = |name: &str| match contract.family() {
        "claim" => name.starts_with("claim") || name == "candidates",
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
