//! Sends every operation of a session through a [`SessionFault`].

use std::sync::Arc;

use async_trait::async_trait;
use leaseproof_engines::capability::StoreCapability;
use leaseproof_engines::lease::{
    Acked, Backlog, Claim, ClaimBatch, Claimed, Confirmed, EventId, EventRow, FencingToken,
    Instant, NewEvent, Released, Renewed, Reserved,
};
use leaseproof_engines::store::{
    LockWait, Observer, Result, Session, SessionId, SessionOptions, Store,
};

use super::SessionFault;

/// A store whose sessions have a fault.
pub(crate) struct FaultyStore {
    pub(crate) inner: Arc<dyn Store>,
    pub(crate) fault: fn() -> Box<dyn SessionFault>,
}

#[async_trait]
impl Store for FaultyStore {
    fn capabilities(&self) -> &'static [StoreCapability] {
        self.inner.capabilities()
    }

    async fn session(&self, options: &SessionOptions) -> Result<Box<dyn Session>> {
        Ok(Box::new(FaultySession {
            inner: self.inner.session(options).await?,
            fault: (self.fault)(),
        }))
    }

    async fn observer(&self) -> Result<Box<dyn Observer>> {
        self.inner.observer().await
    }

    async fn close(&self) -> Result<()> {
        self.inner.close().await
    }
}

struct FaultySession {
    inner: Box<dyn Session>,
    fault: Box<dyn SessionFault>,
}

/// Sends each operation through the fault.
macro_rules! through_fault {
    ($($operation:ident($($argument:ident: $kind:ty),*) -> $output:ty;)+) => {
        #[async_trait]
        impl Session for FaultySession {
            fn id(&self) -> SessionId {
                self.inner.id()
            }

            $(async fn $operation(&mut self, $($argument: $kind),*) -> Result<$output> {
                match self.fault.$operation(self.inner.as_mut(), $($argument),*).await {
                    Err(error) => Err(self.fault.failed(self.inner.as_mut(), error).await),
                    answer => answer,
                }
            })+

            async fn event(&mut self, event: &EventId) -> Result<Option<EventRow>> {
                self.inner.event(event).await
            }

            async fn effects(&mut self, consumer: &str, event: &EventId) -> Result<i64> {
                self.inner.effects(consumer, event).await
            }

            async fn close(self: Box<Self>) {
                self.inner.close().await;
            }
        }
    };
}

through_fault! {
    begin() -> ();
    begin_snapshot() -> ();
    commit() -> ();
    rollback() -> ();
    enqueue(events: &[NewEvent]) -> u64;
    candidates(limit: u32, now: Instant) -> Vec<EventId>;
    claim(claim: &Claim) -> Claimed;
    claim_batch(batch: &ClaimBatch) -> Vec<EventId>;
    renew(event: &EventId, token: &FencingToken, now: Instant, until: Instant) -> Renewed;
    confirm(event: &EventId, token: &FencingToken, now: Instant) -> Confirmed;
    ack(event: &EventId, token: &FencingToken, now: Instant) -> Acked;
    release(event: &EventId, token: &FencingToken) -> Released;
    dead_letter(limit: u32, now: Instant) -> Vec<EventId>;
    lock(event: &EventId, wait: LockWait) -> ();
    reserve(consumer: &str, event: &EventId) -> Reserved;
    apply_effect(consumer: &str, event: &EventId) -> ();
    backlog(now: Instant) -> Backlog;
}
