//! A run of measurements, before the first repeat and after the last.

use leaseproof_benches::conditions;
use leaseproof_benches::plan::Plan;
use leaseproof_benches::profile::Profile;
use leaseproof_reports::bench::{BENCH_SCHEMA, BenchRun};
use leaseproof_reports::schema::Tool;

use super::origin::{command_line, now};
use super::summary;

/// A run in which nothing was measured yet.
#[must_use]
pub fn fresh(id: String, seed: u64, profile: &Profile) -> BenchRun {
    BenchRun {
        schema: BENCH_SCHEMA.to_owned(),
        tool: Tool { name: "leaseproof".to_owned(), version: env!("CARGO_PKG_VERSION").to_owned() },
        id,
        started: now(),
        duration_ms: 0,
        command: command_line(),
        seed,
        profile: profile.name.to_owned(),
        turn_about: None,
        shard: None,
        partial: None,
        left: 0,
        host: summary::host(),
        conditions: conditions::look(&std::env::temp_dir()),
        engines: Vec::new(),
        cells: Vec::new(),
    }
}

/// Leaves out cells in which nothing was measured, and says what is absent.
pub fn conclude(run: &mut BenchRun, plan: &Plan, interrupted: bool) {
    let left: usize = plan.selections.iter().map(|selection| plan.left(selection, run).len()).sum();
    run.left = if interrupted { u32::try_from(left).unwrap_or(u32::MAX) } else { 0 };
    run.cells.retain(|cell| !cell.repeats.is_empty());
    run.shard = plan.report(run);
}
