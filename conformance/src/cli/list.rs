//! `leaseproof list`: what there is to run.

use clap::{Args, ValueEnum};
use comfy_table::presets::NOTHING;
use comfy_table::{ContentArrangement, Table};
use leaseproof_benches::scenario::Scenario;
use leaseproof_benches::scenarios::REGISTRY as SCENARIOS;
use leaseproof_engines::Engine;

use super::error::CliError;
use super::output::out;
use crate::contracts::REGISTRY;
use crate::exit_code::Exit;

#[derive(Clone, Copy, ValueEnum)]
enum What {
    /// The contracts, with level and promise
    Contracts,
    /// The engines, with default version, other versions and claim strategies
    Engines,
    /// The scenarios of `bench` and `upgrade`, with their questions
    Scenarios,
}

#[derive(Args)]
pub(super) struct Arguments {
    what: What,
    /// As JSON, for programs
    #[arg(long)]
    json: bool,
}

pub(super) fn run(arguments: &Arguments) -> Result<Exit, CliError> {
    match (arguments.what, arguments.json) {
        (What::Contracts, true) => print_json(&REGISTRY.iter().map(|contract| {
            serde_json::json!({
                "id": contract.id,
                "level": contract.level.as_str(),
                "promise": contract.promise,
                "source": contract.source,
                "controls": contract.controls.iter().map(|control| control.name).collect::<Vec<_>>(),
            })
        }).collect()),
        (What::Engines, true) => print_json(&leaseproof_engines::REGISTRY.iter().map(|engine| {
            serde_json::json!({
                "name": engine.name(),
                "title": engine.title(),
                "default_version": engine.default_version(),
                "versions": versions(*engine),
                "strategies": strategies(*engine),
                "url_variable": engine.server().map(|server| server.url_variable),
            })
        }).collect()),
        (What::Scenarios, true) => print_json(&SCENARIOS.iter().map(|scenario| {
            serde_json::json!({
                "id": scenario.id(),
                "question": scenario.question(),
                "headline": scenario.headline(),
                "on_request": scenario.on_request(),
                "judges_upgrades": scenario.judges_upgrades(),
            })
        }).collect()),
        (What::Scenarios, false) => {
            let when = |scenario: &dyn Scenario| match (scenario.on_request(), scenario.judges_upgrades()) {
                (true, _) => "asked for",
                (false, true) => "bench, upgrade",
                (false, false) => "bench",
            };
            let rows = SCENARIOS.iter().map(|scenario| {
                vec![scenario.id().to_owned(), when(*scenario).to_owned(), scenario.question().to_owned()]
            });
            print_table(["scenario", "measured by", "question"], rows);
        }
        (What::Contracts, false) => {
            let rows = REGISTRY.iter().map(|contract| {
                vec![contract.id.to_owned(), contract.level.to_string(), contract.promise.to_owned()]
            });
            print_table(["contract", "level", "promise"], rows);
        }
        (What::Engines, false) => {
            let rows = leaseproof_engines::REGISTRY.iter().map(|engine| {
                let versions = versions(*engine);
                let versions = if versions.is_empty() { "linked in".to_owned() } else { versions.join(", ") };
                vec![engine.name().to_owned(), engine.default_version().to_owned(), versions, strategies(*engine).join(", ")]
            });
            print_table(["engine", "default", "local images", "claim strategies"], rows);
        }
    }
    Ok(Exit::Kept)
}

fn versions(engine: &dyn Engine) -> Vec<&'static str> {
    engine.server().map(|server| server.recipe.versions()).unwrap_or_default()
}

fn strategies(engine: &dyn Engine) -> Vec<&'static str> {
    engine.strategies().iter().map(|strategy| strategy.as_str()).collect()
}

fn print_table<const N: usize>(head: [&str; N], rows: impl Iterator<Item = Vec<String>>) {
    let mut table = Table::new();
    table.load_style(NOTHING).set_content_arrangement(ContentArrangement::Dynamic).set_width(100);
    table.set_header(head);
    table.add_rows(rows);
    out!("{table}");
}

fn print_json(values: &Vec<serde_json::Value>) {
    out!("{}", serde_json::to_string_pretty(values).expect("plain values have JSON"));
}
