//! The section about facts: in what the engines of a run were seen to differ, which is no verdict.

use std::collections::BTreeSet;

use super::{
    escape::text,
    row::{push_header, push_row},
};
use crate::Run;

/// Each fact against the engines that were looked at; empty when none was.
pub(super) fn facts(run: &Run) -> String {
    let engines: Vec<_> = run.engines.iter().filter(|engine| !engine.facts.is_empty()).collect();
    let names: BTreeSet<&str> =
        engines.iter().flat_map(|engine| engine.facts.keys()).map(String::as_str).collect();
    if names.is_empty() {
        return String::new();
    }
    let mut section =
        String::from("## Measured facts\n\nNo verdicts: what to know when moving.\n\n");
    let labels = engines.iter().map(|engine| text(&engine.label));
    push_header(&mut section, std::iter::once("fact".to_owned()).chain(labels));
    for name in names {
        let seen =
            |engine: &&crate::EngineRun| text(engine.facts.get(name).map_or("", String::as_str));
        let cells = engines.iter().map(seen);
        push_row(&mut section, std::iter::once(text(name)).chain(cells));
    }
    section
}
