//! Stores that break `ack/bulk-locks-in-order`.

use crate::controls::transactions::RepeatsStatement;
use crate::controls::{Control, Planted, SessionFault};
use async_trait::async_trait;
use leaseproof_engines::lease::{Acked, EventId, FencingToken, Instant, Renewed};
use leaseproof_engines::store::{self, Session};
use leaseproof_engines::{EngineError, ErrorKind};

/// Each must be found broken.
pub(super) static CONTROLS: &[Control] = &[
    Control::new("deadlock-is-not-classified", &[Planted::Session(|| Box::new(Unclassified))])
        .seen_in("treasure-data/digdag#1475, datahub-project/datahub#19029"),
    Control::new(
        "statement-is-repeated-instead-of-the-unit",
        &[Planted::Session(|| Box::<RepeatsStatement>::default())],
    ),
];

/// Passes the engine's error on as one that nobody is told to retry.
struct Unclassified;

#[async_trait]
impl SessionFault for Unclassified {
    async fn renew(
        &mut self,
        session: &mut dyn Session,
        event: &EventId,
        token: &FencingToken,
        now: Instant,
        until: Instant,
    ) -> store::Result<Renewed> {
        session.renew(event, token, now, until).await.map_err(unclassified)
    }

    async fn ack(
        &mut self,
        session: &mut dyn Session,
        event: &EventId,
        token: &FencingToken,
        now: Instant,
    ) -> store::Result<Acked> {
        session.ack(event, token, now).await.map_err(unclassified)
    }
}

fn unclassified(mut error: EngineError) -> EngineError {
    error.kind = ErrorKind::Fatal;
    error
}
