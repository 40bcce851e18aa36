//! Negative controls: stores that break one rule each, on which a contract must be found broken.
//!
//! Most have a [`Fault`] that each engine's reference store translates into an edit of its own statements,
//! so that the real engine runs real SQL that lacks just that guard. What no statement can express is a
//! [`SessionFault`]. The controls of a contract stand beside it, in a file of their own.

use leaseproof_engines::Capability;
use leaseproof_engines::faults::Fault;
use leaseproof_engines::store::Isolation;

use crate::worker::WorkerFault;

pub mod answers;
pub(crate) mod faulty;
mod session_fault;
pub mod transactions;

pub use self::session_fault::SessionFault;

/// A store that breaks one promise.
pub struct Control {
    /// What it does wrong, as a present-tense phrase in kebab-case.
    pub name: &'static str,
    /// The public reports that have the fault, as `owner/repo#number`; empty for a textbook one.
    pub source: &'static str,
    /// What an engine must have for the fault to exist on it.
    pub requires: &'static [Capability],
    /// What an engine must lack for the fault to exist on it.
    pub unless: &'static [Capability],
    /// What makes the fault.
    pub planted: &'static [Planted],
}

impl Control {
    /// A control that exists on every engine.
    #[must_use]
    pub const fn new(name: &'static str, planted: &'static [Planted]) -> Self {
        Self { name, source: "", requires: &[], unless: &[], planted }
    }

    /// The same control with the public reports that have its fault.
    #[must_use]
    pub const fn seen_in(mut self, source: &'static str) -> Self {
        self.source = source;
        self
    }

    /// The same control, only where the engine has the capabilities.
    #[must_use]
    pub const fn requires(mut self, capabilities: &'static [Capability]) -> Self {
        self.requires = capabilities;
        self
    }

    /// The same control, only where the engine lacks the capabilities.
    #[must_use]
    pub const fn unless(mut self, capabilities: &'static [Capability]) -> Self {
        self.unless = capabilities;
        self
    }

    /// Whether the fault can exist on an engine with these capabilities.
    #[must_use]
    pub fn concerns(&self, capabilities: &[Capability]) -> bool {
        self.requires.iter().all(|wanted| capabilities.contains(wanted))
            && !self.unless.iter().any(|unwanted| capabilities.contains(unwanted))
    }
}

/// What is wrong with a store, a session, a worker, or how they are used.
pub enum Planted {
    /// The store has a fault, which it translates into its own statements.
    Store(Fault),
    /// A session does one thing wrong.
    Session(fn() -> Box<dyn SessionFault>),
    /// A worker does one thing wrong.
    Worker(WorkerFault),
    /// Every acquisition of an actor has the same token.
    OneTokenPerActor,
    /// The store is opened at this isolation, for faults that the engine's default would catch.
    Isolation(Isolation),
}
