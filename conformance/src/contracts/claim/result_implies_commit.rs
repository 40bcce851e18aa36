//! A claim that is reported to the caller is committed; one whose commit failed is not reported.
//!
//! # Promise
//! Once a worker was told that it owns an event, and the transaction of that claim was committed, everybody
//! sees the claim. A claim that is not committed belongs to nobody: when its transaction is rolled back, when
//! its connection is lost, or when the commit itself fails, the worker gets an error or `NotClaimed`,
//! and another worker can claim the event at once.
//!
//! # Steps
//! By a claim of one event, and by a claim of a batch:
//! 1. A claims in a transaction and rolls back; A claims in a transaction and its connection is closed.
//! 2. A claims in a transaction whose commit fails: its connection is cut before; or, at SERIALIZABLE where
//!    the engine has it, another transaction has committed what cannot be true beside it; or, where no
//!    connection can be cut, a reader holds the file until A gives up.
//! 3. A claims outside of a transaction, and the claim cannot be committed: its connection is cut while it
//!    waits for the row; or, where none can be cut, a reader holds the file until A gives up. A gets an
//!    error, and no answer of any kind.
//! 4. Where a lock can be refused at once: A claims in a transaction, a later statement of that transaction fails,
//!    and A commits all the same.
//! 5. A claims, outside of a transaction and in one that it commits: for another session it is A's at once,
//!    until its deadline.
//!
//! After 1 to 4 the event must be free and B must get it. A commit that reports success must have happened.
//!
//! # How a violation looks
//! A works on an event that is not its own: B claims it too, and it is published twice.
//!
//! # Source
//! `dotnet/efcore#30851`: rows are handed out before the implicit commit, whose failure was swallowed.

use std::collections::BTreeMap;
use std::pin::pin;
use std::time::Duration;

use leaseproof_engines::capability::StoreCapability;
use leaseproof_engines::lease::{Acked, ClaimBatch, Claimed, EventId, FencingToken, NewEvent};
use leaseproof_engines::store::{
    Isolation, Journal, LockWait, Result as Answer, SessionOptions, StoreOptions,
};
use leaseproof_engines::{Capability, EngineError};
use leaseproof_reports::Level;

use crate::contract::{Clocks, Contract, Scope};
use crate::harness::actor::{Actor, Way};
use crate::harness::context::{Context, Progress};
use crate::harness::finding::{Finding, Judged, check, check_eq};
use crate::harness::standing::{Standing, check_attempts, check_standing};

mod controls;

/// See the module's documentation.
pub static CONTRACT: Contract = Contract {
    id: "claim/result-implies-commit",
    promise: "a claim that is reported is committed, and one whose commit failed is not reported",
    level: Level::Core,
    requires: &[],
    offers: &[StoreCapability::CallerTransactions, StoreCapability::ConcurrentSessions],
    scope: Scope::EachStrategy,
    clocks: Clocks::Any,
    source: "dotnet/efcore#30851",
    controls: controls::CONTROLS,
    doc: include_str!("result_implies_commit.rs"),
    run: |context| Box::pin(run(context)),
};

async fn run(context: &Context) -> Judged {
    let mut case = Case::new(context, SessionOptions::default()).await?;
    for way in Way::BOTH {
        case.rolled_back(way).await?;
        case.closed(way).await?;
        if context.has(Capability::Terminate) {
            case.cut_in_unit(way).await?;
            case.cut_while_waiting(way).await?;
        }
        if context.has(Capability::NoWait) {
            case.failed_later(way).await?;
        }
        case.seen_at_once(way).await?;
    }
    let mut evidence = case.evidence();
    if context.has(Capability::Serializable) {
        let isolation = Some(Isolation::Serializable);
        let options = StoreOptions { isolation, ..StoreOptions::default() };
        let serializable = context.on_another_store(options).await?;
        let mut case = Case::new(&serializable, SessionOptions::default()).await?;
        case.conflict().await?;
        evidence.extend(case.evidence());
    }
    if !context.has(Capability::Terminate) {
        let options = StoreOptions { journal: Journal::Delete, ..StoreOptions::default() };
        let held = context.on_another_store(options).await?;
        let lock_timeout = Duration::from_millis(60);
        let impatient = SessionOptions { lock_timeout, ..SessionOptions::default() };
        let mut case = Case::new(&held, impatient).await?;
        for way in Way::BOTH {
            case.busy_commit(way).await?;
            case.busy_claim(way).await?;
        }
        evidence.extend(case.evidence());
    }
    Ok(evidence)
}

/// What became of a claim whose connection was to be cut.
enum Cut {
    /// It was waiting when it was cut.
    Claim(Answer<bool>),
    /// It had answered before.
    Nothing(Answer<bool>),
}

struct Case<'case> {
    context: &'case Context,
    options: SessionOptions,
    a: Actor,
    b: Actor,
    events: usize,
    refused: BTreeMap<String, usize>,
}

impl<'case> Case<'case> {
    async fn new(context: &'case Context, options: SessionOptions) -> Result<Self, Finding> {
        let a = context.actor_with("A", &options).await?;
        let b = context.actor("B").await?;
        Ok(Self { context, options, a, b, events: 0, refused: BTreeMap::new() })
    }

    /// A with a connection of its own again; the old one.
    async fn reconnect_a(&mut self) -> Result<Actor, Finding> {
        let a = self.context.actor_with("A", &self.options).await?;
        Ok(std::mem::replace(&mut self.a, a))
    }

    fn evidence(&self) -> Vec<String> {
        let line = |(when, count): (&String, &usize)| format!("{when}: refused {count} times");
        self.refused.iter().map(line).collect()
    }

    /// The one event that is pending.
    async fn event(&mut self) -> Result<EventId, Finding> {
        self.events += 1;
        Ok(self.context.enqueued(&mut self.b, &format!("EVENT-{}", self.events)).await?)
    }

    fn batch(&self) -> ClaimBatch {
        self.context.batch("A", 1, self.context.at(100), self.context.at(150))
    }

    /// A claims a new event in a transaction that stays open.
    async fn claimed(&mut self, way: Way) -> Result<(EventId, FencingToken), Finding> {
        let event = self.event().await?;
        let batch = self.batch();
        self.a.begin().await?;
        let claimed = self.a.claim_by(way, &event, &batch).await?;
        check_eq("A claims in a transaction and gets the event", claimed, true)?;
        Ok((event, batch.token))
    }

    async fn rolled_back(&mut self, way: Way) -> Result<(), Finding> {
        let (event, _) = self.claimed(way).await?;
        self.a.rollback().await?;
        self.free_for_b("A rolled its claim back", &event).await
    }

    async fn closed(&mut self, way: Way) -> Result<(), Finding> {
        let (event, _) = self.claimed(way).await?;
        self.reconnect_a().await?.close().await;
        self.free_for_b("A's connection was closed before its commit", &event).await
    }

    async fn cut_in_unit(&mut self, way: Way) -> Result<(), Finding> {
        let (event, token) = self.claimed(way).await?;
        self.context.terminate(self.a.id()).await?;
        let committed = self.reconnect_a().await?.commit().await;
        self.not_committed("the connection was cut before a commit", committed, &event, &token)
            .await
    }

    async fn cut_while_waiting(&mut self, way: Way) -> Result<(), Finding> {
        let event = self.event().await?;
        let (batch, waiter) = (self.batch(), self.a.id());
        self.b.begin().await?;
        self.b.lock(&event, LockWait::Block).await?;
        let claimed = {
            let mut claim = pin!(self.a.claim_by(way, &event, &batch));
            match self.context.until_waiting(&[waiter], claim.as_mut()).await? {
                Progress::Waiting => {
                    self.context.terminate(waiter).await?;
                    Cut::Claim(claim.await)
                }
                // A strategy that passes over locked rows has no wait in which to be cut.
                Progress::Finished(claimed) => Cut::Nothing(claimed),
            }
        };
        self.b.rollback().await?;
        self.reconnect_a().await?;
        let when = "the connection was cut while a claim waited";
        match claimed {
            Cut::Claim(claimed) => self.no_answer(when, claimed, &event).await,
            Cut::Nothing(claimed) => {
                check(!claimed?, || {
                    format!("A was told that it owns {event}, which B had locked")
                })?;
                self.free_for_b("B held the event, and A's claim passed it over", &event).await
            }
        }
    }

    /// The transaction fails after its claim, and A commits all the same.
    async fn failed_later(&mut self, way: Way) -> Result<(), Finding> {
        let locked = EventId::new(format!("LOCKED-{way:?}"));
        // Due later than what A claims, so that A's claim does not look as far.
        let later = NewEvent { due: self.context.at(90), ..self.context.new_event(&locked.0) };
        self.b.enqueue(&[later]).await?;
        let (event, token) = self.claimed(way).await?;
        self.b.begin().await?;
        self.b.lock(&locked, LockWait::Block).await?;
        let refused = self.a.lock(&locked, LockWait::NoWait).await;
        let committed = self.a.commit().await;
        self.b.rollback().await?;
        self.free_for_b("nobody has claimed it", &locked).await?;
        match refused {
            Err(error) if error.is_retryable() => {}
            Err(error) => return Err(Finding::Errored(error)),
            Ok(()) => {
                let seen =
                    format!("no statement failed: A could lock {locked}, which B had locked");
                return Err(Finding::Inconclusive(seen));
            }
        }
        self.not_committed("a statement had failed before a commit", committed, &event, &token)
            .await
    }

    /// Two transactions read the queue and claim different events: no serial order explains both.
    async fn conflict(&mut self) -> Result<(), Finding> {
        let mut c = self.context.actor("C").await?;
        let (first, second) = (self.event().await?, self.event().await?);
        self.a.begin_snapshot().await?;
        c.begin_snapshot().await?;
        let (one, two) = (self.batch(), self.batch());
        check_eq("A claims the first event", self.a.claim_by(Way::One, &first, &one).await?, true)?;
        let claimed = c.claim_by(Way::One, &second, &two).await;
        self.a.commit().await?;
        let committed = match claimed {
            // The engine may know as early as here.
            Err(error) if error.is_retryable() => {
                c.rollback().await?;
                Err(error)
            }
            claimed => {
                check_eq("C claims the second event", claimed?, true)?;
                c.commit().await
            }
        };
        self.not_committed("a commit was not serializable", committed, &second, &two.token).await?;
        let acked = self.a.ack(&first, &one.token, self.context.at(110)).await?;
        check_eq("A acks what it has committed", acked, Acked::Acked)
    }

    /// A reader holds the file, so that A's commit is busy until A's patience is over.
    async fn busy_commit(&mut self, way: Way) -> Result<(), Finding> {
        let (event, token) = self.claimed(way).await?;
        let mut reader = self.context.actor("reader").await?;
        reader.begin_snapshot().await?;
        let committed = self.a.commit().await;
        reader.rollback().await?;
        self.not_committed("a reader held off a commit", committed, &event, &token).await
    }

    /// The same for a claim that is a transaction of its own.
    async fn busy_claim(&mut self, way: Way) -> Result<(), Finding> {
        let event = self.event().await?;
        let mut reader = self.context.actor("reader").await?;
        reader.begin_snapshot().await?;
        let claimed = self.a.claim_by(way, &event, &self.batch()).await;
        reader.rollback().await?;
        self.no_answer("a reader held off the commit of a claim", claimed, &event).await
    }

    async fn seen_at_once(&mut self, way: Way) -> Result<(), Finding> {
        for in_unit in [false, true] {
            let event = self.event().await?;
            let batch = self.batch();
            if in_unit {
                self.a.begin().await?;
            }
            let claimed = self.a.claim_by(way, &event, &batch).await?;
            check_eq("A claims and gets the event", claimed, true)?;
            if in_unit {
                self.a.commit().await?;
            }
            let step =
                format!("A has claimed {event}, in a transaction that it committed: {in_unit}");
            let held = Standing::held(&batch.token, batch.until);
            check_standing(&step, &mut self.b, &event, &held).await?;
            let acked = self.a.ack(&event, &batch.token, self.context.at(110)).await?;
            check_eq("A acks", acked, Acked::Acked)?;
        }
        Ok(())
    }

    /// A commit that could not happen says so, and nothing of its transaction is there.
    async fn not_committed(
        &mut self,
        when: &str,
        committed: Result<(), EngineError>,
        event: &EventId,
        token: &FencingToken,
    ) -> Result<(), Finding> {
        if committed.is_err() {
            *self.refused.entry(when.to_owned()).or_default() += 1;
            return self.free_for_b(when, event).await;
        }
        let step = format!("{when}, and the commit was reported as done");
        let held = Standing::held(token, self.context.at(150));
        check_standing(&step, &mut self.b, event, &held).await?;
        Err(Finding::Inconclusive(format!("the commit could not be made to fail: {when}")))
    }

    /// A claim that could not be committed was not answered, and nothing of it is there.
    async fn no_answer(
        &mut self,
        when: &str,
        claimed: Result<bool, EngineError>,
        event: &EventId,
    ) -> Result<(), Finding> {
        check(claimed.is_err(), || {
            let told = match claimed {
                Ok(true) => "it owns the event",
                _ => "there is nothing for it",
            };
            format!(
                "{when}: A claimed {event}, which was free, and was told that {told}, where an error was promised"
            )
        })?;
        *self.refused.entry(when.to_owned()).or_default() += 1;
        self.free_for_b(when, event).await
    }

    /// B claims the event as its first owner, and acks it.
    async fn free_for_b(&mut self, when: &str, event: &EventId) -> Result<(), Finding> {
        let (now, until) = (self.context.at(100), self.context.at(150));
        let token = self.context.token("B");
        let claimed = self.b.claim(event, &token, now, until).await?;
        check_eq(&format!("{when}: B claims {event}"), claimed, Claimed::Claimed)?;
        check_attempts(&format!("{when}: B has claimed"), &mut self.b, event, 1).await?;
        let acked = self.b.ack(event, &token, self.context.at(110)).await?;
        check_eq("B acks", acked, Acked::Acked)
    }
}
