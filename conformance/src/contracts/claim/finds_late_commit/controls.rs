//! Stores that break `claim/finds-late-commit`.

use crate::controls::{Control, Planted, SessionFault};
use async_trait::async_trait;
use leaseproof_engines::lease::{Claim, ClaimBatch, Claimed, EventId, Instant};
use leaseproof_engines::store::{Result as Answer, Session};

/// Each must be found broken.
pub(super) static CONTROLS: &[Control] = &[
    Control::new(
        "relay-that-remembers-the-last-id",
        &[Planted::Session(|| Box::new(Cursor::<EventId> { last: None, key: |event, _| event }))],
    )
    .seen_in("kamu-data/kamu-cli#1398, Eventuous/eventuous#222, google/nomulus#1539"),
    Control::new(
        "relay-that-remembers-the-last-due-instant",
        &[Planted::Session(|| Box::new(Cursor::<Instant> { last: None, key: |_, due| due }))],
    ),
];

/// Claims only what comes after the last event it has seen.
struct Cursor<Key> {
    last: Option<Key>,
    key: fn(EventId, Instant) -> Key,
}

#[async_trait]
impl<Key: Ord + Clone + Send> SessionFault for Cursor<Key> {
    async fn claim_batch(
        &mut self,
        session: &mut dyn Session,
        batch: &ClaimBatch,
    ) -> Answer<Vec<EventId>> {
        let ClaimBatch { limit, token, now, until, .. } = batch;
        let mut events = Vec::new();
        for event in session.candidates(*limit, *now).await? {
            let due = session.event(&event).await?.map_or(*now, |row| row.due);
            let key = (self.key)(event.clone(), due);
            if self.last.as_ref().is_some_and(|last| key <= *last) {
                continue;
            }
            self.last = Some(key);
            let claim = Claim { event, token: token.clone(), now: *now, until: *until };
            if session.claim(&claim).await? == Claimed::Claimed {
                events.push(claim.event);
            }
        }
        Ok(events)
    }
}
