//! Checks what an engine declares to be able to do, with two sessions on a store of its own.
//!
//! A version string proves nothing: a clause may be accepted and ignored. What is declared and not
//! there is an error of its own; what is there and not declared is reported.

use std::time::{Duration, Instant as Watch};

use futures::future::join_all;
use leaseproof_engines::lease::{
    Claim, ClaimBatch, EventId, FencingToken, Instant, NewEvent, Strategy,
};
use leaseproof_engines::store::{
    Isolation, LockWait, Session, SessionOptions, Store, StoreOptions, Waiting,
};
use leaseproof_engines::{Capability, EngineError, ErrorKind};

use crate::harness::edited_store::closed;
use crate::harness::target::Target;

mod clock_and_ddl;

/// How long a probe's session waits for a lock where the engine declares that it need not: a refusal
/// that took long was a wait, and a slow machine must not be taken for one.
const PATIENT: Duration = Duration::from_secs(2);
/// How long it waits where the engine declares nothing, and a wait is what is expected.
const IMPATIENT: Duration = Duration::from_millis(100);

/// What became of one probe.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Probed {
    /// The capability.
    pub capability: Capability,
    /// Whether the engine declares it.
    pub declared: bool,
    /// Whether it is there; `None` where it could not be found out.
    pub found: Option<bool>,
    /// What was seen.
    pub detail: String,
}

impl Probed {
    /// Whether reality contradicts the declaration.
    #[must_use]
    pub fn is_contradiction(&self) -> bool {
        self.declared && self.found == Some(false)
    }
}

type Answer = Result<(bool, String), EngineError>;

/// Probes every capability, side by side: each has a store of its own.
pub async fn probe(target: &Target) -> Vec<Probed> {
    let probes = Capability::ALL.map(|capability| async move {
        let declared = target.engine.capabilities().contains(&capability);
        let (found, detail) = match one(target, capability, declared).await {
            Ok((found, detail)) => (Some(found), detail),
            Err(error) => (None, error.to_string()),
        };
        Probed { capability, declared, found, detail }
    });
    join_all(probes).await
}

async fn one(target: &Target, capability: Capability, declared: bool) -> Answer {
    match capability {
        Capability::SessionTimeZone => return clock_and_ddl::session_time_zone(target).await,
        Capability::SubSecondInstants => return clock_and_ddl::sub_second_instants(target).await,
        Capability::TransactionalDdl => return clock_and_ddl::transactional_ddl(target).await,
        _ => {}
    }
    let isolation = (capability == Capability::Serializable).then_some(Isolation::Serializable);
    let options = StoreOptions { isolation, ..StoreOptions::default() };
    let store = target.engine.open(&target.endpoint, options).await?;
    let answer = on_store(store.as_ref(), capability, declared).await;
    closed(store, answer).await
}

async fn on_store(store: &dyn Store, capability: Capability, declared: bool) -> Answer {
    let mut pair = Pair::open(store, if declared { PATIENT } else { IMPATIENT }).await?;
    match capability {
        Capability::ConcurrentWriters => pair.concurrent_writers().await,
        Capability::NoWait => pair.no_wait().await,
        Capability::Returning => pair.returning().await,
        Capability::Serializable => pair.serializable().await,
        Capability::SkipLocked => pair.skip_locked().await,
        Capability::Terminate => pair.terminate(store).await,
        Capability::UnlocksPassedRows => pair.unlocks_passed_rows().await,
        Capability::WaitObservation => pair.wait_observation(store).await,
        other => Err(EngineError::new(
            "leaseproof",
            "probe",
            ErrorKind::Fatal,
            format!("`{other}` has no probe"),
        )),
    }
}

/// Two sessions, and two events that both may claim.
struct Pair {
    a: Box<dyn Session>,
    b: Box<dyn Session>,
    lock_timeout: Duration,
}

fn event(number: u8) -> EventId {
    EventId::new(format!("event-{number}"))
}

fn claim(number: u8, token: &str) -> Claim {
    Claim {
        event: event(number),
        token: FencingToken::new(token),
        now: Instant(1),
        until: Instant(2),
    }
}

fn batch(token: &str, strategy: Strategy) -> ClaimBatch {
    let token = FencingToken::new(token);
    ClaimBatch { limit: 1, token, now: Instant(1), until: Instant(2), strategy }
}

impl Pair {
    async fn open(store: &dyn Store, lock_timeout: Duration) -> Result<Self, EngineError> {
        let options = SessionOptions { lock_timeout, ..SessionOptions::default() };
        let (a, b) = (store.session(&options).await?, store.session(&options).await?);
        let mut pair = Self { a, b, lock_timeout };
        let new = |number| NewEvent { event: event(number), due: Instant(0), enqueued: Instant(0) };
        pair.a.enqueue(&[new(1), new(2)]).await?;
        Ok(pair)
    }

    /// Whether an answer came without waiting for the other session's lock.
    fn at_once(&self, start: Watch) -> bool {
        start.elapsed() < self.lock_timeout / 2
    }

    async fn concurrent_writers(&mut self) -> Answer {
        self.a.begin().await?;
        self.a.claim(&claim(1, "a")).await?;
        match self.b.claim(&claim(2, "b")).await {
            Ok(_) => Ok((true, "both wrote, each in a transaction of its own".to_owned())),
            Err(error) if error.is_retryable() => {
                Ok((false, format!("the second writer was refused: {error}")))
            }
            Err(error) => Err(error),
        }
    }

    async fn no_wait(&mut self) -> Answer {
        self.a.begin().await?;
        self.a.lock(&event(1), LockWait::Block).await?;
        if let Err(error) = self.b.begin().await {
            return Ok((false, format!("a second transaction was refused: {error}")));
        }
        let start = Watch::now();
        match self.b.lock(&event(1), LockWait::NoWait).await {
            Ok(()) => {
                Ok((false, "the clause was ignored: a locked row was locked again".to_owned()))
            }
            Err(error) if error.is_retryable() && self.at_once(start) => {
                Ok((true, format!("refused at once: {error}")))
            }
            Err(error) if error.is_retryable() => {
                Ok((false, format!("refused only after a wait: {error}")))
            }
            Err(error) => Ok((false, error.to_string())),
        }
    }

    async fn returning(&mut self) -> Answer {
        match self.a.claim_batch(&batch("a", Strategy::UpdateReturning)).await {
            Ok(events) => Ok((events == [event(1)], format!("returned {events:?}"))),
            Err(error) if error.kind == ErrorKind::Fatal => Ok((false, error.to_string())),
            Err(error) => Err(error),
        }
    }

    /// Write skew: each reads both rows and writes the one that the other does not.
    async fn serializable(&mut self) -> Answer {
        self.a.begin_snapshot().await?;
        if let Err(error) = self.b.begin_snapshot().await {
            return Ok((false, format!("the second reader was refused: {error}")));
        }
        for outcome in [self.a.claim(&claim(1, "a")).await, self.b.claim(&claim(2, "b")).await] {
            if let Err(error) = outcome {
                return Ok((false, format!("a write was refused, not a commit: {error}")));
            }
        }
        let commits = [self.a.commit().await, self.b.commit().await];
        match commits.iter().find_map(|commit| commit.as_ref().err()) {
            Some(error) => Ok((true, format!("one commit was refused: {error}"))),
            None => Ok((false, "both commits were accepted".to_owned())),
        }
    }

    async fn skip_locked(&mut self) -> Answer {
        self.a.begin().await?;
        let first = match self.a.claim_batch(&batch("a", Strategy::SkipLocked)).await {
            Err(error) if error.kind == ErrorKind::Fatal => return Ok((false, error.to_string())),
            outcome => outcome?,
        };
        let start = Watch::now();
        match self.b.claim_batch(&batch("b", Strategy::SkipLocked)).await {
            Ok(second) if second == first => {
                Ok((false, "the clause was ignored: both got one row".to_owned()))
            }
            Ok(second) if second.is_empty() => Ok((false, "a free row was not found".to_owned())),
            Ok(_) if !self.at_once(start) => {
                Ok((false, "the locked row was waited for".to_owned()))
            }
            Ok(second) => Ok((true, format!("the locked row was passed over for {second:?}"))),
            Err(error) if error.is_retryable() => {
                Ok((false, format!("the locked row was waited for: {error}")))
            }
            Err(error) => Err(error),
        }
    }

    async fn terminate(&mut self, store: &dyn Store) -> Answer {
        if let Err(error) = store.observer().await?.terminate(self.b.id()).await {
            return Ok((false, error.to_string()));
        }
        match self.b.candidates(1, Instant(1)).await {
            Err(error) if error.kind == ErrorKind::Unavailable => {
                Ok((true, format!("the session ended: {error}")))
            }
            other => Ok((false, format!("the session went on: {other:?}"))),
        }
    }

    async fn unlocks_passed_rows(&mut self) -> Answer {
        let held = claim(1, "a");
        self.a.claim(&held).await?;
        self.b.begin().await?;
        match self.b.claim_batch(&batch("b", Strategy::SkipLocked)).await {
            Err(error) if error.kind == ErrorKind::Fatal => return Ok((false, error.to_string())),
            outcome => drop(outcome?),
        }
        let start = Watch::now();
        match self.a.ack(&held.event, &held.token, held.now).await {
            Ok(_) if self.at_once(start) => {
                Ok((true, "a row that was passed over could be written".to_owned()))
            }
            Ok(_) => Ok((false, "a row that was passed over was waited for".to_owned())),
            Err(error) if error.is_retryable() => {
                Ok((false, format!("a row that was passed over was waited for: {error}")))
            }
            Err(error) => Err(error),
        }
    }

    async fn wait_observation(&mut self, store: &dyn Store) -> Answer {
        let mut observer = store.observer().await?;
        self.a.begin().await?;
        self.a.claim(&claim(1, "a")).await?;
        let waiter = self.b.id();
        let theirs = claim(1, "b");
        let mut blocked = std::pin::pin!(self.b.claim(&theirs));
        let mut looks = tokio::time::interval(Duration::from_millis(5));
        loop {
            tokio::select! {
                biased;
                outcome = blocked.as_mut() => {
                    return Ok((false, format!("it was not seen before it ended: {outcome:?}")));
                }
                _ = looks.tick() => match observer.waiting(waiter).await? {
                    Waiting::Waiting => break,
                    Waiting::NotWaiting => {}
                    Waiting::NotObservable => {
                        return Ok((false, "this user may not see lock waits".to_owned()));
                    }
                },
            }
        }
        self.a.rollback().await?;
        blocked.await?;
        Ok((true, "the waiting session was seen".to_owned()))
    }
}
