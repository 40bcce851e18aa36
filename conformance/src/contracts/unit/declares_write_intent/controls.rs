//! Stores that break `unit/declares-write-intent`.

use crate::controls::{Control, Planted, SessionFault};
use async_trait::async_trait;
use leaseproof_engines::Capability;
use leaseproof_engines::faults::Fault;
use leaseproof_engines::lease::{Claim, Claimed};
use leaseproof_engines::store::{LockWait, Result as Answer, Session};

/// Each must be found broken.
pub(super) static CONTROLS: &[Control] = &[
    Control::new("unit-begins-as-a-reader", &[Planted::Store(Fault::UnitBeginsAsAReader)])
            .unless(&[Capability::ConcurrentWriters])
            .seen_in("IntersectMBO/ouroboros-consensus#2233, vjt/grappa-irc#524, WiseLibs/better-sqlite3#836, python/cpython#124510"),
    Control::new("claim-does-not-wait-for-locks", &[Planted::Session(|| Box::new(Impatient))])
            .requires(&[Capability::NoWait]),
];

/// Asks for the row's lock and does not wait for it.
struct Impatient;

#[async_trait]
impl SessionFault for Impatient {
    async fn claim(&mut self, session: &mut dyn Session, claim: &Claim) -> Answer<Claimed> {
        session.lock(&claim.event, LockWait::NoWait).await?;
        session.claim(claim).await
    }
}
