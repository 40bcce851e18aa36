//! Stores that break `ack/accepts-current-owner`.

use crate::controls::{Control, Planted, SessionFault};
use async_trait::async_trait;
use leaseproof_engines::faults::Fault;
use leaseproof_engines::lease::{Acked, EventId, FencingToken, Instant};
use leaseproof_engines::store::{self, Session};

/// Each must be found broken.
pub(super) static CONTROLS: &[Control] = &[
    Control::new("ack-that-changes-nothing", &[Planted::Store(Fault::AckThatChangesNothing)]),
    Control::new("ack-that-gives-up", &[Planted::Store(Fault::AckThatGivesUp)]),
    Control::new("ack-by-token-alone", &[Planted::Store(Fault::AckByTokenAlone)]),
    Control::new("ack-ends-too-early", &[Planted::Store(Fault::AckEndsTooEarly)]),
    Control::new(
        "ack-within-the-first-lease-only",
        &[Planted::Store(Fault::AckWithinTheFirstLeaseOnly)],
    ),
    Control::new(
        "ack-of-an-event-that-nobody-owns",
        &[Planted::Store(Fault::AckOfAnEventThatNobodyOwns)],
    ),
    Control::new("ack-answered-before-it-is-done", &[Planted::Session(|| Box::new(AcksLater))]),
];

/// Reports the ack at once and leaves the writing to somebody who never comes.
struct AcksLater;

#[async_trait]
impl SessionFault for AcksLater {
    async fn ack(
        &mut self,
        _session: &mut dyn Session,
        _event: &EventId,
        _token: &FencingToken,
        _now: Instant,
    ) -> store::Result<Acked> {
        Ok(Acked::Acked)
    }
}
