//! Stores that break `stop/reports-backlog`.

use crate::controls::{Control, Planted, SessionFault};
use async_trait::async_trait;
use leaseproof_engines::faults::Fault;
use leaseproof_engines::lease::{Backlog, Instant};
use leaseproof_engines::store::{Result as Answer, Session};

/// Each must be found broken.
pub(super) static CONTROLS: &[Control] = &[
    Control::new("counts-done-events", &[Planted::Store(Fault::CountsDoneEvents)]),
    Control::new("counts-events-not-due", &[Planted::Store(Fault::CountsEventsNotDue)]),
    Control::new("overlooks-events-due-now", &[Planted::Store(Fault::OverlooksEventsDueNow)]),
    Control::new(
        "overlooks-expired-leases-as-claimable",
        &[Planted::Store(Fault::OverlooksExpiredLeasesAsClaimable)],
    ),
    Control::new("overlooks-free-events", &[Planted::Store(Fault::OverlooksFreeEvents)]),
    Control::new(
        "counts-leases-as-live-at-their-deadline",
        &[Planted::Store(Fault::CountsLeasesAsLiveAtTheirDeadline)],
    ),
    Control::new("counts-every-lease-as-live", &[Planted::Store(Fault::CountsEveryLeaseAsLive)]),
    Control::new("ages-from-due-instant", &[Planted::Store(Fault::AgesFromDueInstant)]),
    Control::new("ages-from-newest-event", &[Planted::Store(Fault::AgesFromNewestEvent)]),
    Control::new(
        "reports-the-first-answer-for-ever",
        &[Planted::Session(|| Box::new(Cached(None)))],
    ),
];

/// A gauge that is computed once.
struct Cached(Option<Backlog>);

#[async_trait]
impl SessionFault for Cached {
    async fn backlog(&mut self, session: &mut dyn Session, now: Instant) -> Answer<Backlog> {
        let answer = session.backlog(now).await?;
        Ok(*self.0.get_or_insert(answer))
    }
}
