//! What varies between two runs of one contract on one engine.

use leaseproof_engines::Engine;
use leaseproof_engines::engine::Setup;
use leaseproof_engines::lease::{Clock, Strategy};
use leaseproof_engines::store::StoreOptions;

use crate::contract::{Clocks, Contract, Scope};

/// How many variants are run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Matrix {
    /// What a newcomer gets: the engine's defaults, the caller's clock, each claim strategy.
    #[default]
    Default,
    /// Every set-up of the engine, both clocks, each claim strategy.
    Full,
}

impl Matrix {
    /// The stable name that reports use.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Default => "default",
            Self::Full => "full",
        }
    }
}

/// One combination.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Variant {
    /// The claim strategy, where the contract is run once for each.
    pub strategy: Option<Strategy>,
    /// How the engine is used.
    pub setup: Setup,
    /// Whose clock decides when a lease is over.
    pub clock: Clock,
}

impl Variant {
    /// The variants of a contract on an engine, the defaults first.
    #[must_use]
    pub fn of(contract: &Contract, engine: &dyn Engine, matrix: Matrix) -> Vec<Self> {
        let strategies: Vec<Option<Strategy>> = match contract.scope {
            Scope::Once => vec![None],
            Scope::EachStrategy => engine.strategies().iter().copied().map(Some).collect(),
            Scope::EachSkipping => {
                let waits = |strategy: &Strategy| *strategy == Strategy::ConditionalUpdate;
                let skipping = engine.strategies().iter().filter(|strategy| !waits(strategy));
                skipping.copied().map(Some).collect()
            }
        };
        let mut setups = vec![Setup::default()];
        let mut clocks = contract.clocks.all().to_vec();
        match matrix {
            Matrix::Default => clocks.truncate(1),
            Matrix::Full => setups.extend(engine.setups()),
        }
        let mut variants = Vec::new();
        for setup in setups {
            for clock in &clocks {
                for strategy in &strategies {
                    variants.push(Self { strategy: *strategy, setup, clock: *clock });
                }
            }
        }
        variants
    }

    /// The stable name that reports use, such as `skip-locked repeatable-read database-clock`.
    #[must_use]
    pub fn label(&self) -> String {
        let mut parts = Vec::new();
        parts.extend(self.strategy.map(Strategy::as_str));
        parts.extend(Some(self.setup.name).filter(|name| !name.is_empty()));
        if self.clock == Clock::Database {
            parts.push("database-clock");
        }
        match parts.is_empty() {
            true => "default".to_owned(),
            false => parts.join(" "),
        }
    }

    /// The options of a store in this variant, where a contract asks for nothing else.
    #[must_use]
    pub fn fill(&self, mut options: StoreOptions) -> StoreOptions {
        if options.isolation.is_none() {
            options.isolation = self.setup.isolation;
        }
        if options.journal == leaseproof_engines::store::Journal::default() {
            options.journal = self.setup.journal;
        }
        if options.session.is_empty() {
            options.session = self.setup.session;
        }
        options.clock = self.clock;
        options
    }
}

impl Clocks {
    /// The clocks, the default one first.
    #[must_use]
    pub fn all(self) -> &'static [Clock] {
        match self {
            Self::Any => &[Clock::Logical, Clock::Database],
            Self::Logical => &[Clock::Logical],
            Self::Database => &[Clock::Database],
        }
    }
}
