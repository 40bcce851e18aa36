//! The sections of the summary; one that has nothing to say is empty.

use super::{
    super::{
        finding::{Finding, findings, known_failures},
        rotten,
        text::clip,
    },
    OBSERVED_CHARS,
    escape::{code, text},
    row::{push_header, push_row},
};
use crate::{Cell, Outcome, Run};

/// The entries of the known-failures file that are no longer true, which fail the run.
pub(super) fn kept_again(run: &Run) -> String {
    if run.rotten.is_empty() {
        return String::new();
    }
    let mut section = String::from("## Known failures that are kept again\n\n");
    for entry in &run.rotten {
        let observed = clip(&rotten::observed(entry), OBSERVED_CHARS);
        section.push_str(&format!("- **{}**: {}\n", text(&rotten::name(entry)), text(&observed)));
    }
    section
}

/// The contracts against the engines; a family that is kept everywhere is one line.
pub(super) fn matrix(run: &Run) -> String {
    let matrix = run.matrix();
    if matrix.rows.is_empty() || matrix.engines.is_empty() {
        return String::new();
    }
    let mut section = String::from("## Contracts\n\n");
    let labels = matrix.engines.iter().map(|label| text(label));
    push_header(&mut section, std::iter::once("contract".to_owned()).chain(labels));
    for (title, row) in matrix.lines() {
        let cells = row.cells.iter().map(|cell| words(*cell));
        push_row(&mut section, std::iter::once(text(&title)).chain(cells));
    }
    section
}

/// One line for everything that is not kept: what was observed, and how to run it again.
pub(super) fn not_kept(run: &Run) -> String {
    let findings = findings(run);
    if findings.is_empty() {
        return String::new();
    }
    let mut section = String::from("## Not kept\n\n");
    for Finding { outcome, contract, engine, variants, observed, replay, .. } in findings {
        section.push_str(&format!("- **{outcome}** "));
        section.push_str(&match contract {
            Some(contract) => {
                let [contract, engine] = [contract, engine].map(text);
                format!("{contract} on {engine} ({})", text(&variants))
            }
            None => text(engine),
        });
        section.push_str(&format!(": {}", text(&clip(&observed, OBSERVED_CHARS))));
        if let Some(replay) = replay {
            section.push_str(&format!(" · replay: {}", code(&replay)));
        }
        section.push('\n');
    }
    section
}

/// What is not kept and is listed in the known-failures file, with the reason.
pub(super) fn known(run: &Run) -> String {
    let findings = known_failures(run);
    if findings.is_empty() {
        return String::new();
    }
    let mut section = String::from("## Known failures\n\n");
    let titles = ["contract", "engine", "variant", "observed", "reason"];
    push_header(&mut section, titles.map(str::to_owned));
    for Finding { outcome, contract, engine, variants, observed, reason, .. } in findings {
        let observed = format!("{outcome}: {}", clip(&observed, OBSERVED_CHARS));
        let reason = clip(&reason.unwrap_or_default(), OBSERVED_CHARS);
        let cells = [contract.unwrap_or_default(), engine, &variants, &observed, &reason];
        push_row(&mut section, cells.map(text));
    }
    section
}

/// How the run was made.
pub(super) fn run(run: &Run) -> String {
    let host = &run.host;
    let facts = [
        ("tool", format!("{} {}", run.tool.name, run.tool.version)),
        ("run", run.id.clone()),
        ("started", run.started.to_string()),
        ("duration", format!("{} ms", run.duration_ms)),
        ("seed", run.seed.to_string()),
        ("repeat", run.repeat.to_string()),
        ("matrix", run.matrix_name.clone()),
        (
            "host",
            format!(
                "{} {} {}, {} CPUs, {} MiB",
                host.os, host.arch, host.kernel, host.cpus, host.memory_mib
            ),
        ),
    ];
    let shard = run.shard.as_ref();
    let shard = shard.map(|shard| ("shard", format!("{} of {}", shard.index, shard.count)));
    let mut section = String::from("## Run\n\n");
    for (name, fact) in facts.into_iter().chain(shard) {
        section.push_str(&format!("- {name}: {}\n", text(&fact)));
    }
    section.push_str(&format!("- command: {}\n", code(&run.command.join(" "))));
    section
}

/// An outcome in words, with a mark for the two that a reader looks for.
fn words(cell: Option<Cell>) -> String {
    let Some(cell) = cell else {
        return "not run".to_owned();
    };
    let word = match cell.worst {
        outcome if cell.known => format!("known: {outcome}"),
        Outcome::Kept => "✓ kept".to_owned(),
        Outcome::Broken => "✗ **broken**".to_owned(),
        other => other.to_string(),
    };
    if cell.is_mixed() {
        return format!("{word} ({} of {})", cell.at_worst, cell.variants);
    }
    word
}
