//! Sessions that go on after the engine has ended their transaction, each in the way of some driver or loop.

use async_trait::async_trait;
use leaseproof_engines::EngineError;
use leaseproof_engines::lease::{Acked, EventId, FencingToken, Instant, Renewed};
use leaseproof_engines::store::{Result, Session};

use super::SessionFault;
use crate::worker::CONSUMER;

/// The server has rolled back; what follows is in autocommit, and `COMMIT` ends nothing.
#[derive(Default)]
pub struct TailAlone(bool);

#[async_trait]
impl SessionFault for TailAlone {
    async fn begin(&mut self, session: &mut dyn Session) -> Result<()> {
        self.0 = false;
        session.begin().await
    }

    async fn failed(&mut self, session: &mut dyn Session, error: EngineError) -> EngineError {
        if error.is_retryable() {
            drop(session.rollback().await);
            self.0 = true;
        }
        error
    }

    async fn commit(&mut self, session: &mut dyn Session) -> Result<()> {
        if self.0 { Ok(()) } else { session.commit().await }
    }

    async fn rollback(&mut self, session: &mut dyn Session) -> Result<()> {
        if self.0 { Ok(()) } else { session.rollback().await }
    }
}

/// Begins again for what is left of the transaction.
pub struct TailInNewUnit;

#[async_trait]
impl SessionFault for TailInNewUnit {
    async fn failed(&mut self, session: &mut dyn Session, error: EngineError) -> EngineError {
        if error.is_retryable() {
            drop(session.rollback().await);
            drop(session.begin().await);
        }
        error
    }
}

/// The server has undone the failed statement; the transaction is open, and `COMMIT` takes the rest.
#[derive(Default)]
pub struct KeepsHead(Vec<EventId>);

#[async_trait]
impl SessionFault for KeepsHead {
    async fn begin(&mut self, session: &mut dyn Session) -> Result<()> {
        self.0.clear();
        session.begin().await
    }

    async fn apply_effect(
        &mut self,
        session: &mut dyn Session,
        consumer: &str,
        event: &EventId,
    ) -> Result<()> {
        session.apply_effect(consumer, event).await?;
        self.0.push(event.clone());
        Ok(())
    }

    async fn failed(&mut self, session: &mut dyn Session, error: EngineError) -> EngineError {
        if error.is_retryable() {
            drop(session.rollback().await);
            drop(session.begin().await);
            for event in &self.0 {
                drop(session.apply_effect(CONSUMER, event).await);
            }
        }
        error
    }
}

/// Runs the failed statement once more, by itself, as if its transaction were still there.
#[derive(Default)]
pub struct RepeatsStatement {
    unit_lost: bool,
}

impl RepeatsStatement {
    async fn loses_unit(&mut self, session: &mut dyn Session) -> Result<()> {
        self.unit_lost = true;
        session.rollback().await
    }
}

#[async_trait]
impl SessionFault for RepeatsStatement {
    async fn commit(&mut self, session: &mut dyn Session) -> Result<()> {
        match std::mem::take(&mut self.unit_lost) {
            true => Ok(()),
            false => session.commit().await,
        }
    }

    async fn renew(
        &mut self,
        session: &mut dyn Session,
        event: &EventId,
        token: &FencingToken,
        now: Instant,
        until: Instant,
    ) -> Result<Renewed> {
        match session.renew(event, token, now, until).await {
            Err(error) if error.is_retryable() => {
                self.loses_unit(session).await?;
                session.renew(event, token, now, until).await
            }
            answer => answer,
        }
    }

    async fn ack(
        &mut self,
        session: &mut dyn Session,
        event: &EventId,
        token: &FencingToken,
        now: Instant,
    ) -> Result<Acked> {
        match session.ack(event, token, now).await {
            Err(error) if error.is_retryable() => {
                self.loses_unit(session).await?;
                session.ack(event, token, now).await
            }
            answer => answer,
        }
    }
}
