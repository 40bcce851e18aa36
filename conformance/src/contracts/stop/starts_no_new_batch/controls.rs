//! Stores that break `stop/starts-no-new-batch`.

use crate::controls::{Control, Planted, SessionFault};
use crate::worker::WorkerFault;
use async_trait::async_trait;
use leaseproof_engines::lease::{Acked, Claim, EventId, FencingToken, Instant};
use leaseproof_engines::store::{Result as Answer, Session};
use std::time::Duration;

/// Each must be found broken.
pub(super) static CONTROLS: &[Control] = &[
    Control::new("timer-claims-after-stop", &[Planted::Worker(WorkerFault::ClaimsAfterStop)]),
    Control::new("ack-prefetches-next", &[Planted::Session(|| Box::new(Prefetches))]),
];

/// Claims the next event together with every ack, to save a round trip.
struct Prefetches;

#[async_trait]
impl SessionFault for Prefetches {
    async fn ack(
        &mut self,
        session: &mut dyn Session,
        event: &EventId,
        token: &FencingToken,
        now: Instant,
    ) -> Answer<Acked> {
        let acked = session.ack(event, token, now).await?;
        for event in session.candidates(1, now).await? {
            let (token, until) =
                (FencingToken::new("prefetched"), now.after(Duration::from_secs(60)));
            session.claim(&Claim { event, token, now, until }).await?;
        }
        Ok(acked)
    }
}
