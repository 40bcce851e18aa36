//! What a server is asked by every command that judges one against another, or against a baseline.

use std::num::NonZeroUsize;
use std::path::PathBuf;

use clap::{Args, ValueEnum};
use leaseproof_benches::profile::Profile;
use leaseproof_benches::scenario::Scenario;
use leaseproof_engines::servers::Selection;
use leaseproof_reports::Loaded;
use leaseproof_reports::schema::SEED_MAX;

use super::carried_out::{CarriedOut, carry_out_as, known_failures};
use super::error::CliError;
use super::select::{Select, matrix, scenarios_of};
use crate::exit_code::Exit;
use crate::plan::variant::Matrix;
use crate::run::suite::Plan;

/// One of the two questions.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Only {
    /// The contracts
    Contracts,
    /// The measurements
    Measurements,
}

#[derive(Args)]
pub(super) struct Asked {
    /// Ask only one of the two questions
    #[arg(long, value_name = "WHAT")]
    only: Option<Only>,
    /// The contracts, as a pattern over their ids: `claim/*`; may be repeated
    #[arg(long = "contract", value_name = "GLOB")]
    contracts: Vec<String>,
    /// Which variants of the contracts: the engine's defaults, or every isolation, clock and journal mode
    #[arg(long, value_name = "MATRIX", default_value = "full", value_parser = matrix)]
    matrix: Matrix,
    /// A file of known failures, beside those that ship with the suite
    #[arg(long, value_name = "FILE")]
    known_failing: Option<PathBuf>,
    /// How many cases run at once [default: 4, on an embedded engine 8]
    #[arg(long, value_name = "N")]
    jobs: Option<NonZeroUsize>,
    /// The scenarios, as a pattern over their ids; may be repeated [default: queue-state, skip-probe]
    #[arg(long = "scenario", value_name = "GLOB")]
    scenarios: Vec<String>,
    /// How long each turn is: `quick` judges work and throughput, `full` tails as well, and takes hours
    #[arg(long, value_name = "PROFILE", default_value = "quick", value_parser = gate_profile)]
    pub(super) profile: &'static Profile,
    /// The seed of every random choice; drawn and printed when it is not given
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(..=SEED_MAX))]
    seed: Option<u64>,
    /// Where runs and the comparison are written
    #[arg(long, value_name = "DIR", default_value = "reports")]
    pub(super) out: PathBuf,
}

fn gate_profile(name: &str) -> Result<&'static Profile, String> {
    let wanted = format!("gate-{name}");
    let found = Profile::GATES.into_iter().find(|profile| profile.name == wanted);
    found.ok_or_else(|| "profiles are `quick` and `full`".to_owned())
}

impl Asked {
    /// Whether the contracts are run.
    pub(super) fn contracts(&self) -> bool {
        self.only != Some(Only::Measurements)
    }

    /// Whether anything is measured.
    pub(super) fn measurements(&self) -> bool {
        self.only != Some(Only::Contracts)
    }

    /// The seed that was given, or a new one.
    pub(super) fn seed(&self) -> u64 {
        self.seed.unwrap_or_else(|| rand::random_range(0..=SEED_MAX))
    }

    /// Whether a baseline has contracts or measurements of the kind that was asked for, and patterns leave
    /// them out.
    pub(super) fn is_narrower_than(&self, base: &Loaded) -> Result<bool, CliError> {
        let mut kept = base.clone();
        self.keep(&mut kept)?;
        let cases = |loaded: &Loaded| loaded.run.as_ref().map_or(0, |run| run.cases.len());
        let cells = |loaded: &Loaded| loaded.bench.as_ref().map_or(0, |bench| bench.cells.len());
        Ok(self.contracts() && cases(&kept) < cases(base)
            || self.measurements() && cells(&kept) < cells(base))
    }

    /// Leaves out of a baseline what was not asked for, which is then not missed.
    pub(super) fn keep(&self, base: &mut Loaded) -> Result<(), CliError> {
        base.run = base.run.take().filter(|_| self.contracts());
        base.bench = base.bench.take().filter(|_| self.measurements());
        if let Some(run) = base.run.as_mut().filter(|_| !self.contracts.is_empty()) {
            let select = Select { contracts: self.contracts.clone(), ..Select::engines(&[]) };
            let wanted = select.contracts()?;
            run.cases.retain(|case| wanted.iter().any(|contract| contract.id == case.id));
        }
        if let Some(bench) = base.bench.as_mut().filter(|_| !self.scenarios.is_empty()) {
            let wanted = self.scenarios()?;
            bench.cells.retain(|cell| wanted.iter().any(|scenario| scenario.id() == cell.scenario));
        }
        Ok(())
    }

    /// The scenarios by which a server is judged.
    pub(super) fn scenarios(&self) -> Result<Vec<&'static dyn Scenario>, CliError> {
        scenarios_of(&self.scenarios, |scenario| scenario.judges_upgrades())
    }

    /// The contracts on one server.
    pub(super) fn plan(&self, selection: &Selection, seed: u64) -> Result<Plan, CliError> {
        let select = Select { contracts: self.contracts.clone(), ..Select::engines(&[]) };
        Ok(Plan {
            selections: vec![selection.clone()],
            contracts: select.contracts()?,
            seed,
            repeat: 1,
            matrix: self.matrix,
            jobs: self.jobs,
            controls: false,
            shard: None,
        })
    }

    /// Runs the contracts as the run with that id; how it ended where there is nothing to judge.
    pub(super) async fn run(
        &self,
        id: String,
        plan: &Plan,
    ) -> Result<Result<CarriedOut, Exit>, CliError> {
        let known = known_failures(self.known_failing.as_deref())?;
        let done = carry_out_as(id, plan, &known, &self.out).await?;
        done.print_missing();
        if done.interrupted {
            return Ok(Err(Exit::Interrupted));
        }
        if done.run.engines.iter().any(leaseproof_reports::EngineRun::is_missing) {
            return Ok(Err(Exit::EngineMissing));
        }
        Ok(Ok(done))
    }
}
