//! `leaseproof selftest`: every contract on stores that break it, as a kill matrix.

use std::collections::BTreeMap;

use clap::Args;
use comfy_table::presets::UTF8_BORDERS_ONLY;
use comfy_table::{ContentArrangement, Table};
use leaseproof_reports::Outcome;
use leaseproof_reports::schema::SEED_MAX;

use super::error::CliError;
use super::output::out;
use super::progress::{Display, Wording};
use super::select::Select;
use crate::contract::Contract;
use crate::exit_code::Exit;
use crate::plan::variant::Matrix;
use crate::run::suite::{self, Part, Plan};

#[derive(Args)]
#[command(after_help = Exit::HELP)]
pub(super) struct Arguments {
    #[command(flatten)]
    select: Select,
    /// The seed of every random choice
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = clap::value_parser!(u64).range(..=SEED_MAX))]
    seed: Option<u64>,
}

pub(super) async fn run(arguments: Arguments) -> Result<Exit, CliError> {
    let (selections, named) = arguments.select.selections()?;
    let plan = Plan {
        selections,
        contracts: arguments.select.contracts()?,
        seed: arguments.seed.unwrap_or_else(|| rand::random_range(0..=SEED_MAX)),
        repeat: 1,
        matrix: Matrix::Default,
        jobs: arguments.select.jobs,
        controls: true,
        shard: None,
    };
    eprintln!("seed {}", plan.seed);
    let interrupt = super::interruptible()?;
    // A control that is found broken is what is wanted, and not worth a line.
    let display = Display::new(Wording {
        notable: |outcome| {
            !matches!(outcome, Outcome::Broken | Outcome::Unsupported | Outcome::Kept)
        },
    });
    let parts =
        suite::run(&plan, &super::provide_options()?, &interrupt, &|event| display.show(&event))
            .await;
    display.clear();
    let verdicts: Vec<Verdicts> = parts.iter().map(verdicts).collect();
    let tally = print(&plan, &parts, &verdicts);
    if interrupt.was_asked() {
        return Ok(Exit::Interrupted);
    }
    let missing = parts.iter().filter(|part| part.server.is_err()).count();
    Ok(if tally.survivors > 0 {
        Exit::Broken
    } else if missing > 0 && named {
        Exit::EngineMissing
    } else if tally.killed == 0 {
        Exit::NothingSelected
    } else if tally.undecided > 0 {
        Exit::Undecided
    } else {
        Exit::Kept
    })
}

/// What became of each control on one engine, over its variants: one kill is enough, because a
/// strategy that does not use a sabotaged statement cannot show its fault.
type Verdicts = BTreeMap<(&'static str, &'static str), (Outcome, String)>;

fn verdicts(part: &Part) -> Verdicts {
    let mut verdicts = Verdicts::new();
    for (job, result) in &part.cases {
        let Some(control) = job.control else { continue };
        let seen = (result.outcome, result.detail.clone());
        let slot = verdicts.entry((job.contract.id, control.name)).or_insert_with(|| seen.clone());
        if result.outcome == Outcome::Broken || slot.0 == Outcome::Unsupported {
            *slot = seen;
        }
    }
    verdicts
}

#[derive(Default)]
struct Tally {
    killed: u32,
    survivors: u32,
    undecided: u32,
}

fn print(plan: &Plan, parts: &[Part], verdicts: &[Verdicts]) -> Tally {
    let mut table = Table::new();
    table.load_style(UTF8_BORDERS_ONLY).set_content_arrangement(ContentArrangement::Disabled);
    let mut head = vec!["contract, and what its control does".to_owned()];
    head.extend(parts.iter().map(|part| part.selection.label()));
    table.set_header(head);
    let mut tally = Tally::default();
    let mut lines = Vec::new();
    for contract in &plan.contracts {
        table.add_row([contract.id]);
        if contract.controls.is_empty() {
            tally.survivors += 1;
            lines.push(format!(
                "{}: has no control, so nothing shows that it can fail",
                contract.id
            ));
        }
        add_controls(contract, parts, verdicts, &mut table, &mut tally, &mut lines);
    }
    out!("{table}");
    for line in &lines {
        out!("{line}");
    }
    for part in parts {
        if let Err(missing) = &part.server {
            out!("{}", super::missing(missing));
        }
    }
    out!("{} killed, {} survived, {} undecided", tally.killed, tally.survivors, tally.undecided);
    tally
}

fn add_controls(
    contract: &Contract,
    parts: &[Part],
    verdicts: &[Verdicts],
    table: &mut Table,
    tally: &mut Tally,
    lines: &mut Vec<String>,
) {
    for control in contract.controls {
        let mut row = vec![format!("  {}", control.name)];
        for (part, verdicts) in parts.iter().zip(verdicts) {
            let verdict = verdicts.get(&(contract.id, control.name));
            let word = match verdict {
                _ if part.server.is_err() => "missing",
                None => "–",
                Some((Outcome::Broken, _)) => {
                    tally.killed += 1;
                    "killed"
                }
                Some((Outcome::Unsupported, _)) => "–",
                Some((Outcome::Kept, _)) => {
                    tally.survivors += 1;
                    "SURVIVED"
                }
                Some(_) => {
                    tally.undecided += 1;
                    "undecided"
                }
            };
            if let ("SURVIVED" | "undecided", Some((_, detail))) = (word, verdict) {
                let label = part.selection.label();
                lines.push(format!(
                    "{label}: {} on `{}` {word}: {detail}",
                    contract.id, control.name
                ));
            }
            row.push(word.to_owned());
        }
        table.add_row(row);
    }
}
