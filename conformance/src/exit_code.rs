//! How a command ends, as a number that a pipeline can act on.

use std::process::ExitCode;

use leaseproof_reports::bench::BenchRun;
use leaseproof_reports::{Contradiction, Level, Outcome, Run};

/// Every exit code of the program; the numbers are stable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Exit {
    /// Every contract was kept, or is unsupported by the engine.
    Kept = 0,
    /// The command line is wrong.
    Usage = 2,
    /// Nothing was selected to run.
    NothingSelected = 4,
    /// An engine that was named could not be provided.
    EngineMissing = 96,
    /// A contract is broken, or a control survived.
    Broken = 100,
    /// No contract is broken, but some could not be decided; or a comparison is inconclusive.
    Undecided = 102,
    /// A comparison found something worse.
    Regression = 103,
    /// The results could not be written, or could not be read.
    Unwritten = 110,
    /// The user interrupted the run.
    Interrupted = 130,
}

impl Exit {
    /// Every exit code with its meaning, as the help shows them.
    pub const HELP: &'static str = "\
Exit codes:
    0  every contract is kept (or unsupported by the engine, or a known failure)
    2  the command line is wrong, shards do not fit together, or there is no baseline
    4  nothing was selected to run, or a shard has no case
   96  an engine that was named or given by URL could not be provided
  100  a contract is broken, a control survived, or a known failure is kept again
  102  some contracts could not be decided or shards are missing, none is broken; or a comparison
       is inconclusive
  103  a comparison found something worse
  110  the results could not be written or read
  130  interrupted";

    /// What a run's cases amount to. Provisional contracts do not count yet.
    ///
    /// Known failures do not count either, but one that is kept again does: its list has rotted. A
    /// capability that is declared and not there leaves open what its contracts would have found.
    ///
    /// So does a part of the run that is absent.
    ///
    /// A broken contract outweighs a missing engine, and a missing engine what is undecided.
    #[must_use]
    pub fn of(run: &Run, engines_required: bool) -> Self {
        let counting = run.cases.iter().filter(|case| case.level != Level::Provisional);
        let counting = counting.filter(|case| !case.is_known_failure());
        let outcomes: Vec<Outcome> = counting.map(|case| case.outcome).collect();
        let any = |wanted: &[Outcome]| outcomes.iter().any(|outcome| wanted.contains(outcome));
        let missing = run.engines.iter().any(leaseproof_reports::EngineRun::is_missing);
        let contradicted = run.engines.iter().any(|engine| {
            engine.contradictions().any(|(kind, _, _)| kind == Contradiction::Absent)
        });
        if any(&[Outcome::Broken]) || !run.rotten.is_empty() {
            Self::Broken
        } else if missing && engines_required {
            Self::EngineMissing
        } else if any(&[Outcome::Inconclusive, Outcome::Errored])
            || contradicted
            || run.partial.is_some()
        {
            Self::Undecided
        } else if run.cases.is_empty() {
            // A report without cases must never pass for one without faults.
            Self::NothingSelected
        } else {
            Self::Kept
        }
    }

    /// A store that lost or doubled an event outweighs what could not be measured.
    #[must_use]
    pub fn of_bench(run: &BenchRun, missing: bool) -> Self {
        let any = run.cells.iter().any(|cell| !cell.violations.is_empty());
        if run.cells.is_empty() && !missing {
            return Self::NothingSelected;
        }
        if run.cells.iter().any(|cell| cell.violated().is_some()) {
            Self::Broken
        } else if run.partial.is_some() || run.left > 0 {
            Self::Undecided
        } else if missing {
            Self::EngineMissing
        } else if any {
            Self::Undecided
        } else {
            Self::Kept
        }
    }

    /// A regression is what a comparison is for; whatever else is wrong with the head comes next.
    #[must_use]
    pub fn worst(exits: [Self; 3]) -> Self {
        let order = [Self::Regression, Self::Broken, Self::EngineMissing, Self::Undecided];
        let found = order.into_iter().find(|exit| exits.contains(exit));
        found.unwrap_or(Self::Kept)
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit as u8)
    }
}
