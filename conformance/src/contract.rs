//! What a contract is: a promise as data, with the steps that put it to the test.

use futures::future::BoxFuture;
use leaseproof_engines::Capability;
use leaseproof_engines::capability::StoreCapability;
use leaseproof_reports::Level;

use crate::controls::Control;
use crate::harness::context::Context;
use crate::harness::finding::Judged;

/// One promise that an engine must keep.
pub struct Contract {
    /// The stable id: `family/present-tense-predicate`.
    pub id: &'static str,
    /// The promise, in one sentence.
    pub promise: &'static str,
    /// Whether an engine may be adopted without it.
    pub level: Level,
    /// What the engine must be able to do for the contract to apply.
    pub requires: &'static [Capability],
    /// What the store must let its callers do or see for the promise to mean anything. What a step needs
    /// beside that is asked for where the step stands.
    pub offers: &'static [StoreCapability],
    /// What is run once for each of the engine's claim strategies.
    pub scope: Scope,
    /// On whose clocks it can be run.
    pub clocks: Clocks,
    /// Where the contract comes from: an example, or public reports as `owner/repo#number`.
    pub source: &'static str,
    /// Stores on which the contract must be found broken.
    pub controls: &'static [Control],
    /// The specification and its steps, as users read it.
    pub doc: &'static str,
    /// Puts the promise to the test.
    pub run: for<'context> fn(&'context Context) -> BoxFuture<'context, Judged>,
}

impl Contract {
    /// The part of the id before the slash.
    #[must_use]
    pub fn family(&self) -> &'static str {
        self.id.split('/').next().unwrap_or(self.id)
    }
}

/// How often a contract is run on one engine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// Once.
    Once,
    /// Once for each claim strategy the engine has.
    EachStrategy,
    /// Once for each claim strategy of the engine that passes over what others hold.
    EachSkipping,
}

/// On whose clocks a contract can be run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Clocks {
    /// On either: every instant that matters is a whole step away from every other.
    Any,
    /// On the caller's only: it tests instants that are exact to the microsecond.
    Logical,
    /// On the engine's only: it tests how the engine's clock is read.
    Database,
}
