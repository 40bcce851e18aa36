//! One party of a contract: a session of its own whose every operation is recorded and bounded.

use std::fmt::Debug;
use std::future::Future;
use std::time::Duration;

use leaseproof_engines::capability::StoreCapability;
use leaseproof_engines::lease::{
    Acked, Backlog, Claim, ClaimBatch, Claimed, Clock, Confirmed, EventId, EventRow, FencingToken,
    Instant, NewEvent, Released, Renewed, Reserved,
};
use leaseproof_engines::store::{LockWait, Session, SessionId};
use leaseproof_engines::{EngineError, ErrorKind};

use crate::history::{Ending, Operation, Recorder};

/// One step of a contract's clock in microseconds: a minute, so that no case runs long enough to reach
/// the next.
pub const STEP_US: i64 = 60_000_000;

/// The longest wait for any answer. It is twice the sessions' lock timeout, so that the engine's
/// own refusal always comes first and a session that stalls fails its case instead of hanging it.
pub const OPERATION_BOUND: Duration = Duration::from_secs(20);

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
        Self { name: name.to_owned(), engine, session, recorder, clock, store, probes: 0 }
    }

    /// Whether the store offers a capability.
    #[must_use]
    pub fn has(&self, capability: StoreCapability) -> bool {
        self.store.contains(&capability)
    }

    /// The last instant that can be told from this one, which comes after it: one microsecond earlier. On
    /// the engine's clock, which goes on while a case runs, it is half a step.
    #[must_use]
    pub fn just_before(&self, instant: Instant) -> Instant {
        Instant(instant.0 - resolution_us(self.clock))
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
        let log = self.log("begin".to_owned());
        log.run(self.session.begin(), |()| Ending::Ok).await
    }

    /// Begins a transaction that reads first.
    ///
    /// # Errors
    /// The engine's.
    pub async fn begin_snapshot(&mut self) -> Answer<()> {
        let log = self.log("begin, then read".to_owned());
        log.run(self.session.begin_snapshot(), |()| Ending::Ok).await
    }

    /// Commits the transaction.
    ///
    /// # Errors
    /// The engine's.
    pub async fn commit(&mut self) -> Answer<()> {
        let log = self.log("commit".to_owned());
        log.run(self.session.commit(), |()| Ending::Ok).await
    }

    /// Undoes the transaction.
    ///
    /// # Errors
    /// The engine's.
    pub async fn rollback(&mut self) -> Answer<()> {
        let log = self.log("roll back".to_owned());
        log.run(self.session.rollback(), |()| Ending::Ok).await
    }

    /// Inserts events; returns how many were new.
    ///
    /// # Errors
    /// The engine's.
    pub async fn enqueue(&mut self, events: &[NewEvent]) -> Answer<u64> {
        let named: Vec<_> = events.iter().take(3).map(|new| new.event.to_string()).collect();
        let more = if events.len() > 3 { ", …" } else { "" };
        let log = self.log(format!("enqueue {} ({}{more})", events.len(), named.join(", ")));
        log.run(self.session.enqueue(events), |_| Ending::Ok).await
    }

    /// Reads the events that could be claimed.
    ///
    /// # Errors
    /// The engine's.
    pub async fn candidates(&mut self, limit: u32, now: Instant) -> Answer<Vec<EventId>> {
        let log = self.log(format!("read up to {limit} candidates at {now}"));
        log.run(self.session.candidates(limit, now), |_| Ending::Ok).await
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
        let log = self.log(format!("claim {event} with {token} at {now} until {until}"));
        let claim = Claim { event: event.clone(), token: token.clone(), now, until };
        let ending = |claimed: &Claimed| refused_if(*claimed == Claimed::NotClaimed);
        log.run(self.session.claim(&claim), ending).await
    }

    /// Claims a batch.
    ///
    /// # Errors
    /// The engine's.
    pub async fn claim_batch(&mut self, batch: &ClaimBatch) -> Answer<Vec<EventId>> {
        let ClaimBatch { limit, token, now, until, strategy } = batch;
        let call = format!("claim up to {limit} with {token} at {now} until {until} by {strategy}");
        let log = self.log(call);
        let ending = |events: &Vec<EventId>| refused_if(events.is_empty());
        log.run(self.session.claim_batch(batch), ending).await
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
        let log = self.log(format!("renew {event} with {token} at {now} until {until}"));
        let ending = |renewed: &Renewed| refused_if(*renewed == Renewed::Refused);
        log.run(self.session.renew(event, token, now, until), ending).await
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
        let log = self.log(format!("confirm {event} with {token} at {now}"));
        let ending = |confirmed: &Confirmed| refused_if(*confirmed == Confirmed::Refused);
        log.run(self.session.confirm(event, token, now), ending).await
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
        let log = self.log(format!("ack {event} with {token} at {now}"));
        let ending = |acked: &Acked| refused_if(*acked == Acked::Refused);
        log.run(self.session.ack(event, token, now), ending).await
    }

    /// Gives an event back.
    ///
    /// # Errors
    /// The engine's.
    pub async fn release(&mut self, event: &EventId, token: &FencingToken) -> Answer<Released> {
        let log = self.log(format!("release {event} with {token}"));
        let ending = |released: &Released| refused_if(*released == Released::Refused);
        log.run(self.session.release(event, token), ending).await
    }

    /// Gives up what was claimed as often as the store allows.
    ///
    /// # Errors
    /// The engine's.
    pub async fn dead_letter(&mut self, limit: u32, now: Instant) -> Answer<Vec<EventId>> {
        let log = self.log(format!("dead-letter up to {limit} at {now}"));
        log.run(self.session.dead_letter(limit, now), |_| Ending::Ok).await
    }

    /// Locks an event's row inside a transaction.
    ///
    /// # Errors
    /// The engine's.
    pub async fn lock(&mut self, event: &EventId, wait: LockWait) -> Answer<()> {
        let log = self.log(format!("lock {event} ({wait:?})"));
        log.run(self.session.lock(event, wait), |()| Ending::Ok).await
    }

    /// Reserves an event for a consumer.
    ///
    /// # Errors
    /// The engine's.
    pub async fn reserve(&mut self, consumer: &str, event: &EventId) -> Answer<Reserved> {
        let log = self.log(format!("reserve {event} for {consumer}"));
        let ending = |reserved: &Reserved| refused_if(*reserved == Reserved::Duplicate);
        log.run(self.session.reserve(consumer, event), ending).await
    }

    /// Applies a consumer's effect once more.
    ///
    /// # Errors
    /// The engine's.
    pub async fn apply_effect(&mut self, consumer: &str, event: &EventId) -> Answer<()> {
        let log = self.log(format!("apply the effect of {event} for {consumer}"));
        log.run(self.session.apply_effect(consumer, event), |()| Ending::Ok).await
    }

    /// Reads an event's row.
    ///
    /// # Errors
    /// The engine's.
    pub async fn event(&mut self, event: &EventId) -> Answer<Option<EventRow>> {
        let log = self.log(format!("read {event}"));
        let row = log.run(self.session.event(event), |_| Ending::Ok).await?;
        Ok(row.map(|row| on_whole_steps(row, self.clock)))
    }

    /// Counts a consumer's effects.
    ///
    /// # Errors
    /// The engine's.
    pub async fn effects(&mut self, consumer: &str, event: &EventId) -> Answer<i64> {
        let log = self.log(format!("count the effects of {event} for {consumer}"));
        log.run(self.session.effects(consumer, event), |_| Ending::Ok).await
    }

    /// Reads the backlog.
    ///
    /// # Errors
    /// The engine's.
    pub async fn backlog(&mut self, now: Instant) -> Answer<Backlog> {
        let log = self.log(format!("read the backlog at {now}"));
        log.run(self.session.backlog(now), |_| Ending::Ok).await
    }

    /// Closes the connection.
    pub async fn close(self) {
        self.session.close().await;
    }

    fn log(&self, call: String) -> Log {
        Log {
            actor: self.name.clone(),
            engine: self.engine,
            call,
            invoked: self.recorder.elapsed(),
            recorder: self.recorder.clone(),
            settled: false,
        }
    }
}

/// On the engine's clock the time that the case itself takes is in every stored instant. It is far less
/// than a step of the contract's clock, so the step is what is left when it is taken off.
fn on_whole_steps(mut row: EventRow, clock: Clock) -> EventRow {
    if clock == Clock::Database {
        let whole = |instant: Instant| Instant(instant.0 - instant.0.rem_euclid(STEP_US));
        row.until = row.until.map(whole);
        row.due = whole(row.due);
    }
    row
}

/// How far apart two instants must lie to be told apart while a case runs, in microseconds.
#[must_use]
pub(super) fn resolution_us(clock: Clock) -> i64 {
    if clock == Clock::Database { STEP_US / 2 } else { 1 }
}

fn refused_if(refused: bool) -> Ending {
    if refused { Ending::Refused } else { Ending::Ok }
}

/// Records one operation. It owns its parts, so that the session stays free to be borrowed.
///
/// An operation that is given up before it returns is recorded as still waiting: that it waited may be
/// the very violation.
struct Log {
    actor: String,
    engine: &'static str,
    call: String,
    recorder: Recorder,
    invoked: Duration,
    settled: bool,
}

impl Log {
    async fn run<T: Debug>(
        mut self,
        operation: impl Future<Output = Answer<T>>,
        ending: impl Fn(&T) -> Ending,
    ) -> Answer<T> {
        self.invoked = self.recorder.elapsed();
        let answer = match tokio::time::timeout(OPERATION_BOUND, operation).await {
            Ok(answer) => answer,
            Err(_) => Err(EngineError::new(
                self.engine,
                "answer",
                ErrorKind::Unavailable,
                format!("no answer within {} s to: {}", OPERATION_BOUND.as_secs(), self.call),
            )),
        };
        let (ending, outcome) = match &answer {
            Ok(value) => (ending(value), format!("{value:?}")),
            Err(error) if error.kind == ErrorKind::Unavailable => (Ending::Info, error.to_string()),
            Err(error) => (Ending::Fail, format!("{} {error}", error.kind)),
        };
        self.settle(ending, outcome);
        answer
    }

    fn settle(&mut self, ending: Ending, outcome: String) {
        self.settled = true;
        self.recorder.add(Operation {
            actor: self.actor.clone(),
            call: self.call.clone(),
            invoked_us: micros(self.invoked),
            returned_us: micros(self.recorder.elapsed()),
            ending,
            outcome,
        });
    }
}

impl Drop for Log {
    fn drop(&mut self) {
        if !self.settled {
            self.settle(Ending::Info, "still waiting when it was given up".to_owned());
        }
    }
}

fn micros(duration: Duration) -> u64 {
    u64::try_from(duration.as_micros()).unwrap_or(u64::MAX)
}
