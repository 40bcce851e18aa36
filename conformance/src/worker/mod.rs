//! The reference worker: claims, works, renews, acks and stops by the rules of the lease protocol.
//!
//! It claims nothing after the stop decision. It trusts no lease beyond the last deadline that the
//! store confirmed, and asks its [`Permit`] before every step. It reserves an event in the transaction of its
//! effect, and acks after that transaction has committed. A [`WorkerFault`] breaks one of these rules.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use leaseproof_engines::lease::{
    Acked, EventId, FencingToken, Instant, Released, Renewed, Reserved,
};
use leaseproof_engines::{Capability, EngineError};

use crate::harness::actor::Actor;
use crate::harness::context::Context;

/// The name under which workers reserve events and apply effects.
pub const CONSUMER: &str = "consumer";

/// One rule that a sabotaged worker breaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WorkerFault {
    /// Claims one more batch after the stop decision.
    ClaimsAfterStop,
    /// Goes on working and acking after the last confirmed deadline.
    WorksPastDeadline,
    /// Takes a renewal that failed with an error for one that succeeded.
    TrustsFailedRenewal,
    /// Keeps a lease after its renewal was refused.
    IgnoresRefusedRenewal,
    /// Counts on the new deadline from the moment it asks for it.
    TrustsRenewalOnItsWay,
    /// Reports what it has not started as released, and only forgets it.
    ForgetsUnstarted,
    /// Acks everything it holds when it stops.
    AcksUnstarted,
    /// Keeps renewing what it has given up.
    RenewsAbandoned,
    /// Acks before the effect.
    AcksBeforeEffect,
    /// Skips the reservation.
    SkipsReservation,
}

/// How a worker's connection ends without a goodbye.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Death {
    /// Its process is gone.
    Dropped,
    /// It is ended from outside, as a failing network or an administrator would.
    Terminated,
}

impl Death {
    /// The deaths that the engine can show.
    #[must_use]
    pub fn all(context: &Context) -> &'static [Self] {
        match context.has(Capability::Terminate) {
            true => &[Self::Dropped, Self::Terminated],
            false => &[Self::Dropped],
        }
    }
}

/// A step of a delivery, after which a worker may die.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Step {
    /// The event is reserved; the transaction is open.
    Reserve,
    /// The effect is applied; the transaction is open.
    Effect,
    /// Reservation and effect are committed.
    Commit,
    /// The event is acked.
    Ack,
}

/// How a delivery ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Delivered {
    /// The lease was over or lost, so nothing was begun.
    LeaseOver,
    /// It ended after the step that was to be its last, with what the ledger said.
    CutShort(Reserved),
    /// It went through: what the ledger said, and what the ack returned.
    Handled(Reserved, Acked),
}

/// The permission to work on one event. It is shared with whoever does the work, so that it can be
/// asked while a renewal is still on its way.
#[derive(Clone, Debug)]
pub struct Permit {
    confirmed: Arc<AtomicI64>,
    ignores_deadline: bool,
}

/// The deadline of a permission that was withdrawn.
const WITHDRAWN: Instant = Instant(i64::MIN);

impl Permit {
    fn new(until: Instant, ignores_deadline: bool) -> Self {
        Self { confirmed: Arc::new(AtomicI64::new(until.0)), ignores_deadline }
    }

    /// Whether the event may be worked on at `now`: only before the last confirmed deadline.
    #[must_use]
    pub fn allows(&self, now: Instant) -> bool {
        let confirmed = self.deadline();
        now < confirmed || (self.ignores_deadline && confirmed != WITHDRAWN)
    }

    fn deadline(&self) -> Instant {
        Instant(self.confirmed.load(Ordering::SeqCst))
    }

    fn confirm(&self, until: Instant) {
        self.confirmed.store(until.0, Ordering::SeqCst);
    }

    fn withdraw(&self) {
        self.confirm(WITHDRAWN);
    }
}

/// A lease that the worker holds.
#[derive(Clone, Debug)]
struct Held {
    token: FencingToken,
    permit: Permit,
    started: bool,
}

/// A worker of an outbox relay or job queue.
pub struct Worker {
    /// Its session.
    pub actor: Actor,
    fault: Option<WorkerFault>,
    held: BTreeMap<EventId, Held>,
    stopped: bool,
}

impl Worker {
    /// A worker with a session of its own.
    ///
    /// # Errors
    /// When the engine refuses the connection.
    pub async fn new(context: &Context, name: &str) -> Result<Self, EngineError> {
        Ok(Self::with(context, context.actor(name).await?))
    }

    /// A worker on a session that is open already.
    #[must_use]
    pub fn with(context: &Context, actor: Actor) -> Self {
        Self { actor, fault: context.worker_fault(), held: BTreeMap::new(), stopped: false }
    }

    fn has(&self, fault: WorkerFault) -> bool {
        self.fault == Some(fault)
    }

    /// Claims a batch, unless it was told to stop.
    ///
    /// # Errors
    /// The engine's.
    pub async fn poll(
        &mut self,
        context: &Context,
        limit: u32,
        now: Instant,
        until: Instant,
    ) -> Result<Vec<EventId>, EngineError> {
        if self.stopped && !self.has(WorkerFault::ClaimsAfterStop) {
            return Ok(Vec::new());
        }
        let batch = context.batch(self.actor.name(), limit, now, until);
        let events = self.actor.claim_batch(&batch).await?;
        for event in &events {
            let permit = Permit::new(until, self.has(WorkerFault::WorksPastDeadline));
            let held = Held { token: batch.token.clone(), permit, started: false };
            self.held.insert(event.clone(), held);
        }
        Ok(events)
    }

    /// The token of an event it holds.
    #[must_use]
    pub fn token(&self, event: &EventId) -> Option<FencingToken> {
        self.held.get(event).map(|held| held.token.clone())
    }

    /// The permission to work on an event; one that allows nothing if it does not hold it.
    #[must_use]
    pub fn permit(&self, event: &EventId) -> Permit {
        let none = || Permit::new(WITHDRAWN, false);
        self.held.get(event).map_or_else(none, |held| held.permit.clone())
    }

    /// Starts to work on an event, if that is permitted.
    pub fn start(&mut self, event: &EventId, now: Instant) -> bool {
        match self.held.get_mut(event) {
            Some(held) if held.permit.allows(now) => {
                held.started = true;
                true
            }
            _ => false,
        }
    }

    /// Hands an event to the consumer and acks it, or dies after the step `last`: then the transaction
    /// stays open if it was open there.
    ///
    /// # Errors
    /// The engine's; the transaction is rolled back then, and nothing was acked.
    pub async fn deliver(
        &mut self,
        event: &EventId,
        now: Instant,
        last: Step,
    ) -> Result<Delivered, EngineError> {
        if !self.start(event, now) {
            return Ok(Delivered::LeaseOver);
        }
        let early = match self.has(WorkerFault::AcksBeforeEffect) {
            true => Some(self.finish(event, now).await?),
            false => None,
        };
        let reserved = self.consume(event, last).await?;
        if last < Step::Ack {
            return Ok(Delivered::CutShort(reserved));
        }
        let acked = match early {
            Some(acked) => acked,
            None => self.finish(event, now).await?,
        };
        Ok(Delivered::Handled(reserved, acked))
    }

    /// Reserves the event and applies its effect in one unit: both are there or neither is.
    async fn consume(&mut self, event: &EventId, last: Step) -> Result<Reserved, EngineError> {
        self.actor.begin().await?;
        let outcome = self.reserve_and_apply(event, last).await;
        match &outcome {
            Ok(_) if last >= Step::Commit => self.actor.commit().await?,
            Ok(_) => {}
            // The first error says what happened; that of the rollback would only hide it.
            Err(_) => drop(self.actor.rollback().await),
        }
        outcome
    }

    async fn reserve_and_apply(
        &mut self,
        event: &EventId,
        last: Step,
    ) -> Result<Reserved, EngineError> {
        let reserved = match self.has(WorkerFault::SkipsReservation) {
            true => Reserved::Reserved,
            false => self.actor.reserve(CONSUMER, event).await?,
        };
        if reserved == Reserved::Reserved && last >= Step::Effect {
            self.actor.apply_effect(CONSUMER, event).await?;
        }
        Ok(reserved)
    }

    /// Acks an event whose work is done, unless its lease is over.
    ///
    /// # Errors
    /// The engine's; the event is still held then, and the ack may be tried again.
    pub async fn finish(&mut self, event: &EventId, now: Instant) -> Result<Acked, EngineError> {
        let Some(held) = self.held.get(event).cloned() else {
            return Ok(Acked::Refused);
        };
        let acked = match held.permit.allows(now) {
            true => self.actor.ack(event, &held.token, now).await?,
            false => Acked::Refused,
        };
        self.lose(event);
        Ok(acked)
    }

    /// Renews a lease. A refusal ends the permission at once. After an error it is unknown whether
    /// the renewal took effect, so the last confirmed deadline stands; it may be tried again.
    ///
    /// # Errors
    /// The engine's.
    pub async fn renew(
        &mut self,
        event: &EventId,
        now: Instant,
        until: Instant,
    ) -> Result<Renewed, EngineError> {
        let Some(held) = self.held.get(event).cloned() else {
            return Ok(Renewed::Refused);
        };
        let confirmed = held.permit.deadline();
        if self.has(WorkerFault::TrustsRenewalOnItsWay) {
            held.permit.confirm(until);
        }
        let answer = self.actor.renew(event, &held.token, now, until).await;
        match &answer {
            Ok(Renewed::Renewed) => held.permit.confirm(until),
            Ok(Renewed::Refused) if self.has(WorkerFault::IgnoresRefusedRenewal) => {}
            Ok(Renewed::Refused) => self.lose(event),
            Err(_) if self.has(WorkerFault::TrustsFailedRenewal) => held.permit.confirm(until),
            Err(_) => held.permit.confirm(confirmed),
        }
        answer
    }

    /// Renews everything it holds, as a timer beside the work does. A refusal or an error concerns
    /// one lease and keeps no other from being renewed.
    pub async fn renew_all(&mut self, now: Instant, until: Instant) {
        let events: Vec<_> = self.held.keys().cloned().collect();
        for event in &events {
            // What it means for the permission was seen to in `renew`.
            drop(self.renew(event, now, until).await);
        }
    }

    /// Takes the decision to stop: from here on nothing is claimed.
    pub fn stop(&mut self) {
        self.stopped = true;
    }

    /// Gives back what was claimed and not started; returns what the store answered for each.
    ///
    /// # Errors
    /// The engine's.
    pub async fn release_unstarted(
        &mut self,
        now: Instant,
    ) -> Result<Vec<(EventId, Released)>, EngineError> {
        let unstarted: Vec<_> = self
            .held
            .iter()
            .filter(|(_, held)| !held.started)
            .map(|(event, _)| event.clone())
            .collect();
        let mut answers = Vec::new();
        for event in unstarted {
            if self.has(WorkerFault::AcksUnstarted) {
                self.finish(&event, now).await?;
            }
            let answer = match (self.token(&event), self.has(WorkerFault::ForgetsUnstarted)) {
                (Some(token), false) => self.actor.release(&event, &token).await?,
                _ => Released::Released,
            };
            self.lose(&event);
            answers.push((event, answer));
        }
        Ok(answers)
    }

    /// Gives up an event without a word to the store: its lease is left to expire.
    pub fn abandon(&mut self, event: &EventId) {
        if !self.has(WorkerFault::RenewsAbandoned) {
            self.lose(event);
        }
    }

    fn lose(&mut self, event: &EventId) {
        if let Some(held) = self.held.remove(event) {
            held.permit.withdraw();
        }
    }

    /// Dies: no goodbye, no rollback, no release.
    ///
    /// # Errors
    /// When the engine cannot end the connection from outside.
    pub async fn die(self, context: &Context, death: Death) -> Result<(), EngineError> {
        match death {
            Death::Dropped => Ok(()),
            Death::Terminated => context.terminate(self.actor.id()).await,
        }
    }
}
