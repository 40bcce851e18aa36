//! What a contract is given: actors, a clock it moves itself, seeded chance, and proof of waits.

use std::collections::BTreeMap;
use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use leaseproof_engines::capability::StoreCapability;
use leaseproof_engines::lease::{
    ClaimBatch, Clock, EventId, FencingToken, Instant, NewEvent, Strategy,
};
use leaseproof_engines::store::{
    Observer, SessionId, SessionOptions, Store, StoreOptions, Waiting,
};
use leaseproof_engines::{Capability, Engine, EngineError};
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};

use crate::harness::actor::{Actor, STEP_US, resolution_us};
use crate::harness::finding::Finding;
use crate::harness::latch::Crowd;
use crate::harness::retries::Retries;
use crate::harness::stores::Stores;
use crate::history::Recorder;
use crate::worker::WorkerFault;

/// The longest wait for one session to be seen waiting for another.
pub const WAIT_BOUND: Duration = Duration::from_secs(10);

/// How long a session must be seen waiting without a break, to be held up and not only to look at a lock
/// in passing. MariaDB's SKIP LOCKED queues up for a moment for each row that it then passes over.
const STUCK: Duration = Duration::from_secs(1);

/// How often an observer looks.
const LOOK_EVERY: Duration = Duration::from_millis(2);

/// Where an operation stands that was expected to wait.
pub enum Progress<T> {
    /// It waits, and was seen to.
    Waiting,
    /// It returned instead.
    Finished(T),
}

/// Everything a contract may use. It names no engine and no statement.
pub struct Context {
    pub(crate) engine: &'static dyn Engine,
    pub(crate) stores: Stores,
    pub(crate) store: Arc<dyn Store>,
    pub(crate) strategy: Strategy,
    pub(crate) clock: Clock,
    pub(crate) seed: u64,
    pub(crate) chance: Mutex<StdRng>,
    pub(crate) observer: tokio::sync::Mutex<Option<Box<dyn Observer>>>,
    pub(crate) recorder: Recorder,
    pub(crate) one_token_per_actor: bool,
    pub(crate) worker_fault: Option<WorkerFault>,
    pub(crate) tokens: Mutex<BTreeMap<String, u64>>,
}

impl Context {
    pub(crate) fn new(
        engine: &'static dyn Engine,
        stores: Stores,
        store: Arc<dyn Store>,
        strategy: Strategy,
        seed: u64,
    ) -> Self {
        Self {
            engine,
            stores,
            store,
            strategy,
            clock: Clock::Logical,
            seed,
            chance: Mutex::new(StdRng::seed_from_u64(seed)),
            observer: tokio::sync::Mutex::new(None),
            recorder: Recorder::default(),
            one_token_per_actor: false,
            worker_fault: None,
            tokens: Mutex::default(),
        }
    }

    /// The instant `step` of the contract's own clock.
    #[must_use]
    pub fn at(&self, step: i64) -> Instant {
        Instant(step * STEP_US)
    }

    /// The last instant before `step` that can be told from it: one microsecond earlier. On the engine's
    /// clock, which goes on while a case runs, and in a store that keeps no microseconds, it is half a step.
    #[must_use]
    pub fn just_before(&self, step: i64) -> Instant {
        Instant(self.at(step).0 - resolution_us(self.clock, self.store.capabilities()))
    }

    /// The claim strategy of this case.
    #[must_use]
    pub fn strategy(&self) -> Strategy {
        self.strategy
    }

    /// What a sabotaged worker does wrong in this case.
    #[must_use]
    pub fn worker_fault(&self) -> Option<WorkerFault> {
        self.worker_fault
    }

    /// Whether the engine declares a capability.
    #[must_use]
    pub fn has(&self, capability: Capability) -> bool {
        self.engine.capabilities().contains(&capability)
    }

    /// Whether the store lets its callers do or see something.
    #[must_use]
    pub fn offers(&self, capability: StoreCapability) -> bool {
        self.store.capabilities().contains(&capability)
    }

    /// A number below `bound`, drawn from the case's seed.
    ///
    /// # Panics
    /// If `bound` is 0.
    #[must_use]
    pub fn below(&self, bound: u32) -> u32 {
        let mut chance = self.chance.lock().expect("nobody panics while holding the dice");
        chance.random_range(0..bound)
    }

    /// A token for a new acquisition by `actor`.
    ///
    /// # Panics
    /// Never: nobody panics while holding the counters.
    #[must_use]
    pub fn token(&self, actor: &str) -> FencingToken {
        if self.one_token_per_actor {
            return FencingToken::new(actor);
        }
        let mut tokens = self.tokens.lock().expect("nobody panics while holding the counters");
        let count = tokens.entry(actor.to_owned()).or_insert(0);
        *count += 1;
        FencingToken::new(format!("{actor}-{count}-{:08x}", self.seed & 0xffff_ffff))
    }

    /// A claim of a batch by the strategy of this case, with a token for a new acquisition.
    #[must_use]
    pub fn batch(&self, actor: &str, limit: u32, now: Instant, until: Instant) -> ClaimBatch {
        let (token, strategy) = (self.token(actor), self.strategy);
        ClaimBatch { limit, token, now, until, strategy }
    }

    /// A party with a session of its own.
    ///
    /// # Errors
    /// When the engine refuses the connection.
    pub async fn actor(&self, name: &str) -> Result<Actor, EngineError> {
        self.actor_with(name, &SessionOptions::default()).await
    }

    /// A party whose session has options of its own.
    ///
    /// # Errors
    /// When the engine refuses the connection or the options.
    pub async fn actor_with(
        &self,
        name: &str,
        options: &SessionOptions,
    ) -> Result<Actor, EngineError> {
        let session = self.store.session(options).await?;
        let recorder = self.recorder.clone();
        let store = self.store.capabilities();
        Ok(Actor::new(name, self.engine.name(), session, recorder, self.clock, store))
    }

    /// Parties named `prefix-1` to `prefix-count`.
    ///
    /// # Errors
    /// When the engine refuses a connection.
    pub async fn actors(&self, prefix: &str, count: usize) -> Result<Vec<Actor>, EngineError> {
        let mut actors = Vec::with_capacity(count);
        for number in 1..=count {
            actors.push(self.actor(&format!("{prefix}-{number}")).await?);
        }
        Ok(actors)
    }

    /// An event that is due from the start, not enqueued yet.
    #[must_use]
    pub fn new_event(&self, id: &str) -> NewEvent {
        NewEvent { event: EventId::new(id), due: self.at(0), enqueued: self.at(0) }
    }

    /// Enqueues one event that is due from the start.
    ///
    /// # Errors
    /// The engine's.
    pub async fn enqueued(&self, actor: &mut Actor, id: &str) -> Result<EventId, EngineError> {
        let mut retries = Retries::default();
        loop {
            let outcome = actor.enqueue(&[self.new_event(id)]).await;
            // Under SERIALIZABLE an engine may ask for any transaction to be run again, for what others read.
            if !retries.rerun(&outcome) {
                return outcome.map(|_| EventId::new(id));
            }
        }
    }

    /// A context of the same case on another store, which is removed with the first.
    ///
    /// # Errors
    /// When the engine cannot open it.
    pub async fn on_another_store(&self, options: StoreOptions) -> Result<Self, EngineError> {
        let store = self.stores.open(options).await?;
        let mut context =
            Self::new(self.engine, self.stores.clone(), store, self.strategy, self.seed);
        context.recorder = self.recorder.clone();
        context.clock = self.clock;
        context.one_token_per_actor = self.one_token_per_actor;
        context.worker_fault = self.worker_fault;
        Ok(context)
    }

    /// Notes what the loser of a race was told: zero rows, or an error with its code and class.
    pub fn loser_saw<T>(&self, answer: &Result<T, EngineError>) {
        self.recorder.loser_saw(answer);
    }

    /// The operations of the case so far.
    #[must_use]
    pub fn recorder(&self) -> &Recorder {
        &self.recorder
    }

    /// Drives an operation until every session of `sessions` is seen waiting for a lock, or until
    /// the operation returns.
    ///
    /// # Errors
    /// [`Finding::Inconclusive`] when the engine does not show waits, or when neither happened
    /// within [`WAIT_BOUND`].
    pub async fn until_waiting<F: Future>(
        &self,
        sessions: &[SessionId],
        mut operation: Pin<&mut F>,
    ) -> Result<Progress<F::Output>, Finding> {
        let mut interval = tokio::time::interval(LOOK_EVERY);
        let deadline = tokio::time::Instant::now() + WAIT_BOUND;
        loop {
            tokio::select! {
                biased;
                output = operation.as_mut() => return Ok(Progress::Finished(output)),
                _ = interval.tick() => {}
            }
            if self.all_waiting(sessions).await? {
                return Ok(Progress::Waiting);
            }
            if tokio::time::Instant::now() > deadline {
                return Err(not_seen_waiting());
            }
        }
    }

    /// Drives several attempts until each is seen waiting for a lock or has returned; how many have returned.
    ///
    /// # Errors
    /// [`Finding::Inconclusive`] when the engine does not show waits, or when one neither waited nor
    /// returned within [`WAIT_BOUND`].
    pub(super) async fn until_crowded<F: Future>(
        &self,
        crowd: &mut Crowd<F>,
    ) -> Result<usize, Finding> {
        let mut interval = tokio::time::interval(LOOK_EVERY);
        let deadline = tokio::time::Instant::now() + WAIT_BOUND;
        let all = crowd.under_way().len();
        loop {
            tokio::select! {
                biased;
                () = crowd.run() => return Ok(all),
                _ = interval.tick() => {}
            }
            let under_way = crowd.under_way();
            if self.all_waiting(&under_way).await? {
                return Ok(all - under_way.len());
            }
            if tokio::time::Instant::now() > deadline {
                return Err(not_seen_waiting());
            }
        }
    }

    /// Drives an operation that should not have to wait until it returns, or until its session was seen
    /// waiting in every look for a second: whoever holds it up lets go only after this has ended.
    ///
    /// # Errors
    /// [`Finding::Inconclusive`] when the engine does not show waits, or when neither happened within
    /// [`WAIT_BOUND`].
    pub async fn until_stuck<F: Future>(
        &self,
        session: SessionId,
        mut operation: Pin<&mut F>,
    ) -> Result<Progress<F::Output>, Finding> {
        let deadline = tokio::time::Instant::now() + WAIT_BOUND;
        loop {
            let waits = match self.until_waiting(&[session], operation.as_mut()).await? {
                Progress::Waiting => tokio::time::Instant::now(),
                finished @ Progress::Finished(_) => return Ok(finished),
            };
            let mut interval = tokio::time::interval(LOOK_EVERY);
            while self.all_waiting(&[session]).await? {
                if waits.elapsed() >= STUCK {
                    return Ok(Progress::Waiting);
                }
                tokio::select! {
                    biased;
                    output = operation.as_mut() => return Ok(Progress::Finished(output)),
                    _ = interval.tick() => {}
                }
            }
            if tokio::time::Instant::now() > deadline {
                let bound = WAIT_BOUND.as_secs();
                return Err(Finding::Inconclusive(format!(
                    "an operation neither returned nor was held up by one lock within {bound} s"
                )));
            }
        }
    }

    /// Whether every session is seen waiting now.
    async fn all_waiting(&self, sessions: &[SessionId]) -> Result<bool, Finding> {
        let mut observer = self.observer.lock().await;
        for session in sessions {
            match observer_of(&mut observer, &self.store).await?.waiting(*session).await? {
                Waiting::Waiting => {}
                Waiting::NotWaiting => return Ok(false),
                Waiting::NotObservable => {
                    return Err(Finding::Inconclusive(
                        "no proof of overlap: this user may not see lock waits; grant it the right \
                         to (`PROCESS` and `SELECT` on `performance_schema`)"
                            .to_owned(),
                    ));
                }
            }
        }
        Ok(true)
    }

    /// Ends a session's connection from outside.
    ///
    /// # Errors
    /// The engine's.
    pub async fn terminate(&self, session: SessionId) -> Result<(), EngineError> {
        let mut observer = self.observer.lock().await;
        observer_of(&mut observer, &self.store).await?.terminate(session).await
    }

    /// Leaves the planner with statistics of an idle hour.
    ///
    /// # Errors
    /// The engine's.
    pub async fn mislead_planner(&self) -> Result<(), EngineError> {
        let mut observer = self.observer.lock().await;
        observer_of(&mut observer, &self.store).await?.mislead_planner().await
    }
}

fn not_seen_waiting() -> Finding {
    Finding::Inconclusive(format!(
        "no proof of overlap: the sessions were not all seen waiting within {} s",
        WAIT_BOUND.as_secs()
    ))
}

/// The case's observer, connected when it is first needed.
async fn observer_of<'slot>(
    slot: &'slot mut Option<Box<dyn Observer>>,
    store: &Arc<dyn Store>,
) -> Result<&'slot mut Box<dyn Observer>, EngineError> {
    if slot.is_none() {
        *slot = Some(store.observer().await?);
    }
    Ok(slot.as_mut().expect("it was put there just above"))
}
