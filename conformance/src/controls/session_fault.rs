//! What a session can do wrong that no statement expresses.

use async_trait::async_trait;
use leaseproof_engines::EngineError;
use leaseproof_engines::lease::{
    Acked, Backlog, Claim, ClaimBatch, Claimed, Confirmed, EventId, FencingToken, Instant,
    NewEvent, Released, Renewed, Reserved,
};
use leaseproof_engines::store::{LockWait, Result, Session};

/// One thing that a session does wrong. Every operation goes to the real session unless overridden.
#[async_trait]
pub trait SessionFault: Send {
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
