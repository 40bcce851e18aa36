//! What is measured: a question, the cells that answer it, and how one of them is measured.

use std::collections::BTreeMap;
use std::str::FromStr;

use async_trait::async_trait;
use leaseproof_engines::{Engine, EngineError};

use crate::measured::Measured;
use crate::profile::Profile;
use crate::server::Bench;

/// One cell of a plan.
#[derive(Clone, Debug, PartialEq)]
pub struct Spec {
    /// What distinguishes it within its scenario.
    pub parameters: BTreeMap<String, String>,
    /// How often it is measured.
    pub repeats: u32,
    /// How long one repeat is expected to take, in seconds.
    pub seconds: f64,
}

impl Spec {
    /// A cell without parameters.
    #[must_use]
    pub fn new(repeats: u32, seconds: f64) -> Self {
        Self { parameters: BTreeMap::new(), repeats, seconds }
    }

    /// The same with one more parameter.
    #[must_use]
    pub fn with(mut self, name: &str, value: impl ToString) -> Self {
        self.parameters.insert(name.to_owned(), value.to_string());
        self
    }

    /// The value of a parameter.
    ///
    /// # Panics
    /// When the scenario gave its cells no such parameter, or another type.
    #[must_use]
    pub fn get<T: FromStr>(&self, name: &str) -> T {
        let value = self.parameters.get(name).and_then(|value| value.parse().ok());
        value.unwrap_or_else(|| panic!("a scenario reads only what it wrote: `{name}`"))
    }

    /// The text of a parameter, empty when there is none.
    #[must_use]
    pub fn text(&self, name: &str) -> &str {
        self.parameters.get(name).map_or("", String::as_str)
    }
}

/// Everything that a measurement may depend on.
#[derive(Clone, Copy)]
pub struct Task<'run> {
    /// The server.
    pub bench: &'run Bench,
    /// The cell.
    pub spec: &'run Spec,
    /// How much is measured.
    pub profile: &'run Profile,
    /// The seed of this repeat.
    pub seed: u64,
    /// Whether the run was interrupted: what takes minutes asks between its parts.
    pub stop: Stop<'run>,
}

/// Whether a run was interrupted.
pub type Stop<'run> = &'run (dyn Fn() -> bool + Sync);

/// A question about an engine, answered by measurement.
#[async_trait]
pub trait Scenario: Send + Sync {
    /// The stable id, such as `claim-scaling`.
    fn id(&self) -> &'static str;
    /// What it answers.
    fn question(&self) -> &'static str;
    /// The readings that answer it, most telling first.
    fn headline(&self) -> &'static [&'static str];
    /// Whether it is measured only when it is asked for by name.
    fn on_request(&self) -> bool {
        false
    }
    /// Whether an upgrade is judged by it when nobody says by what.
    fn judges_upgrades(&self) -> bool {
        false
    }
    /// Its cells on an engine; none when the engine lacks what it asks about.
    fn cells(&self, engine: &dyn Engine, profile: &Profile) -> Vec<Spec>;
    /// Measures one cell once.
    ///
    /// # Errors
    /// When the engine fails in a way that is no result.
    async fn measure(&self, task: Task<'_>) -> Result<Measured, EngineError>;
}
