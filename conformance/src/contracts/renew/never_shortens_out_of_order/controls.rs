//! Stores that break `renew/never-shortens-out-of-order`.

use crate::controls::{Control, Planted, SessionFault};
use async_trait::async_trait;
use leaseproof_engines::Capability;
use leaseproof_engines::faults::Fault;
use leaseproof_engines::lease::{EventId, FencingToken, Instant, Renewed};
use leaseproof_engines::store::{self, Session};

/// Each must be found broken.
pub(super) static CONTROLS: &[Control] = &[
    Control::new("renew-without-longer-guard", &[Planted::Store(Fault::RenewWithoutLongerGuard)])
        .seen_in("callstackincubator/simlock#47, mlflow/mlflow#25199"),
    Control::new(
        "longer-checked-by-the-application",
        &[
            Planted::Store(Fault::RenewWithoutLongerGuard),
            Planted::Session(|| Box::new(ChecksBeforeWriting)),
        ],
    ),
    Control::new(
        "longer-checked-in-a-subselect",
        &[Planted::Store(Fault::LongerCheckedInASubselect)],
    )
    .requires(&[Capability::ConcurrentWriters, Capability::Returning]),
];

/// Reads the deadline, compares it in the application, and then writes without a guard.
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
        let stored = session.event(event).await?.and_then(|row| row.until);
        if stored.is_some_and(|stored| stored >= until) {
            return Ok(Renewed::Refused);
        }
        session.renew(event, token, now, until).await
    }
}
