//! A server that is measured, and the stores that are opened on it.

use std::sync::{Arc, Mutex};

use leaseproof_engines::bench_statements::{to_the_tail, without_index_hints};
use leaseproof_engines::instruments::{Counters, Instruments};
use leaseproof_engines::lease::{EventId, Strategy};
use leaseproof_engines::servers::{
    Endpoint, Missing, ProgressFn, ProvideOptions, Selection, provide,
};
use leaseproof_engines::store::{Isolation, Session, SessionOptions, Store, StoreOptions};
use leaseproof_engines::{Capability, Engine, EngineError, ErrorKind, Identity};

/// A server that is measured.
pub struct Bench {
    /// The engine.
    pub engine: &'static dyn Engine,
    /// The engine's name, with its version where the selection named one.
    pub label: String,
    /// Where it is reached.
    pub endpoint: Endpoint,
    /// What it says about itself.
    pub identity: Identity,
    /// What is wrong with its queues on purpose.
    pub fault: Fault,
    /// What sessions run first so that the engine tells of waits; empty where it need not be asked, or this
    /// user may not.
    pub(crate) telling: &'static str,
    /// The stores that were opened and not removed yet.
    opened: Opened,
}

type Opened = Arc<Mutex<Vec<Arc<dyn Store>>>>;

/// What is done to a server's queues to see whether a comparison notices.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Fault {
    /// Nothing.
    #[default]
    None,
    /// Every claim takes half a turn longer: 1.5 times as long in all, for a worker alone.
    SlowClaim,
    /// The index that claims use is gone.
    NoIndex,
}

impl Fault {
    /// Every fault.
    pub const ALL: [Self; 3] = [Self::None, Self::SlowClaim, Self::NoIndex];

    /// Its stable name.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::SlowClaim => "slow-claim",
            Self::NoIndex => "no-index",
        }
    }
}

/// Why an engine is not measured.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BenchError {
    /// No server of it can be had.
    #[error("`{}` is missing", .0.label)]
    Missing(Missing),
    /// It failed.
    #[error(transparent)]
    Engine(#[from] EngineError),
}

impl Bench {
    /// Has a server provided and asks it who it is.
    ///
    /// # Errors
    /// When there is none, or it does not answer.
    pub async fn provide(
        selection: &Selection,
        options: &ProvideOptions,
        progress: ProgressFn<'_>,
    ) -> Result<Self, BenchError> {
        let endpoint = provide(selection, options, progress).await.map_err(BenchError::Missing)?;
        let identity = selection.engine.identify(&endpoint).await?;
        let engine = selection.engine;
        let label = selection.named_after(endpoint.provider, &identity.version).label();
        let telling = telling(engine, &endpoint).await?;
        let (fault, opened) = (Fault::default(), Opened::default());
        Ok(Self { engine, label, endpoint, identity, fault, telling, opened })
    }

    /// The same server, reached in another way.
    #[must_use]
    pub fn reached_by(&self, endpoint: Endpoint) -> Self {
        Self {
            engine: self.engine,
            label: self.label.clone(),
            endpoint,
            identity: self.identity.clone(),
            fault: self.fault,
            telling: self.telling,
            opened: Arc::clone(&self.opened),
        }
    }

    /// Removes the stores that a measurement left behind when it failed.
    pub async fn sweep(&self) {
        let left = std::mem::take(&mut *self.opened.lock().expect("nobody panics with the list"));
        for store in left {
            // What failed before has been told; a store that cannot be removed would only repeat it.
            drop(store.close().await);
        }
    }

    /// Opens a store whose events go back to the tail when they are released, with `depth` of them,
    /// and its instruments.
    ///
    /// # Errors
    /// When the engine refuses.
    pub async fn queue(&self, queue: &Queue) -> Result<Filled, EngineError> {
        let statements = to_the_tail(self.engine.statements(), queue.depth);
        let statements = statements.map_err(|error| {
            EngineError::new(self.engine.name(), "prepare", ErrorKind::Fatal, error.to_string())
        })?;
        let mut statements = (queue.edit)(statements);
        let indexed = queue.indexed && self.fault != Fault::NoIndex;
        if !indexed {
            statements = without_index_hints(statements);
        }
        let session = match queue.session {
            "" if queue.telling => self.telling,
            session => session,
        };
        let options = StoreOptions {
            statements: Some(statements),
            isolation: queue.isolation,
            session,
            ..StoreOptions::default()
        };
        let store: Arc<dyn Store> = Arc::from(self.engine.open(&self.endpoint, options).await?);
        let opened = Arc::clone(&self.opened);
        opened.lock().expect("nobody panics with the list").push(Arc::clone(&store));
        let mut filled = Filled { instruments: store.instruments().await?, store, opened };
        filled.instruments.fill(queue.depth).await?;
        if !indexed {
            filled.instruments.drop_claim_index().await?;
        }
        filled.instruments.settle().await?;
        Ok(filled)
    }

    /// Whether writers wait for rows, and not for the whole file.
    #[must_use]
    pub fn locks_rows(&self) -> bool {
        self.engine.capabilities().contains(&Capability::ConcurrentWriters)
    }

    /// The strategy that this engine's users would claim with.
    #[must_use]
    pub fn best_strategy(&self) -> Strategy {
        best_strategy(self.engine)
    }
}

/// What sessions run first so that the engine tells of waits. Where this user may not ask for that, waits
/// are not observable, and everything else is measured all the same.
async fn telling(engine: &dyn Engine, endpoint: &Endpoint) -> Result<&'static str, EngineError> {
    let session = engine.telling_session();
    if session.is_empty() {
        return Ok("");
    }
    let options = StoreOptions { session, ..StoreOptions::default() };
    let store = engine.open(endpoint, options).await?;
    let asked = store.session(&SessionOptions::default()).await;
    let telling = match asked {
        Ok(asked) => {
            asked.close().await;
            Ok(session)
        }
        Err(error) if error.is_no_right() => Ok(""),
        Err(error) => Err(error),
    };
    store.close().await?;
    telling
}

/// The strategy that an engine's users would claim with.
#[must_use]
pub fn best_strategy(engine: &dyn Engine) -> Strategy {
    let has = |strategy| engine.strategies().contains(&strategy);
    match has(Strategy::SkipLocked) {
        true => Strategy::SkipLocked,
        false => Strategy::UpdateReturning,
    }
}

/// How a queue is opened.
#[derive(Clone, Copy, Debug)]
pub struct Queue {
    /// How many events it holds.
    pub depth: u64,
    /// The isolation of its sessions.
    pub isolation: Option<Isolation>,
    /// Whether the index that claims use is there.
    pub indexed: bool,
    /// What its sessions run first; empty for nothing. An engine that has to be asked to tell of its
    /// waits is then not asked.
    pub session: &'static str,
    /// Whether the engine tells of each wait, where it can.
    pub telling: bool,
    /// What is changed in the statements, as a fault that a measurement must show.
    pub edit:
        fn(leaseproof_engines::statement::Statements) -> leaseproof_engines::statement::Statements,
}

impl Queue {
    /// A queue at READ COMMITTED, where the engine has it, with nothing changed.
    #[must_use]
    pub fn new(engine: &dyn Engine, depth: u64) -> Self {
        let isolation = engine.server().map(|_| Isolation::ReadCommitted);
        Self {
            depth,
            isolation,
            indexed: true,
            session: "",
            telling: true,
            edit: |statements| statements,
        }
    }
}

/// A store with events in it.
pub struct Filled {
    /// The store.
    pub store: Arc<dyn Store>,
    /// Its instruments.
    pub instruments: Box<dyn Instruments>,
    opened: Opened,
}

impl Filled {
    /// Opens a session for each of `workers`.
    ///
    /// # Errors
    /// When the engine refuses one.
    pub async fn sessions(&mut self, workers: usize) -> Result<Vec<Box<dyn Session>>, EngineError> {
        let mut sessions = Vec::with_capacity(workers);
        for _ in 0..workers {
            sessions.push(self.store.session(&SessionOptions::default()).await?);
        }
        Ok(sessions)
    }

    /// Reads the counters once the work of all closed sessions is in them.
    ///
    /// # Errors
    /// When the engine cannot be asked.
    pub async fn counters(&mut self) -> Result<Counters, EngineError> {
        self.counters_beside(0).await
    }

    /// The same while that many sessions stay open.
    ///
    /// # Errors
    /// When the engine cannot be asked.
    pub async fn counters_beside(&mut self, open: i64) -> Result<Counters, EngineError> {
        self.instruments.await_closed(open).await?;
        self.instruments.counters().await
    }

    /// Removes the store.
    ///
    /// # Errors
    /// When something still holds it.
    pub async fn remove(self) -> Result<(), EngineError> {
        self.instruments.close().await;
        self.store.close().await?;
        let mut opened = self.opened.lock().expect("nobody panics with the list");
        opened.retain(|other| !Arc::ptr_eq(other, &self.store));
        Ok(())
    }
}

/// The id of the event with that number, as a filled queue has it.
#[must_use]
pub fn event(number: u64) -> EventId {
    EventId::new(format!("event-{number:08}"))
}
