//! Stores that break `claim/sees-new-work`.

use crate::controls::{Control, Planted, SessionFault};
use async_trait::async_trait;
use leaseproof_engines::lease::{ClaimBatch, EventId};
use leaseproof_engines::store::{Result as Answer, Session};

/// Each must be found broken.
pub(super) static CONTROLS: &[Control] = &[
    Control::new(
        "poller-inside-its-first-snapshot",
        &[Planted::Session(|| Box::new(StaleSnapshot { since: Since::FirstPoll, open: false }))],
    )
    .seen_in("nextgenhealthcare/connect#3098, MariaDB/mcp#52"),
    Control::new(
        "unit-that-reads-again-at-its-end",
        &[Planted::Session(|| Box::new(StaleSnapshot { since: Since::LastUnit, open: false }))],
    )
    .seen_in("benborla/mcp-server-mysql#149"),
    Control::new(
        "poller-that-remembers-an-empty-queue",
        &[Planted::Session(|| Box::new(RemembersEmptyQueue { empty: false }))],
    ),
];

/// Polls inside a snapshot that it opened earlier than the poll.
struct StaleSnapshot {
    since: Since,
    open: bool,
}

#[derive(PartialEq)]
enum Since {
    /// The connection's first poll, as when nothing ever ends its transaction.
    FirstPoll,
    /// The end of the last transaction, as when autocommit is off and the end of a transaction reads.
    LastUnit,
}

impl StaleSnapshot {
    async fn open(&mut self, session: &mut dyn Session) -> Answer<()> {
        session.begin_snapshot().await?;
        self.open = true;
        Ok(())
    }

    async fn leave(&mut self, session: &mut dyn Session) -> Answer<()> {
        match std::mem::take(&mut self.open) {
            true => session.commit().await,
            false => Ok(()),
        }
    }
}

#[async_trait]
impl SessionFault for StaleSnapshot {
    async fn begin(&mut self, session: &mut dyn Session) -> Answer<()> {
        self.leave(session).await?;
        session.begin().await
    }

    async fn begin_snapshot(&mut self, session: &mut dyn Session) -> Answer<()> {
        self.leave(session).await?;
        session.begin_snapshot().await
    }

    async fn commit(&mut self, session: &mut dyn Session) -> Answer<()> {
        session.commit().await?;
        match self.since {
            Since::FirstPoll => Ok(()),
            Since::LastUnit => self.open(session).await,
        }
    }

    async fn claim_batch(
        &mut self,
        session: &mut dyn Session,
        batch: &ClaimBatch,
    ) -> Answer<Vec<EventId>> {
        if self.since == Since::FirstPoll && !self.open {
            // Refused inside a transaction of the caller's, which is then the one to poll in.
            drop(self.open(session).await);
        }
        if self.open && session.candidates(batch.limit, batch.now).await?.is_empty() {
            return Ok(Vec::new());
        }
        self.leave(session).await?;
        session.claim_batch(batch).await
    }
}

/// Does not ask again once the queue was empty.
struct RemembersEmptyQueue {
    empty: bool,
}

#[async_trait]
impl SessionFault for RemembersEmptyQueue {
    async fn claim_batch(
        &mut self,
        session: &mut dyn Session,
        batch: &ClaimBatch,
    ) -> Answer<Vec<EventId>> {
        if self.empty {
            return Ok(Vec::new());
        }
        let events = session.claim_batch(batch).await?;
        self.empty = events.is_empty();
        Ok(events)
    }
}
