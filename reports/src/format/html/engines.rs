//! The engines of a run of the contracts: what was there, and how it was set up.

use super::{super::finding::absence, label, pairs};
use crate::{EngineRun, Run};

pub(super) struct EngineFacts {
    pub(super) label: String,
    pub(super) missing: String,
    pub(super) facts: Vec<(String, String)>,
    pub(super) durability: Vec<(String, String)>,
    pub(super) settings: Vec<(String, String)>,
    pub(super) capabilities: Vec<(String, String)>,
}

pub(super) fn of(run: &Run) -> Vec<EngineFacts> {
    run.engines.iter().map(facts).collect()
}

fn facts(engine: &EngineRun) -> EngineFacts {
    let tls = engine.tls.map(|tls| if tls { "on" } else { "off" }.to_owned());
    let image = engine.image.as_ref().map(|image| format!("{} {}", image.name, image.digest));
    let facts = [
        ("version", engine.version.clone()),
        ("provider", engine.provider.clone()),
        ("image", image.unwrap_or_default()),
        ("isolation", engine.isolation.clone()),
        ("clock", engine.clock.clone()),
        ("TLS", tls.unwrap_or_default()),
    ];
    let capabilities = engine.capabilities.iter().map(|(name, state)| {
        let detail =
            if state.detail.is_empty() { String::new() } else { format!(": {}", state.detail) };
        (label(name), label(&format!("{state}{detail}")))
    });
    EngineFacts {
        label: label(&engine.label),
        missing: if engine.is_missing() { label(&absence(engine)) } else { String::new() },
        facts: facts
            .into_iter()
            .filter(|(_, fact)| !fact.trim().is_empty())
            .map(|(name, fact)| (name.to_owned(), label(&fact)))
            .collect(),
        durability: pairs(&engine.durability),
        settings: pairs(&engine.settings),
        capabilities: capabilities.collect(),
    }
}
