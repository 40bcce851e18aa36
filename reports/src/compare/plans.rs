//! Statements that the two sides execute differently, with both plans to look at.

use serde::Serialize;

use crate::bench::BenchEngine;

/// One statement whose plans differ.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct PlanChange {
    /// The name of the engine, in the head.
    pub engine: String,
    /// The name of the statement.
    pub statement: String,
    /// Its text, in the head.
    pub sql: String,
    /// The fingerprint and the plan in the base.
    pub base: [String; 2],
    /// The same in the head.
    pub head: [String; 2],
}

/// The statements of both sides whose fingerprints differ.
pub(super) fn changes(base: Option<&BenchEngine>, head: Option<&BenchEngine>) -> Vec<PlanChange> {
    let (Some(base), Some(head)) = (base, head) else { return Vec::new() };
    let change = |before: &crate::bench::Plan| {
        let after = head.plans.iter().find(|plan| plan.statement == before.statement)?;
        let both = [before, after].map(|plan| [plan.fingerprint.clone(), plan.plan.clone()]);
        let [of_base, of_head] = both;
        (before.fingerprint != after.fingerprint).then(|| PlanChange {
            engine: head.name.clone(),
            statement: after.statement.clone(),
            sql: after.sql.clone(),
            base: of_base,
            head: of_head,
        })
    };
    base.plans.iter().filter_map(change).collect()
}
