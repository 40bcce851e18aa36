//! Stores that break `claim/select-grants-nothing`.

use crate::controls::{Control, Planted, SessionFault};
use async_trait::async_trait;
use leaseproof_engines::faults::Fault;
use leaseproof_engines::lease::{Claim, ClaimBatch, Claimed, EventId};
use leaseproof_engines::store::{Result as Answer, Session};

/// Each must be found broken.
pub(super) static CONTROLS: &[Control] = &[
    Control::new("claim-by-event-id-only", &[Planted::Store(Fault::ClaimByEventIdOnly)])
        .seen_in("xorbitsai/xagent#1944, go-gorm/sqlite#20"),
    Control::new("claim-without-free-guard", &[Planted::Store(Fault::ClaimWithoutFreeGuard)]),
    Control::new(
        "claim-that-ignores-its-row-count",
        &[Planted::Session(|| Box::new(IgnoresRowCount))],
    ),
    Control::new("batch-of-what-was-read", &[Planted::Session(|| Box::new(ReturnsWhatItRead))]),
];

/// Takes a statement that ran for one that changed a row.
struct IgnoresRowCount;

#[async_trait]
impl SessionFault for IgnoresRowCount {
    async fn claim(&mut self, session: &mut dyn Session, claim: &Claim) -> Answer<Claimed> {
        session.claim(claim).await?;
        Ok(Claimed::Claimed)
    }
}

/// Returns every candidate, whether its update took effect or not.
struct ReturnsWhatItRead;

#[async_trait]
impl SessionFault for ReturnsWhatItRead {
    async fn claim_batch(
        &mut self,
        session: &mut dyn Session,
        batch: &ClaimBatch,
    ) -> Answer<Vec<EventId>> {
        let read = session.candidates(batch.limit, batch.now).await?;
        for event in read.clone() {
            let ClaimBatch { token, now, until, .. } = batch.clone();
            session.claim(&Claim { event, token, now, until }).await?;
        }
        Ok(read)
    }
}
