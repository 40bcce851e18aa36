//! Stores that break `time/session-independent`.

use crate::controls::{Control, Planted, SessionFault};
use async_trait::async_trait;
use leaseproof_engines::Capability;
use leaseproof_engines::faults::Fault;
use leaseproof_engines::lease::{Claim, Claimed, Instant};
use leaseproof_engines::store::{self, Session};

/// Each must be found broken.
pub(super) static CONTROLS: &[Control] = &[
    Control::new("claim-by-local-time", &[Planted::Store(Fault::ClaimByLocalTime)])
        .requires(&[Capability::SessionTimeZone])
        .seen_in("nextlyhq/nextly#777, LFDT-Panurus/panurus#2244"),
    Control::new("candidates-by-local-time", &[Planted::Store(Fault::CandidatesByLocalTime)])
        .requires(&[Capability::SessionTimeZone]),
    Control::new("renew-by-local-time", &[Planted::Store(Fault::RenewByLocalTime)])
        .requires(&[Capability::SessionTimeZone]),
    Control::new("confirm-by-local-time", &[Planted::Store(Fault::ConfirmByLocalTime)])
        .requires(&[Capability::SessionTimeZone]),
    Control::new("ack-by-local-time", &[Planted::Store(Fault::AckByLocalTime)])
        .requires(&[Capability::SessionTimeZone]),
    Control::new("worker-hands-in-local-time", &[Planted::Session(|| Box::new(HandsInLocalTime))])
        .unless(&[Capability::SessionTimeZone]),
];

/// Where the engine knows no zone: a worker that takes its own wall clock for the instant, in a zone
/// that depends on the session.
struct HandsInLocalTime;

#[async_trait]
impl SessionFault for HandsInLocalTime {
    async fn claim(&mut self, session: &mut dyn Session, claim: &Claim) -> store::Result<Claimed> {
        let hours = session.id() % 3 - 1;
        let now = Instant(claim.now.0 + hours * 3_600_000_000);
        session.claim(&Claim { now, ..claim.clone() }).await
    }
}
