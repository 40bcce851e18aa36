//! One party of a contract: a session of its own whose every operation is recorded and bounded.

use leaseproof_engines::EngineError;
use leaseproof_engines::capability::StoreCapability;
use leaseproof_engines::lease::{
    Acked, Backlog, Claim, ClaimBatch, Claimed, Clock, Confirmed, EventId, EventRow, FencingToken,
    Instant, NewEvent, Released, Renewed, Reserved,
};
use leaseproof_engines::store::{LockWait, Session, SessionId};
use leaseproof_reports::history::Call;

use crate::harness::log::Log;
use crate::history::Recorder;
use crate::history::translate::{self, event as event_of, token as token_of};

/// One step of a contract's clock in microseconds: a minute, so that no case runs long enough to reach
/// the next.
pub const STEP_US: i64 = 60_000_000;

type Answer<T> = Result<T, EngineError>;

/// The two ways to come by an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// A claim of it by id.
    One,
    /// A claim of a batch that it may be in.
    Batch,
}

impl Way {
    /// Both ways.
    pub const BOTH: [Self; 2] = [Self::One, Self::Batch];
}

/// A named session.
pub struct Actor {
    name: String,
    engine: &'static str,
    session: Box<dyn Session>,
    recorder: Recorder,
    clock: Clock,
    store: &'static [StoreCapability],
    probes: u64,
    in_transaction: bool,
}

impl Actor {
    pub(crate) fn new(
        name: &str,
        engine: &'static str,
        session: Box<dyn Session>,
        recorder: Recorder,
        clock: Clock,
        store: &'static [StoreCapability],
    ) -> Self {
        Self {
            name: name.to_owned(),
            engine,
            session,
            recorder,
            clock,
            store,
            probes: 0,
            in_transaction: false,
        }
    }

    /// Whether the store offers a capability.
    #[must_use]
    pub fn has(&self, capability: StoreCapability) -> bool {
        self.store.contains(&capability)
    }

    /// The last instant that can be told from this one, which comes after it: one microsecond earlier. On
    /// the engine's clock, which goes on while a case runs, and in a store that keeps no microseconds, it
    /// is half a step.
    #[must_use]
    pub fn just_before(&self, instant: Instant) -> Instant {
        Instant(instant.0 - resolution_us(self.clock, self.store))
    }

    /// A token that no acquisition has.
    pub(super) fn probing_token(&mut self) -> FencingToken {
        self.probes += 1;
        FencingToken::new(format!("probe-{}-{}", self.name, self.probes))
    }

    /// The actor's name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// What an observer calls its session.
    #[must_use]
    pub fn id(&self) -> SessionId {
        self.session.id()
    }

    /// Begins a transaction that will write.
    ///
    /// # Errors
    /// The engine's, as for every operation below.
    pub async fn begin(&mut self) -> Answer<()> {
        let log = self.log(Call::Begin { reads_first: false });
        let begun = log.run(self.session.begin()).await;
        self.in_transaction |= begun.is_ok();
        begun
    }

    /// Begins a transaction that reads first.
    ///
    /// # Errors
    /// The engine's.
    pub async fn begin_snapshot(&mut self) -> Answer<()> {
        let log = self.log(Call::Begin { reads_first: true });
        let begun = log.run(self.session.begin_snapshot()).await;
        self.in_transaction |= begun.is_ok();
        begun
    }

    /// Commits the transaction.
    ///
    /// # Errors
    /// The engine's.
    pub async fn commit(&mut self) -> Answer<()> {
        let log = self.log(Call::Commit);
        self.in_transaction = false;
        log.run(self.session.commit()).await
    }

    /// Undoes the transaction.
    ///
    /// # Errors
    /// The engine's.
    pub async fn rollback(&mut self) -> Answer<()> {
        let log = self.log(Call::Rollback);
        self.in_transaction = false;
        log.run(self.session.rollback()).await
    }

    /// Inserts events; returns how many were new.
    ///
    /// # Errors
    /// The engine's.
    pub async fn enqueue(&mut self, events: &[NewEvent]) -> Answer<u64> {
        let events_named = events.iter().map(|new| event_of(&new.event)).collect();
        let log = self.log(Call::Enqueue { events: events_named });
        log.run(self.session.enqueue(events)).await
    }

    /// Reads the events that could be claimed.
    ///
    /// # Errors
    /// The engine's.
    pub async fn candidates(&mut self, limit: u32, now: Instant) -> Answer<Vec<EventId>> {
        let log = self.log(Call::Candidates { limit, now: now.0 });
        log.run(self.session.candidates(limit, now)).await
    }

    /// Claims one event.
    ///
    /// # Errors
    /// The engine's.
    pub async fn claim(
        &mut self,
        event: &EventId,
        token: &FencingToken,
        now: Instant,
        until: Instant,
    ) -> Answer<Claimed> {
        let claim = Claim { event: event.clone(), token: token.clone(), now, until };
        let log = self.log(translate::claim(&claim));
        log.run(self.session.claim(&claim)).await
    }

    /// Claims a batch.
    ///
    /// # Errors
    /// The engine's.
    pub async fn claim_batch(&mut self, batch: &ClaimBatch) -> Answer<Vec<EventId>> {
        let log = self.log(translate::claim_batch(batch));
        log.run(self.session.claim_batch(batch)).await
    }

    /// Claims an event by its id or in a batch; whether it got it.
    ///
    /// # Errors
    /// The engine's.
    pub async fn claim_by(
        &mut self,
        way: Way,
        event: &EventId,
        batch: &ClaimBatch,
    ) -> Answer<bool> {
        let ClaimBatch { token, now, until, .. } = batch;
        Ok(match way {
            Way::One => self.claim(event, token, *now, *until).await? == Claimed::Claimed,
            Way::Batch => self.claim_batch(batch).await?.contains(event),
        })
    }

    /// Renews a lease.
    ///
    /// # Errors
    /// The engine's.
    pub async fn renew(
        &mut self,
        event: &EventId,
        token: &FencingToken,
        now: Instant,
        until: Instant,
    ) -> Answer<Renewed> {
        let log = self.log(Call::Renew {
            event: event_of(event),
            token: token_of(token),
            now: now.0,
            until: until.0,
        });
        log.run(self.session.renew(event, token, now, until)).await
    }

    /// Asks whether it still owns an event.
    ///
    /// # Errors
    /// The engine's.
    pub async fn confirm(
        &mut self,
        event: &EventId,
        token: &FencingToken,
        now: Instant,
    ) -> Answer<Confirmed> {
        let log =
            self.log(Call::Confirm { event: event_of(event), token: token_of(token), now: now.0 });
        log.run(self.session.confirm(event, token, now)).await
    }

    /// Acks an event.
    ///
    /// # Errors
    /// The engine's.
    pub async fn ack(
        &mut self,
        event: &EventId,
        token: &FencingToken,
        now: Instant,
    ) -> Answer<Acked> {
        let log =
            self.log(Call::Ack { event: event_of(event), token: token_of(token), now: now.0 });
        log.run(self.session.ack(event, token, now)).await
    }

    /// Gives an event back.
    ///
    /// # Errors
    /// The engine's.
    pub async fn release(&mut self, event: &EventId, token: &FencingToken) -> Answer<Released> {
        let log = self.log(Call::Release { event: event_of(event), token: token_of(token) });
        log.run(self.session.release(event, token)).await
    }

    /// Gives up what was claimed as often as the store allows.
    ///
    /// # Errors
    /// The engine's.
    pub async fn dead_letter(&mut self, limit: u32, now: Instant) -> Answer<Vec<EventId>> {
        let log = self.log(Call::DeadLetter { limit, now: now.0 });
        log.run(self.session.dead_letter(limit, now)).await
    }

    /// Locks an event's row inside a transaction.
    ///
    /// # Errors
    /// The engine's.
    pub async fn lock(&mut self, event: &EventId, wait: LockWait) -> Answer<()> {
        let log = self.log(Call::Lock { event: event_of(event), waits: wait == LockWait::Block });
        log.run(self.session.lock(event, wait)).await
    }

    /// Reserves an event for a consumer.
    ///
    /// # Errors
    /// The engine's.
    pub async fn reserve(&mut self, consumer: &str, event: &EventId) -> Answer<Reserved> {
        let log = self.log(Call::Reserve { consumer: consumer.to_owned(), event: event_of(event) });
        log.run(self.session.reserve(consumer, event)).await
    }

    /// Applies a consumer's effect once more.
    ///
    /// # Errors
    /// The engine's.
    pub async fn apply_effect(&mut self, consumer: &str, event: &EventId) -> Answer<()> {
        let log =
            self.log(Call::ApplyEffect { consumer: consumer.to_owned(), event: event_of(event) });
        log.run(self.session.apply_effect(consumer, event)).await
    }

    /// Reads an event's row.
    ///
    /// # Errors
    /// The engine's.
    pub async fn event(&mut self, event: &EventId) -> Answer<Option<EventRow>> {
        let log = self.log(Call::Inspect { event: event_of(event) });
        log.run(self.session.event(event)).await
    }

    /// Counts a consumer's effects.
    ///
    /// # Errors
    /// The engine's.
    pub async fn effects(&mut self, consumer: &str, event: &EventId) -> Answer<i64> {
        let log = self.log(Call::Effects { consumer: consumer.to_owned(), event: event_of(event) });
        log.run(self.session.effects(consumer, event)).await
    }

    /// Reads the backlog.
    ///
    /// # Errors
    /// The engine's.
    pub async fn backlog(&mut self, now: Instant) -> Answer<Backlog> {
        let log = self.log(Call::Backlog { now: now.0 });
        log.run(self.session.backlog(now)).await
    }

    /// Closes the connection.
    pub async fn close(self) {
        self.session.close().await;
    }

    fn log(&self, call: Call) -> Log {
        let under_way = Some(self.recorder.invoked(&self.name, self.session.id(), call.clone()));
        Log {
            engine: self.engine,
            call,
            in_transaction: self.in_transaction,
            recorder: self.recorder.clone(),
            under_way,
        }
    }
}

/// How far apart two instants must lie to be told apart while a case runs, in microseconds.
#[must_use]
pub(super) fn resolution_us(clock: Clock, store: &[StoreCapability]) -> i64 {
    match clock {
        Clock::Logical if store.contains(&StoreCapability::MicrosecondInstants) => 1,
        _ => STEP_US / 2,
    }
}
