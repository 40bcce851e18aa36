//! Stores that break `ack/races-reclaim`.

use crate::controls::{Control, Planted, SessionFault};
use async_trait::async_trait;
use leaseproof_engines::faults::Fault;
use leaseproof_engines::lease::{
    Acked, Claim, Claimed, EventId, EventState, FencingToken, Instant,
};
use leaseproof_engines::store::{self, Session};

/// Each must be found broken.
pub(super) static CONTROLS: &[Control] = &[
    Control::new("ack-without-token-guard", &[Planted::Store(Fault::AckWithoutTokenGuard)])
        .seen_in("hangfire-postgres/Hangfire.PostgreSql#130, hexpm/hexpm#1825"),
    Control::new("claim-without-pending-guard", &[Planted::Store(Fault::ClaimWithoutPendingGuard)]),
    Control::new(
        "claim-after-the-deadline-only",
        &[Planted::Store(Fault::ClaimAfterTheDeadlineOnly)],
    ),
    Control::new(
        "ownership-checked-by-the-application",
        &[
            Planted::Store(Fault::AckWithoutTokenGuard),
            Planted::Session(|| Box::new(ChecksBeforeAcking)),
        ],
    ),
    Control::new(
        "state-checked-by-the-application",
        &[
            Planted::Store(Fault::ClaimWithoutPendingGuard),
            Planted::Session(|| Box::new(ChecksBeforeClaiming)),
        ],
    ),
];

/// Reads the token, compares it in the application, and then acks by event id.
struct ChecksBeforeAcking;

#[async_trait]
impl SessionFault for ChecksBeforeAcking {
    async fn ack(
        &mut self,
        session: &mut dyn Session,
        event: &EventId,
        token: &FencingToken,
        now: Instant,
    ) -> store::Result<Acked> {
        let row = session.event(event).await?;
        match row.is_some_and(|row| row.token.as_ref() == Some(token)) {
            true => session.ack(event, token, now).await,
            false => Ok(Acked::Refused),
        }
    }
}

/// Reads the state, judges it in the application, and then claims whatever is there.
struct ChecksBeforeClaiming;

#[async_trait]
impl SessionFault for ChecksBeforeClaiming {
    async fn claim(&mut self, session: &mut dyn Session, claim: &Claim) -> store::Result<Claimed> {
        let state = session.event(&claim.event).await?.map(|row| row.state);
        match state {
            Some(EventState::Pending) => session.claim(claim).await,
            _ => Ok(Claimed::NotClaimed),
        }
    }
}
