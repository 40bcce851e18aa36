//! Stores that break `renew/never-shortens`.

use crate::controls::{Control, Planted, SessionFault};
use async_trait::async_trait;
use leaseproof_engines::faults::Fault;
use leaseproof_engines::lease::{EventId, FencingToken, Instant, Renewed};
use leaseproof_engines::store::{self, Session};

/// Each must be found broken.
pub(super) static CONTROLS: &[Control] = &[
    Control::new("renew-without-longer-guard", &[Planted::Store(Fault::RenewWithoutLongerGuard)])
        .seen_in("callstackincubator/simlock#47, mlflow/mlflow#25199"),
    Control::new("renew-to-any-other-deadline", &[Planted::Store(Fault::RenewToAnyOtherDeadline)]),
    Control::new("renew-to-any-deadline-ahead", &[Planted::Store(Fault::RenewToAnyDeadlineAhead)]),
    Control::new(
        "equal-deadline-counts-as-renewal",
        &[Planted::Store(Fault::EqualDeadlineCountsAsRenewal)],
    ),
    Control::new(
        "renew-wants-a-minimum-extension",
        &[Planted::Store(Fault::RenewWantsAMinimumExtension)],
    ),
    Control::new(
        "refused-renewal-gives-the-lease-up",
        &[Planted::Session(|| Box::new(ReleasesWhenRefused))],
    )
    .seen_in("windwalker-io/framework#1211"),
];

/// Gives the event back when a renewal changed nothing, as if the lease were lost.
struct ReleasesWhenRefused;

#[async_trait]
impl SessionFault for ReleasesWhenRefused {
    async fn renew(
        &mut self,
        session: &mut dyn Session,
        event: &EventId,
        token: &FencingToken,
        now: Instant,
        until: Instant,
    ) -> store::Result<Renewed> {
        let renewed = session.renew(event, token, now, until).await?;
        if renewed == Renewed::Refused {
            session.release(event, token).await?;
        }
        Ok(renewed)
    }
}
