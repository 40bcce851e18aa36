//! Stores that break `renew/rejects-stale-token`.

use crate::controls::{Control, Planted, SessionFault};
use async_trait::async_trait;
use leaseproof_engines::faults::Fault;
use leaseproof_engines::lease::{Claim, Claimed, EventId, FencingToken, Instant, Renewed};
use leaseproof_engines::store::{self, Session};

/// Each must be found broken.
pub(super) static CONTROLS: &[Control] = &[
    Control::new("renew-by-event-id-alone", &[Planted::Store(Fault::RenewByEventIdOnly)]),
    Control::new(
        "renew-of-whatever-is-claimed",
        &[Planted::Store(Fault::RenewOfWhateverIsClaimed)],
    ),
    Control::new("renew-with-an-empty-token", &[Planted::Store(Fault::RenewWithAnEmptyToken)]),
    Control::new("renew-by-token-alone", &[Planted::Store(Fault::RenewByTokenAlone)]),
    Control::new(
        "renew-answered-from-memory",
        &[Planted::Session(|| Box::new(AnswersFromMemory::default()))],
    ),
];

/// Takes an acquisition for ownership: once claimed, always owned.
#[derive(Default)]
struct AnswersFromMemory {
    claims: Vec<(EventId, FencingToken)>,
}

#[async_trait]
impl SessionFault for AnswersFromMemory {
    async fn claim(&mut self, session: &mut dyn Session, claim: &Claim) -> store::Result<Claimed> {
        let claimed = session.claim(claim).await?;
        if claimed == Claimed::Claimed {
            self.claims.push((claim.event.clone(), claim.token.clone()));
        }
        Ok(claimed)
    }

    async fn renew(
        &mut self,
        session: &mut dyn Session,
        event: &EventId,
        token: &FencingToken,
        now: Instant,
        until: Instant,
    ) -> store::Result<Renewed> {
        let renewed = session.renew(event, token, now, until).await?;
        let remembered = self.claims.iter().any(|claim| claim.0 == *event && claim.1 == *token);
        Ok(if remembered { Renewed::Renewed } else { renewed })
    }
}
