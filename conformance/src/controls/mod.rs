//! Negative controls: stores that break one rule each, on which a contract must be found broken.
//!
//! Most take one guard out of one reference statement, so that the real engine runs real SQL that
//! lacks just that guard. What no statement can express is a [`Fault`] of the session.

use async_trait::async_trait;
use leaseproof_engines::lease::{
    Acked, Backlog, Claim, ClaimBatch, Claimed, Confirmed, EventId, FencingToken, Instant,
    NewEvent, Released, Renewed, Reserved,
};
use leaseproof_engines::statement::{EditError, Statements};
use leaseproof_engines::store::{Isolation, LockWait, Result, Session};
use leaseproof_engines::{Capability, EngineError};

use crate::worker::WorkerFault;

pub mod answers;
pub(crate) mod faulty;
pub mod transactions;

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
    /// The changes that make the fault.
    pub sabotage: &'static [Sabotage],
}

impl Control {
    /// A control that exists on every engine.
    #[must_use]
    pub const fn new(name: &'static str, sabotage: &'static [Sabotage]) -> Self {
        Self { name, source: "", requires: &[], unless: &[], sabotage }
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

/// One change to a store, a session, or the protocol of a worker.
pub enum Sabotage {
    /// Makes a guard of a statement always true.
    DisableGuard(&'static str, &'static str),
    /// The same, where the engine has the statement; some strategies are not everywhere.
    DisableGuardIfAny(&'static str, &'static str),
    /// Puts another predicate in place of a guard: statement, guard, predicate.
    ReplaceGuard(&'static str, &'static str, &'static str),
    /// Replaces text in a statement: statement, from, to.
    Replace(&'static str, &'static str, &'static str),
    /// Puts another text in place of a statement.
    Set(&'static str, &'static str),
    /// Makes the first of these groups of changes that fits the dialect, all of it.
    EitherOf(&'static [&'static [Sabotage]]),
    /// Puts a predicate of its own dialect in place of a guard: statement, guard, and the predicate
    /// for each dialect, which is told by a word that only its schema contains.
    ReplaceGuardByDialect(&'static str, &'static str, &'static [(&'static str, &'static str)]),
    /// Lets a session do one thing wrong.
    Session(fn() -> Box<dyn Fault>),
    /// Lets a worker do one thing wrong.
    Worker(WorkerFault),
    /// Gives every acquisition of an actor the same token.
    OneTokenPerActor,
    /// Lets a statement read the worker's own clock where it read the engine's.
    WorkerClock(&'static str),
    /// Opens the store at this isolation, for faults that the engine's default would catch.
    Isolation(Isolation),
}

impl Sabotage {
    /// Takes the key off the consumer's ledger, so that an event can be reserved twice.
    pub const WITHOUT_RESERVATION_KEY: Self = Self::EitherOf(&[
        &[
            Self::Replace("schema", ",\n    PRIMARY KEY (consumer, event_id)\n", "\n"),
            Self::Replace("schema", ", WITHOUT ROWID", ""),
            Self::Replace("reserve", "ON CONFLICT (consumer, event_id) DO NOTHING", ""),
        ],
        &[
            Self::Replace("schema", ",\n    PRIMARY KEY (consumer, event_id)\n", "\n"),
            Self::Replace("reserve", "ON CONFLICT (consumer, event_id) DO NOTHING", ""),
        ],
        &[Self::Replace(
            "schema",
            "PRIMARY KEY (consumer, event_id)",
            "INDEX (consumer, event_id)",
        )],
    ]);

    /// Lets every statement of a transaction run in autocommit.
    pub const WITHOUT_TRANSACTION: Self = Self::EitherOf(&[&[
        Self::Set("begin", "SELECT 1;"),
        Self::Set("commit", "SELECT 1;"),
        Self::Set("rollback", "SELECT 1;"),
    ]]);

    /// Makes the change if it is one to statements; `readings` are how they read the engine's clock.
    ///
    /// # Errors
    /// When the statement, guard or text is not there: a control must never change nothing.
    pub fn edit(
        &self,
        statements: &mut Statements,
        readings: &[&str],
    ) -> std::result::Result<(), EditError> {
        match self {
            Self::DisableGuard(statement, guard) => statements.disable_guard(statement, guard),
            Self::DisableGuardIfAny(statement, guard) => match statements.get(statement) {
                Some(_) => statements.disable_guard(statement, guard),
                None => Ok(()),
            },
            Self::ReplaceGuard(statement, guard, predicate) => {
                statements.replace_guard(statement, guard, predicate)
            }
            Self::ReplaceGuardByDialect(statement, guard, predicates) => {
                let schema = statements.get("schema").unwrap_or_default();
                let dialect = predicates.iter().find(|(word, _)| schema.contains(word));
                let Some((_, predicate)) = dialect else {
                    return Err(EditError::NoText {
                        statement: "schema".to_owned(),
                        text: predicates
                            .iter()
                            .map(|(word, _)| *word)
                            .collect::<Vec<_>>()
                            .join("` or `"),
                    });
                };
                statements.replace_guard(statement, guard, predicate)
            }
            Self::Replace(statement, from, to) => statements.replace(statement, from, to),
            Self::Set(statement, text) => statements.set(statement, text),
            Self::EitherOf(groups) => first_that_fits(groups, statements, readings),
            Self::WorkerClock(statement) => read_caller(statement, statements, readings),
            Self::Session(_) | Self::Worker(_) | Self::OneTokenPerActor | Self::Isolation(_) => {
                Ok(())
            }
        }
    }
}

/// Applies the first group whose every change can be made; the last group's error otherwise.
fn first_that_fits(
    groups: &[&[Sabotage]],
    statements: &mut Statements,
    readings: &[&str],
) -> std::result::Result<(), EditError> {
    let mut outcome = Err(EditError::NoStatement("of any dialect".to_owned()));
    for group in groups {
        let mut edited = statements.clone();
        outcome = group.iter().try_for_each(|sabotage| sabotage.edit(&mut edited, readings));
        if outcome.is_ok() {
            *statements = edited;
            break;
        }
    }
    outcome
}

/// Puts the worker's own clock in place of the engine's. A statement that reads neither is an error.
fn read_caller(
    statement: &str,
    statements: &mut Statements,
    readings: &[&str],
) -> std::result::Result<(), EditError> {
    let mut outcome = Err(EditError::NoStatement(statement.to_owned()));
    for reading in readings {
        // No statement has every reading: one that was found is enough.
        let replaced = statements.replace(statement, reading, ":caller");
        outcome = replaced.or(outcome);
    }
    outcome
}

/// One thing that a session does wrong. Every operation goes to the real session unless overridden.
#[async_trait]
pub trait Fault: Send {
    /// What is made of an error of any operation; returns what the caller is told.
    async fn failed(&mut self, session: &mut dyn Session, error: EngineError) -> EngineError {
        let _ = session;
        error
    }
    /// See [`Session::begin`].
    async fn begin(&mut self, session: &mut dyn Session) -> Result<()> {
        session.begin().await
    }
    /// See [`Session::begin_snapshot`].
    async fn begin_snapshot(&mut self, session: &mut dyn Session) -> Result<()> {
        session.begin_snapshot().await
    }
    /// See [`Session::commit`].
    async fn commit(&mut self, session: &mut dyn Session) -> Result<()> {
        session.commit().await
    }
    /// See [`Session::rollback`].
    async fn rollback(&mut self, session: &mut dyn Session) -> Result<()> {
        session.rollback().await
    }
    /// See [`Session::enqueue`].
    async fn enqueue(&mut self, session: &mut dyn Session, events: &[NewEvent]) -> Result<u64> {
        session.enqueue(events).await
    }
    /// See [`Session::candidates`].
    async fn candidates(
        &mut self,
        session: &mut dyn Session,
        limit: u32,
        now: Instant,
    ) -> Result<Vec<EventId>> {
        session.candidates(limit, now).await
    }
    /// See [`Session::claim`].
    async fn claim(&mut self, session: &mut dyn Session, claim: &Claim) -> Result<Claimed> {
        session.claim(claim).await
    }
    /// See [`Session::claim_batch`].
    async fn claim_batch(
        &mut self,
        session: &mut dyn Session,
        batch: &ClaimBatch,
    ) -> Result<Vec<EventId>> {
        session.claim_batch(batch).await
    }
    /// See [`Session::renew`].
    async fn renew(
        &mut self,
        session: &mut dyn Session,
        event: &EventId,
        token: &FencingToken,
        now: Instant,
        until: Instant,
    ) -> Result<Renewed> {
        session.renew(event, token, now, until).await
    }
    /// See [`Session::confirm`].
    async fn confirm(
        &mut self,
        session: &mut dyn Session,
        event: &EventId,
        token: &FencingToken,
        now: Instant,
    ) -> Result<Confirmed> {
        session.confirm(event, token, now).await
    }
    /// See [`Session::ack`].
    async fn ack(
        &mut self,
        session: &mut dyn Session,
        event: &EventId,
        token: &FencingToken,
        now: Instant,
    ) -> Result<Acked> {
        session.ack(event, token, now).await
    }
    /// See [`Session::release`].
    async fn release(
        &mut self,
        session: &mut dyn Session,
        event: &EventId,
        token: &FencingToken,
    ) -> Result<Released> {
        session.release(event, token).await
    }
    /// See [`Session::dead_letter`].
    async fn dead_letter(
        &mut self,
        session: &mut dyn Session,
        limit: u32,
        now: Instant,
    ) -> Result<Vec<EventId>> {
        session.dead_letter(limit, now).await
    }
    /// See [`Session::lock`].
    async fn lock(
        &mut self,
        session: &mut dyn Session,
        event: &EventId,
        wait: LockWait,
    ) -> Result<()> {
        session.lock(event, wait).await
    }
    /// See [`Session::reserve`].
    async fn reserve(
        &mut self,
        session: &mut dyn Session,
        consumer: &str,
        event: &EventId,
    ) -> Result<Reserved> {
        session.reserve(consumer, event).await
    }
    /// See [`Session::apply_effect`].
    async fn apply_effect(
        &mut self,
        session: &mut dyn Session,
        consumer: &str,
        event: &EventId,
    ) -> Result<()> {
        session.apply_effect(consumer, event).await
    }
    /// See [`Session::backlog`].
    async fn backlog(&mut self, session: &mut dyn Session, now: Instant) -> Result<Backlog> {
        session.backlog(now).await
    }
}
