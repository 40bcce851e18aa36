//! Measures two servers turn about: in each group every cell is measured on the base, twice on the
//! head, and on the base again, or the other way round.
//!
//! Invariants: what a group measures of one cell, it measures without anything in between, so that a
//! drift of the machine falls on both sides alike; the side that begins alternates from group to group;
//! a group that was interrupted is no group.

use leaseproof_reports::RunDirError;
use leaseproof_reports::bench::BenchRun;
use leaseproof_reports::seed::derive;
use rand::seq::SliceRandom as _;
use rand::{SeedableRng as _, rngs::StdRng};

use crate::plan::Job;
use crate::profile::Profile;
use crate::scenario::{Scenario, Spec, Stop};
use crate::server::Bench;
use crate::suite::{self, Event, UNMEASURED};

/// Repeats of each side in a group.
const TURNS: u32 = 2;

/// What is measured on both sides.
pub struct Plan {
    /// The scenarios.
    pub scenarios: Vec<&'static dyn Scenario>,
    /// How much.
    pub profile: &'static Profile,
    /// In how many groups.
    pub groups: u32,
    /// The seed from which every repeat's own is derived.
    pub seed: u64,
}

/// How a comparison is watched, stopped and saved.
pub struct Hooks<'run> {
    /// Is told what happens.
    pub event: &'run mut dyn FnMut(Event<'_>),
    /// Whether to stop before the next group.
    pub stop: Stop<'run>,
    /// Saves what there is of both sides, the base first.
    pub save: &'run mut dyn FnMut([&BenchRun; 2]) -> Result<(), RunDirError>,
}

impl Plan {
    /// The cells on an engine, in report order.
    #[must_use]
    pub fn cells(&self, bench: &Bench) -> Vec<(&'static dyn Scenario, Spec)> {
        let cells = |scenario: &&'static dyn Scenario| {
            let scenario = *scenario;
            let specs = scenario.cells(bench.engine, self.profile).into_iter();
            specs.map(move |spec| (scenario, spec))
        };
        self.scenarios.iter().flat_map(cells).collect()
    }

    /// How many turns of its side a run does not hold yet.
    #[must_use]
    pub fn left(&self, run: &BenchRun) -> u32 {
        let planned = run.cells.len() * (self.groups * TURNS) as usize;
        let measured: usize = run.cells.iter().map(|cell| cell.repeats.len()).sum();
        u32::try_from(planned.saturating_sub(measured)).unwrap_or(u32::MAX)
    }

    /// How long it is expected to take, in seconds.
    #[must_use]
    pub fn seconds(&self, bench: &Bench) -> f64 {
        let once: f64 = self.cells(bench).iter().map(|(_, spec)| spec.seconds).sum();
        once * f64::from(self.groups * TURNS * 2)
    }
}

/// Whose turn it is in a group, as places among the sides.
fn order(group: u32) -> [usize; 4] {
    if group.is_multiple_of(2) { [0, 1, 1, 0] } else { [1, 0, 0, 1] }
}

/// Measures all groups and saves after each.
///
/// # Errors
/// What saving failed with.
pub async fn run(
    plan: &Plan,
    sides: [&Bench; 2],
    runs: &mut [BenchRun; 2],
    hooks: &mut Hooks<'_>,
) -> Result<(), RunDirError> {
    for (bench, run) in sides.into_iter().zip(&mut *runs) {
        run.engines.push(suite::engine_of(bench).await);
        suite::announce(run, bench, plan.cells(bench));
    }
    for group in 0..plan.groups {
        let mut cells = plan.cells(sides[0]);
        cells.shuffle(&mut StdRng::seed_from_u64(derive(plan.seed, &[&group.to_string()])));
        let mut measured = Vec::new();
        for (scenario, spec) in cells {
            let mut turns = [0, 0];
            for side in order(group) {
                if (hooks.stop)() {
                    // A group that is not whole is no group.
                    return Ok(());
                }
                let repeat = group * TURNS + turns[side];
                turns[side] += 1;
                let job = Job { scenario, spec: spec.clone(), repeat };
                (hooks.event)(Event::Started(sides[side], &job));
                let from = (plan.seed, plan.profile, hooks.stop);
                let mut one = suite::measure(from, sides[side], &job, &runs[side]).await;
                one.repeat.group = Some(group);
                let place = u32::try_from(measured.len()).unwrap_or(u32::MAX);
                one.repeat.order = one.repeat.order.saturating_add(place);
                let unmeasured = one.violations.iter().any(|it| it.starts_with(UNMEASURED));
                if unmeasured && (hooks.stop)() {
                    // An interrupt ends the processes of a measurement, too.
                    return Ok(());
                }
                (hooks.event)(Event::Finished(sides[side], &job, &one));
                measured.push((side, job, one));
            }
        }
        for (side, job, one) in measured {
            suite::add(&mut runs[side], sides[side], &job, one);
        }
        (hooks.save)([&runs[0], &runs[1]])?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_side_is_first_as_often_as_the_other() {
        let places = |side: usize| -> usize {
            let groups = [order(0), order(1)];
            let turns = groups.iter().flat_map(|order| order.iter().enumerate());
            turns.filter(|(_, turn)| **turn == side).map(|(place, _)| place).sum()
        };
        assert_eq!(places(0), places(1));
    }
}
