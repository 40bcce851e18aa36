//! Stores that break `renew/rejects-done`.

use crate::controls::{Control, Planted, SessionFault};
use async_trait::async_trait;
use leaseproof_engines::faults::Fault;
use leaseproof_engines::lease::{EventId, FencingToken, Instant, Renewed};
use leaseproof_engines::store::{self, Session};

/// Each must be found broken.
pub(super) static CONTROLS: &[Control] = &[
    Control::new("renew-without-pending-guard", &[Planted::Store(Fault::RenewWithoutPendingGuard)]),
    Control::new(
        "state-checked-by-the-application",
        &[
            Planted::Store(Fault::RenewWithoutPendingGuard),
            Planted::Session(|| Box::new(ChecksBeforeWriting)),
        ],
    ),
];

/// Reads the state, judges it in the application, and then writes without a guard.
struct ChecksBeforeWriting;

#[async_trait]
impl SessionFault for ChecksBeforeWriting {
    async fn renew(
        &mut self,
        session: &mut dyn Session,
        event: &EventId,
        token: &FencingToken,
        now: Instant,
        until: Instant,
    ) -> store::Result<Renewed> {
        let state = session.event(event).await?.map(|row| row.state);
        match state {
            Some(leaseproof_engines::lease::EventState::Pending) => {
                session.renew(event, token, now, until).await
            }
            _ => Ok(Renewed::Refused),
        }
    }
}
