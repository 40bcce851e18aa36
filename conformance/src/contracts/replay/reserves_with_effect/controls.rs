//! Stores that break `replay/reserves-with-effect`.

use crate::controls::{Control, Planted, SessionFault};
use async_trait::async_trait;
use leaseproof_engines::faults::Fault;
use leaseproof_engines::lease::{EventId, Reserved};
use leaseproof_engines::store::{Result as Answer, Session};

/// Each must be found broken.
pub(super) static CONTROLS: &[Control] = &[
    Control::new(
        "reservation-committed-before-effect",
        &[Planted::Session(|| Box::new(CommitsReservation))],
    )
    .seen_in("Wave-RF/WaveHouse#384, sksmith/go-micro-example#58"),
    Control::new(
        "effect-committed-before-unit-ends",
        &[Planted::Session(|| Box::new(CommitsEffect))],
    )
    .seen_in("Particular/NServiceBus#5648"),
    Control::new("unit-without-transaction", &[Planted::Store(Fault::UnitWithoutTransaction)]),
    Control::new(
        "rollback-that-commits",
        &[Planted::Store(Fault::ReservesWithEffectRollbackThatCommits)],
    ),
];

/// Commits the reservation at once, so that no other consumer gets in between.
struct CommitsReservation;

#[async_trait]
impl SessionFault for CommitsReservation {
    async fn reserve(
        &mut self,
        session: &mut dyn Session,
        consumer: &str,
        event: &EventId,
    ) -> Answer<Reserved> {
        let reserved = session.reserve(consumer, event).await?;
        session.commit().await?;
        session.begin().await?;
        Ok(reserved)
    }
}

/// Applies the effect in a transaction of its own.
struct CommitsEffect;

#[async_trait]
impl SessionFault for CommitsEffect {
    async fn apply_effect(
        &mut self,
        session: &mut dyn Session,
        consumer: &str,
        event: &EventId,
    ) -> Answer<()> {
        session.rollback().await?;
        session.apply_effect(consumer, event).await?;
        session.begin().await?;
        session.reserve(consumer, event).await.map(|_| ())
    }
}
