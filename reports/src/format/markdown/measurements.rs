//! The measurements as Markdown: per engine how far they can be trusted, then each cell.

use super::{
    super::{
        number::{duration_us, percent, short},
        text::clip,
    },
    OBSERVED_CHARS,
    escape::{code, text},
    row::{push_header, push_row},
};
use crate::{
    bench::{BenchCell, BenchEngine, BenchRun, Observed, words},
    stats::Estimate,
};

/// The metric that every scenario has.
const THROUGHPUT: &str = "claims_per_s";

/// The measurements as sections with their names, the most important first.
pub(super) fn sections(run: &BenchRun) -> Vec<(String, String)> {
    let mut sections = vec![
        ("the table of engines".to_owned(), engines(run)),
        ("the violations".to_owned(), violations(run)),
    ];
    for engine in &run.engines {
        sections.push((format!("the cells of {}", text(&engine.name)), cells(run, engine)));
    }
    sections.push(("what is not observable".to_owned(), not_observable(run)));
    sections.push(("the run".to_owned(), conditions(run)));
    sections
}

fn engines(run: &BenchRun) -> String {
    let mut section = String::from("## Measurements\n\n");
    let titles =
        ["engine", "version", "durability", "cells", "no result", "A/A floor", "shows from"];
    push_header(&mut section, titles.map(str::to_owned));
    for engine in &run.engines {
        let cells = || run.cells.iter().filter(|cell| cell.engine == engine.name);
        let floor = run.floor(&engine.name, THROUGHPUT).map(|floor| percent(floor.relative));
        let detectable = run.detectable(&engine.name, THROUGHPUT).map(percent);
        let durability: Vec<String> =
            engine.durability.iter().map(|(name, value)| format!("{name}={value}")).collect();
        let none = || "unknown".to_owned();
        let row = [
            if engine.title.is_empty() { engine.name.clone() } else { engine.title.clone() },
            clip(&engine.version, OBSERVED_CHARS),
            clip(&durability.join(", "), OBSERVED_CHARS),
            cells().count().to_string(),
            cells().filter(|cell| !cell.is_result()).count().to_string(),
            floor.unwrap_or_else(none),
            detectable.unwrap_or_else(none),
        ];
        push_row(&mut section, row.iter().map(|cell| text(cell)));
    }
    section.push_str(
        "\nEach engine is compared with itself only. The A/A floor is how much throughput differed \
         between equal cells; a comparison with as many repeats shows a change from the last \
         column on.\n",
    );
    section
}

fn violations(run: &BenchRun) -> String {
    let violated = run.cells.iter().filter(|cell| !cell.violations.is_empty());
    let lines: String = violated
        .flat_map(|cell| cell.violations.iter().map(move |violation| (cell.key(), violation)))
        .map(|(key, violation)| {
            format!("- **violated** {}: {}\n", text(&key), text(&clip(violation, OBSERVED_CHARS)))
        })
        .collect();
    if lines.is_empty() { lines } else { format!("## Violations\n\n{lines}") }
}

fn cells(run: &BenchRun, engine: &BenchEngine) -> String {
    let cells: Vec<&BenchCell> =
        run.cells.iter().filter(|cell| cell.engine == engine.name).collect();
    if cells.is_empty() {
        return String::new();
    }
    let title = if engine.title.is_empty() { &engine.name } else { &engine.title };
    let mut section =
        format!("<details><summary>{}: {} cells</summary>\n\n", text(title), cells.len());
    let titles = ["scenario", "cell", "claims/s (95 %)", "claim p99", "pages/claim", "skips/claim"];
    push_header(&mut section, titles.map(str::to_owned));
    for cell in cells {
        let mut row = vec![text(&cell.scenario), text(&clip(&cell.place(), OBSERVED_CHARS))];
        if !cell.is_result() {
            row.extend(["no result", "", "", ""].map(str::to_owned));
            push_row(&mut section, row);
            continue;
        }
        let metrics = cell.metrics();
        let of = |name: &str, render: fn(f64) -> String| match metrics.get(name) {
            None => String::new(),
            Some(Observed::NotObservable(_)) => "not observable".to_owned(),
            Some(Observed::Values(values)) => {
                Estimate::of(values).map(|estimate| render(estimate.mean)).unwrap_or_default()
            }
        };
        row.push(
            metrics.get(THROUGHPUT).and_then(Observed::estimate).map(interval).unwrap_or_default(),
        );
        row.extend([
            of("claim_p99_us", duration_us),
            of("pages_touched_per_claim", short),
            of("skipped_rows_per_claim", short),
        ]);
        push_row(&mut section, row);
    }
    section.push_str("\n</details>\n");
    section
}

fn interval(estimate: Estimate) -> String {
    match (estimate.low, estimate.high) {
        (Some(low), Some(high)) => {
            format!("{} ({}–{})", short(estimate.mean), short(low), short(high))
        }
        _ => format!("{} (1 repeat)", short(estimate.mean)),
    }
}

fn not_observable(run: &BenchRun) -> String {
    let mut section = String::new();
    for engine in &run.engines {
        for (metric, reason) in run.not_observable(&engine.name) {
            let reason = text(&clip(&reason, OBSERVED_CHARS));
            section.push_str(&format!(
                "- {} on {}: {reason}\n",
                text(&words(&metric)),
                text(&engine.name)
            ));
        }
    }
    if section.is_empty() { section } else { format!("## Not observable\n\n{section}") }
}

fn conditions(run: &BenchRun) -> String {
    let (host, conditions) = (&run.host, &run.conditions);
    let unknown = || "unknown".to_owned();
    let load = |load: Option<f64>| load.map_or_else(unknown, |load| format!("{load:.2}"));
    let facts = [
        ("run", format!("{}, profile {}, seed {}", run.id, run.profile, run.seed)),
        ("tool", format!("{} {}", run.tool.name, run.tool.version)),
        ("processor", format!("{}, {} CPUs", conditions.cpu, host.cpus)),
        ("system", format!("{} {} {}, {} MiB", host.os, host.arch, host.kernel, host.memory_mib)),
        ("file system", conditions.file_system.clone()),
        (
            "fsyncs",
            conditions.fsyncs_per_s.map_or_else(unknown, |rate| format!("{}/s", short(rate))),
        ),
        (
            "load",
            format!(
                "{} before, {} after",
                load(conditions.load_before),
                load(conditions.load_after)
            ),
        ),
    ];
    let mut section = String::from("## Bench run\n\n");
    for (name, fact) in facts {
        section.push_str(&format!("- {name}: {}\n", text(&clip(&fact, OBSERVED_CHARS))));
    }
    section.push_str(&format!("- command: {}\n", code(&run.command.join(" "))));
    section
}
