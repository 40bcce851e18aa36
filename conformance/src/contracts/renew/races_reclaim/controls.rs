//! Stores that break `renew/races-reclaim`.

use crate::controls::{Control, Planted, SessionFault};
use async_trait::async_trait;
use leaseproof_engines::faults::Fault;
use leaseproof_engines::lease::{EventId, FencingToken, Instant, Renewed};
use leaseproof_engines::store::{self, Session};

/// Each must be found broken.
pub(super) static CONTROLS: &[Control] = &[
    Control::new("renew-without-token-guard", &[Planted::Store(Fault::RenewByEventIdOnly)]),
    Control::new("renew-without-live-guard", &[Planted::Store(Fault::RenewWithoutLiveGuard)]),
    Control::new("claim-without-free-guard", &[Planted::Store(Fault::ClaimWithoutFreeGuard)]),
    Control::new(
        "claim-after-the-deadline-only",
        &[Planted::Store(Fault::ClaimAfterTheDeadlineOnly)],
    ),
    Control::new(
        "ownership-checked-by-the-application",
        &[
            Planted::Store(Fault::OwnershipCheckedByTheApplication),
            Planted::Session(|| Box::new(ChecksBeforeWriting)),
        ],
    ),
];

/// Reads the row, judges ownership in the application, and then writes without a guard.
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
        let row = session.event(event).await?;
        let owns =
            row.is_some_and(|row| row.token.as_ref() == Some(token) && row.until > Some(now));
        match owns {
            true => session.renew(event, token, now, until).await,
            false => Ok(Renewed::Refused),
        }
    }
}
