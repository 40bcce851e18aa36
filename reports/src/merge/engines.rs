//! The engines of the parts: the same server in each, or the parts are not of one run.

use std::collections::BTreeMap;

use super::{Part, Refused, Server, same};
use crate::{CapabilityState, Contradiction, EngineRun, EngineStatus};

/// The engines of all parts, at their places.
pub(super) fn join(parts: &[Part<'_>]) -> Result<Vec<EngineRun>, Refused> {
    let mut places: BTreeMap<u32, Vec<(Part<'_>, &EngineRun)>> = BTreeMap::new();
    for part in parts {
        for (place, engine) in part.shard.engines.iter().zip(&part.run.engines) {
            places.entry(*place).or_default().push((*part, engine));
        }
    }
    places.into_values().map(|seen| one(&seen)).collect()
}

/// One engine as all the parts saw it.
///
/// One that was missing in some parts is missing: the cases of those parts did not run on it.
fn one(seen: &[(Part<'_>, &EngineRun)]) -> Result<EngineRun, Refused> {
    let ready: Vec<_> = seen.iter().filter(|(_, engine)| !engine.is_missing()).collect();
    let base = ready.first().copied().unwrap_or(&seen[0]);
    for other in seen {
        let labels = [base, other].map(|(part, engine)| (part.name, engine.label.as_str()));
        same("an engine", labels[0], labels[1])?;
    }
    let mut joined = base.1.clone();
    for (part, engine) in ready.iter().skip(1) {
        same_server((base.0, base.1), (*part, engine))?;
        absorb(&mut joined, engine);
    }
    let missing = seen.iter().find(|(_, engine)| engine.is_missing());
    if let (Some((part, engine)), false) = (missing, ready.is_empty()) {
        let reason = engine.reason.as_deref().unwrap_or("it could not be provided");
        let place = format!("in shard {} of {}", part.shard.index, part.shard.count);
        joined.status = EngineStatus::Missing;
        joined.reason = Some(format!("{place}: {reason}"));
        joined.remedy.clone_from(&engine.remedy);
    }
    Ok(joined)
}

/// Goes on when two parts ran on servers that say the same about themselves.
fn same_server(
    (one, of_one): (Part<'_>, &EngineRun),
    (other, of_other): (Part<'_>, &EngineRun),
) -> Result<(), Refused> {
    Server::same([one.name, other.name], [of_one, of_other].map(server))?;
    let what = format!("the provider of {}", of_one.label);
    same(&what, (one.name, &of_one.provider), (other.name, &of_other.provider))
}

fn server(engine: &EngineRun) -> Server<'_> {
    let EngineRun { label, version, isolation, durability, settings, .. } = engine;
    Server { label, version, isolation, durability, settings }
}

/// Adds what another part probed and measured. A capability that was once found absent is absent, and
/// of facts that differ each is kept.
fn absorb(joined: &mut EngineRun, other: &EngineRun) {
    let is_absent = |state: &CapabilityState| state.contradiction() == Some(Contradiction::Absent);
    for (name, state) in &other.capabilities {
        let kept = joined.capabilities.entry(name.clone()).or_insert_with(|| state.clone());
        if is_absent(state) && !is_absent(kept) {
            kept.clone_from(state);
        }
    }
    for (name, seen) in &other.facts {
        let kept = joined.facts.entry(name.clone()).or_insert_with(|| seen.clone());
        if !kept.split(" / ").any(|earlier| earlier == seen) {
            kept.push_str(&format!(" / {seen}"));
        }
    }
}
