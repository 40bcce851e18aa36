//! Stores that break `renew/counts-matched-rows`.

use crate::controls::{Control, Planted, SessionFault};
use async_trait::async_trait;
use leaseproof_engines::faults::Fault;
use leaseproof_engines::lease::{Confirmed, EventId, FencingToken, Instant};
use leaseproof_engines::store::{self, Session};

/// Each must be found broken.
pub(super) static CONTROLS: &[Control] = &[
    Control::new("counts-changed-rows", &[Planted::Session(|| Box::new(CountsChanged))])
            .seen_in("windwalker-io/framework#1211, PomeloFoundation/Pomelo.EntityFrameworkCore.MySql#93, mysql-otp/mysql-otp#63"),
    Control::new("skips-an-update-that-changes-nothing", &[Planted::Store(Fault::SkipsAnUpdateThatChangesNothing)]),
    Control::new("reports-the-last-count", &[Planted::Session(|| Box::new(CountsStale::default()))]),
    Control::new("takes-minus-one-for-success", &[Planted::Session(|| Box::new(CountsNothing))])
            .seen_in("python/cpython#101117, Extra-Chill/data-machine#3353"),
    Control::new("confirm-without-token-guard", &[Planted::Store(Fault::ConfirmWithoutTokenGuard)]),
    Control::new("confirm-without-live-guard", &[Planted::Store(Fault::ConfirmWithoutLiveGuard)]),
    Control::new("confirm-without-pending-guard", &[Planted::Store(Fault::ConfirmWithoutPendingGuard)]),
];

/// What a connection without CLIENT_FOUND_ROWS reports: rows that differ afterwards.
struct CountsChanged;

#[async_trait]
impl SessionFault for CountsChanged {
    async fn confirm(
        &mut self,
        session: &mut dyn Session,
        event: &EventId,
        token: &FencingToken,
        now: Instant,
    ) -> store::Result<Confirmed> {
        let before = session.event(event).await?;
        let confirmed = session.confirm(event, token, now).await?;
        let changed = session.event(event).await? != before;
        Ok(if changed { confirmed } else { Confirmed::Refused })
    }
}

/// A driver that keeps the count of the last update that matched.
#[derive(Default)]
struct CountsStale {
    matched: bool,
}

#[async_trait]
impl SessionFault for CountsStale {
    async fn confirm(
        &mut self,
        session: &mut dyn Session,
        event: &EventId,
        token: &FencingToken,
        now: Instant,
    ) -> store::Result<Confirmed> {
        let confirmed = session.confirm(event, token, now).await?;
        self.matched |= confirmed == Confirmed::Confirmed;
        Ok(if self.matched { Confirmed::Confirmed } else { confirmed })
    }
}

/// A driver that reports -1, in an application that asks whether the count is 0.
struct CountsNothing;

#[async_trait]
impl SessionFault for CountsNothing {
    async fn confirm(
        &mut self,
        session: &mut dyn Session,
        event: &EventId,
        token: &FencingToken,
        now: Instant,
    ) -> store::Result<Confirmed> {
        session.confirm(event, token, now).await?;
        Ok(Confirmed::Confirmed)
    }
}
