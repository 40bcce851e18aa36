//! Sessions that answer something else than the engine did.

use async_trait::async_trait;
use leaseproof_engines::lease::{EventId, NewEvent, Reserved};
use leaseproof_engines::store::{Result, Session};
use leaseproof_engines::{EngineError, ErrorKind};

use super::SessionFault;

/// Takes every reservation for a new one.
pub struct EverNew;

#[async_trait]
impl SessionFault for EverNew {
    async fn reserve(
        &mut self,
        session: &mut dyn Session,
        consumer: &str,
        event: &EventId,
    ) -> Result<Reserved> {
        session.reserve(consumer, event).await.map(|_| Reserved::Reserved)
    }
}

/// Takes every reservation for a duplicate.
pub struct NeverNew;

#[async_trait]
impl SessionFault for NeverNew {
    async fn reserve(
        &mut self,
        session: &mut dyn Session,
        consumer: &str,
        event: &EventId,
    ) -> Result<Reserved> {
        session.reserve(consumer, event).await.map(|_| Reserved::Duplicate)
    }
}

/// Reports some errors as being of another kind.
struct Misreports {
    concerns: fn(&EngineError) -> bool,
    kind: ErrorKind,
}

/// A session that reports the errors which `concerns` picks as being of another kind.
#[must_use]
pub fn misreports(concerns: fn(&EngineError) -> bool, kind: ErrorKind) -> Box<dyn SessionFault> {
    Box::new(Misreports { concerns, kind })
}

/// Whether the error has one of the codes.
#[must_use]
pub fn coded(error: &EngineError, codes: &[&str]) -> bool {
    error.code.as_deref().is_some_and(|code| codes.contains(&code))
}

#[async_trait]
impl SessionFault for Misreports {
    async fn failed(&mut self, _session: &mut dyn Session, mut error: EngineError) -> EngineError {
        if (self.concerns)(&error) {
            error.kind = self.kind;
        }
        error
    }
}

/// Does not look at what `COMMIT` returned.
pub struct SwallowsAtCommit;

#[async_trait]
impl SessionFault for SwallowsAtCommit {
    async fn commit(&mut self, session: &mut dyn Session) -> Result<()> {
        drop(session.commit().await);
        Ok(())
    }
}

/// Takes a refused write for one that changed nothing.
pub struct SwallowsRefusal;

#[async_trait]
impl SessionFault for SwallowsRefusal {
    async fn enqueue(&mut self, session: &mut dyn Session, events: &[NewEvent]) -> Result<u64> {
        match session.enqueue(events).await {
            Err(error) if error.kind == ErrorKind::Fenced => Ok(0),
            answer => answer,
        }
    }
}

/// Keeps the engine's words and not its code.
pub struct ForgetsCode;

#[async_trait]
impl SessionFault for ForgetsCode {
    async fn failed(&mut self, _session: &mut dyn Session, mut error: EngineError) -> EngineError {
        error.code = None;
        error
    }
}
