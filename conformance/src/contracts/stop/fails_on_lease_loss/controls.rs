//! Stores that break `stop/fails-on-lease-loss`.

use crate::controls::{Control, Planted, SessionFault};
use crate::worker::WorkerFault;
use async_trait::async_trait;
use leaseproof_engines::faults::Fault;
use leaseproof_engines::lease::{EventId, FencingToken, Instant, Renewed};
use leaseproof_engines::store::{Result as Answer, Session};

/// Each must be found broken.
pub(super) static CONTROLS: &[Control] = &[
    Control::new(
        "worker-ignores-refused-renewal",
        &[Planted::Worker(WorkerFault::IgnoresRefusedRenewal)],
    ),
    Control::new(
        "worker-trusts-failed-renewal",
        &[Planted::Worker(WorkerFault::TrustsFailedRenewal)],
    )
    .seen_in("bytedance/deer-flow#4431, kagkarlsson/db-scheduler#402"),
    Control::new(
        "worker-trusts-renewal-on-its-way",
        &[Planted::Worker(WorkerFault::TrustsRenewalOnItsWay)],
    )
    .seen_in("stablemates/workhorse#120"),
    Control::new(
        "worker-never-looks-at-the-deadline",
        &[Planted::Worker(WorkerFault::WorksPastDeadline)],
    )
    .seen_in("gchq/stroom#5772"),
    Control::new("session-hides-failed-renewal", &[Planted::Session(|| Box::new(HidesFailure))]),
    Control::new("session-hides-refused-renewal", &[Planted::Session(|| Box::new(HidesRefusal))]),
    Control::new("renew-without-token-guard", &[Planted::Store(Fault::RenewByEventIdOnly)]),
    Control::new("ack-without-token-guard", &[Planted::Store(Fault::AckWithoutTokenGuard)]),
    Control::new("claim-refuses-expired-lease", &[Planted::Store(Fault::ClaimRefusesExpiredLease)])
        .seen_in("rails/solid_queue#748, kagkarlsson/db-scheduler#2"),
];

/// Logs the error of a renewal and goes on.
struct HidesFailure;

#[async_trait]
impl SessionFault for HidesFailure {
    async fn renew(
        &mut self,
        session: &mut dyn Session,
        event: &EventId,
        token: &FencingToken,
        now: Instant,
        until: Instant,
    ) -> Answer<Renewed> {
        Ok(session.renew(event, token, now, until).await.unwrap_or(Renewed::Renewed))
    }
}

/// Takes a statement that went through for a renewal, whatever it changed.
struct HidesRefusal;

#[async_trait]
impl SessionFault for HidesRefusal {
    async fn renew(
        &mut self,
        session: &mut dyn Session,
        event: &EventId,
        token: &FencingToken,
        now: Instant,
        until: Instant,
    ) -> Answer<Renewed> {
        session.renew(event, token, now, until).await.map(|_| Renewed::Renewed)
    }
}
