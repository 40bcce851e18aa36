//! Stores that break `replay/three-way-race`.

use crate::controls::answers::{EverNew, NeverNew};
use crate::controls::{Control, Planted, SessionFault};
use async_trait::async_trait;
use leaseproof_engines::Capability;
use leaseproof_engines::faults::Fault;
use leaseproof_engines::lease::{EventId, Reserved};
use leaseproof_engines::store::{Result as Answer, Session};

/// Each must be found broken.
pub(super) static CONTROLS: &[Control] = &[
    Control::new("ledger-without-key", &[Planted::Store(Fault::LedgerWithoutKey)]),
    Control::new("reserve-always-says-reserved", &[Planted::Session(|| Box::new(EverNew))]),
    Control::new("reserve-always-says-duplicate", &[Planted::Session(|| Box::new(NeverNew))]),
    Control::new("unit-without-transaction", &[Planted::Store(Fault::UnitWithoutTransaction)]),
    Control::new("error-taken-for-reserved", &[Planted::Session(|| Box::new(ErrorIsReserved))])
        .requires(&[Capability::ConcurrentWriters])
        .unless(&[Capability::Returning])
        .seen_in(
            "MySQL bug 98324, MySQL bug 116459, civicrm/civicrm-packages#446, \
             roundcube/roundcubemail#7528",
        ),
];

/// Takes an error for a success, and goes on in a new transaction.
struct ErrorIsReserved;

#[async_trait]
impl SessionFault for ErrorIsReserved {
    async fn reserve(
        &mut self,
        session: &mut dyn Session,
        consumer: &str,
        event: &EventId,
    ) -> Answer<Reserved> {
        match session.reserve(consumer, event).await {
            Err(_) => {
                session.rollback().await?;
                session.begin().await?;
                Ok(Reserved::Reserved)
            }
            answer => answer,
        }
    }
}
