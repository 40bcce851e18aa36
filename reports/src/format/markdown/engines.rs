//! The section about the engines: what each was, and what it can do.

use std::collections::BTreeSet;

use super::{
    super::{
        finding::{absence, contradiction},
        text::clip,
    },
    OBSERVED_CHARS,
    escape::text,
    row::{push_header, push_row},
};
use crate::{Contradiction, EngineRun, Run};

/// What each engine was, and what its results depend on.
pub(super) fn engines(run: &Run) -> String {
    if run.engines.is_empty() {
        return String::new();
    }
    let mut section = String::from("## Engines\n\n");
    let titles = ["engine", "version", "provider", "isolation", "clock", "TLS", "durability"];
    push_header(&mut section, titles.map(str::to_owned));
    for engine in &run.engines {
        push_row(&mut section, engine_cells(engine));
    }
    push_contradictions(&mut section, run);
    push_capabilities(&mut section, run);
    section
}

fn engine_cells(engine: &EngineRun) -> [String; 7] {
    let version = if engine.is_missing() {
        format!("missing: {}", clip(&absence(engine), OBSERVED_CHARS))
    } else {
        engine.version.clone()
    };
    let tls = match engine.tls {
        Some(true) => "on",
        Some(false) => "off",
        None => "",
    };
    let durability: Vec<String> =
        engine.durability.iter().map(|(name, value)| format!("{name}={value}")).collect();
    let cells = [
        &engine.label,
        &version,
        &engine.provider,
        &engine.isolation,
        &engine.clock,
        tls,
        &durability.join(", "),
    ];
    cells.map(text)
}

/// One line for every capability that is not as its engine declares it.
fn push_contradictions(section: &mut String, run: &Run) {
    let mut lines = Vec::new();
    for engine in &run.engines {
        for (how, name, state) in engine.contradictions() {
            let word = match how {
                Contradiction::Absent => "**error**",
                Contradiction::Undeclared => "note",
            };
            let observed = clip(&contradiction(how, name, state), OBSERVED_CHARS);
            lines.push(format!("- {word} {}: {}\n", text(&engine.label), text(&observed)));
        }
    }
    if lines.is_empty() {
        return;
    }
    // Errors first, and otherwise in the order of the run.
    lines.sort_by_key(|line| !line.starts_with("- **"));
    section.push_str("\nCapabilities that are not as declared:\n\n");
    section.push_str(&lines.concat());
}

/// The capabilities against the engines.
fn push_capabilities(section: &mut String, run: &Run) {
    let names: BTreeSet<&str> = run
        .engines
        .iter()
        .flat_map(|engine| engine.capabilities.keys())
        .map(String::as_str)
        .collect();
    if names.is_empty() {
        return;
    }
    section.push('\n');
    let labels = run.engines.iter().map(|engine| text(&engine.label));
    push_header(section, std::iter::once("capability".to_owned()).chain(labels));
    for name in names {
        let cells = run.engines.iter().map(|engine| match engine.capabilities.get(name) {
            None => "–".to_owned(),
            Some(state) if state.contradiction() == Some(Contradiction::Absent) => {
                format!("✗ **{state}**")
            }
            Some(state) => state.to_string(),
        });
        push_row(section, std::iter::once(text(name)).chain(cells));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{CapabilityState, sample};

    #[test]
    fn errors_come_before_notes() {
        let mut run = sample::kept();
        assert!(!engines(&run).contains("not as declared"));
        for (engine, state) in [
            (0, CapabilityState::probed(false, true, "")),
            (1, CapabilityState::probed(true, false, "it waited")),
        ] {
            run.engines[engine].capabilities.insert("nowait".to_owned(), state);
        }
        let section = engines(&run);
        let lines = "- **error** mysql:9.7: capability nowait is declared and not there: it waited\n\
                     - note postgres:18: capability nowait is there and not declared\n";
        assert!(section.contains(lines), "{section}");
        assert!(
            section.contains("| nowait | yes, but not declared | ✗ **no, but declared** | – |")
        );
    }
}
