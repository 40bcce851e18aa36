//! Locks held on purpose, behind which attempts queue up before any of them can take effect.
//!
//! Whoever waits here was seen waiting while the lock was held: that is the proof that attempts
//! overlapped. An attempt that returned too early has no such proof, but its answer is judged all the
//! same: a wrong answer is a broken promise, a right one without proof is inconclusive.

use std::future::Future;
use std::pin::{Pin, pin};

use futures::future::{MaybeDone, join, join_all, maybe_done};
use leaseproof_engines::lease::EventId;
use leaseproof_engines::store::{LockWait, SessionId};

use crate::harness::actor::Actor;
use crate::harness::context::{Context, Progress};
use crate::harness::finding::Finding;

/// How an open transaction ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// It takes effect.
    Commit,
    /// It never was.
    Rollback,
}

/// Which of two attempts queues up first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arrival {
    /// The one named first.
    AsGiven,
    /// The one named second.
    Reversed,
}

/// One party's attempt at a row that is locked.
pub struct Attempt<F> {
    /// The session that makes it.
    pub session: SessionId,
    /// Whether it would take effect on the row as it stands. An engine may answer any other at
    /// once, since waiting could not make it succeed.
    pub waits: bool,
    /// The operation.
    pub operation: F,
}

/// Whether every attempt that had to wait was seen waiting.
///
/// Demanded after the answers were judged: a wrong answer is a broken promise with or without it.
#[must_use = "a race without proof of overlap has not been one"]
pub struct Proof {
    missing: Option<Finding>,
    early: bool,
}

impl Proof {
    /// Whether an attempt that had to wait is known not to have done so.
    #[must_use]
    pub fn returned_early(&self) -> bool {
        self.early
    }

    /// Goes on when the attempts overlapped.
    ///
    /// # Errors
    /// [`Finding::Inconclusive`] otherwise.
    pub fn demand(self) -> Result<(), Finding> {
        self.missing.map_or(Ok(()), Err)
    }
}

/// Drives an attempt until it is seen waiting for the open transaction of `holder`, then ends that transaction.
///
/// # Errors
/// The engine's, when the transaction cannot be ended.
pub async fn behind<F: Future>(
    context: &Context,
    holder: &mut Actor,
    end: End,
    waiter: SessionId,
    attempt: F,
) -> Result<(F::Output, Proof), Finding> {
    let mut attempt = pin!(attempt);
    let queued = queue(context, waiter, attempt.as_mut()).await;
    match end {
        End::Commit => holder.commit().await?,
        End::Rollback => holder.rollback().await?,
    }
    let proof = Proof { early: queued.answer.is_some(), missing: queued.missing };
    Ok((finish(queued.answer, attempt).await, proof))
}

/// Lets two attempts queue up behind the lock of `keeper`, then lets go; answers come as given.
///
/// Which of them the engine serves first is its own affair.
///
/// # Errors
/// The engine's, when the lock cannot be had or given up.
pub async fn released<A: Future, B: Future>(
    context: &Context,
    keeper: &mut Actor,
    event: &EventId,
    arrival: Arrival,
    (one, two): (Attempt<A>, Attempt<B>),
) -> Result<((A::Output, B::Output), Proof), Finding> {
    keeper.begin().await?;
    keeper.lock(event, LockWait::Block).await?;
    let (mut left, mut right) = (pin!(one.operation), pin!(two.operation));
    // Whoever came first stays behind the lock while the other arrives: nobody lets go before the end.
    let (left_queued, right_queued) = match arrival {
        Arrival::AsGiven => {
            let first = queue(context, one.session, left.as_mut()).await;
            (first, queue(context, two.session, right.as_mut()).await)
        }
        Arrival::Reversed => {
            let first = queue(context, two.session, right.as_mut()).await;
            (queue(context, one.session, left.as_mut()).await, first)
        }
    };
    keeper.rollback().await?;
    let early =
        left_queued.answer.is_some() && one.waits || right_queued.answer.is_some() && two.waits;
    let missing = left_queued.missing.filter(|_| one.waits);
    let missing = missing.or(right_queued.missing.filter(|_| two.waits));
    let left = finish(left_queued.answer, left);
    let right = finish(right_queued.answer, right);
    Ok((join(left, right).await, Proof { missing, early }))
}

/// Lets any number of attempts queue up behind the lock of `keeper`, then lets go; answers come as given.
///
/// It does not go on waiting for one that has returned: every attempt is waiting or over when the lock is
/// given up.
///
/// # Errors
/// The engine's, when the lock cannot be had or given up.
pub async fn all_released<F: Future>(
    context: &Context,
    keeper: &mut Actor,
    event: &EventId,
    attempts: Vec<(SessionId, F)>,
) -> Result<(Vec<F::Output>, Proof), Finding> {
    keeper.begin().await?;
    keeper.lock(event, LockWait::Block).await?;
    let mut crowd = Crowd::new(attempts);
    let proof = crowd.queue(context).await;
    keeper.rollback().await?;
    Ok((crowd.answers().await, proof))
}

/// Attempts that are under way at the same time.
pub struct Crowd<F: Future> {
    sessions: Vec<SessionId>,
    attempts: Vec<Pin<Box<MaybeDone<F>>>>,
}

impl<F: Future> Crowd<F> {
    /// Attempts that nobody has begun, each with the session that makes it.
    #[must_use]
    pub fn new(attempts: Vec<(SessionId, F)>) -> Self {
        let boxed = |(session, attempt)| (session, Box::pin(maybe_done(attempt)));
        let (sessions, attempts) = attempts.into_iter().map(boxed).unzip();
        Self { sessions, attempts }
    }

    /// Drives them until each is seen waiting for a lock or has returned.
    pub async fn queue(&mut self, context: &Context) -> Proof {
        match context.until_crowded(self).await {
            Ok(0) => Proof { missing: None, early: false },
            Ok(early) => {
                let seen = format!(
                    "no proof of overlap: {early} of {} attempts returned although the row was locked",
                    self.sessions.len()
                );
                Proof { missing: Some(Finding::Inconclusive(seen)), early: true }
            }
            Err(finding) => Proof { missing: Some(finding), early: false },
        }
    }

    /// The sessions whose attempts have not returned.
    pub(super) fn under_way(&self) -> Vec<SessionId> {
        let running = self.sessions.iter().zip(&self.attempts);
        running
            .filter(|(_, attempt)| matches!(***attempt, MaybeDone::Future(_)))
            .map(|(session, _)| *session)
            .collect()
    }

    /// Drives every attempt to its end.
    pub(super) async fn run(&mut self) {
        join_all(self.attempts.iter_mut().map(|attempt| attempt.as_mut())).await;
    }

    /// Every answer, in the order of the attempts.
    pub async fn answers(mut self) -> Vec<F::Output> {
        self.run().await;
        self.attempts.iter_mut().filter_map(|attempt| attempt.as_mut().take_output()).collect()
    }
}

/// An attempt that waits, or what it returned instead.
struct Queued<T> {
    answer: Option<T>,
    missing: Option<Finding>,
}

async fn queue<F: Future>(
    context: &Context,
    session: SessionId,
    attempt: Pin<&mut F>,
) -> Queued<F::Output> {
    let returned = "no proof of overlap: an attempt returned although the row was locked";
    match context.until_waiting(&[session], attempt).await {
        Ok(Progress::Waiting) => Queued { answer: None, missing: None },
        Ok(Progress::Finished(answer)) => Queued {
            answer: Some(answer),
            missing: Some(Finding::Inconclusive(returned.to_owned())),
        },
        Err(finding) => Queued { answer: None, missing: Some(finding) },
    }
}

async fn finish<F: Future>(answer: Option<F::Output>, attempt: Pin<&mut F>) -> F::Output {
    match answer {
        Some(answer) => answer,
        None => attempt.await,
    }
}
