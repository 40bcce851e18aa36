//! The operations of the lease protocol, each one or a few named statements.

use async_trait::async_trait;

use super::{SqlSession, Unit};
use crate::driver::{Row, Value};
use crate::lease::{
    Acked, Backlog, Claim, ClaimBatch, Claimed, Confirmed, EventId, EventRow, EventState,
    FencingToken, Instant, NewEvent, Released, Renewed, Reserved, Strategy,
};
use crate::store::{LockWait, Result, Session, SessionId};

fn text(event: &EventId) -> Value {
    Value::Text(event.0.clone())
}

fn bytes(token: &FencingToken) -> Value {
    Value::Bytes(token.0.clone())
}

impl SqlSession {
    /// Reads candidates, then one guarded update each: the update decides, not the read.
    ///
    /// Outside of a transaction every update is committed on its own. When one fails, those before it are
    /// won all the same, and the caller is told of them: nobody else would be until they expire.
    async fn claim_each(&mut self, batch: &ClaimBatch) -> Result<Vec<EventId>> {
        let mut claimed = Vec::new();
        for event in self.candidates(batch.limit, batch.now).await? {
            let ClaimBatch { token, now, until, .. } = batch.clone();
            let claim = Claim { event, token, now, until };
            match self.claim(&claim).await {
                Ok(Claimed::Claimed) => claimed.push(claim.event),
                Ok(Claimed::NotClaimed) => {}
                Err(_) if self.unit == Unit::None && !claimed.is_empty() => break,
                Err(error) => return Err(error),
            }
        }
        Ok(claimed)
    }

    /// Locks free rows past those others hold, then updates what was locked.
    async fn claim_skipping(&mut self, batch: &ClaimBatch) -> Result<Vec<EventId>> {
        let own = self.begin_own_unit().await?;
        let outcome = self.lock_and_mark(batch).await;
        self.end_own_unit(own, outcome).await
    }

    async fn lock_and_mark(&mut self, batch: &ClaimBatch) -> Result<Vec<EventId>> {
        let rows = self.rows("claim", "claim_batch_lock", &of_batch(batch)).await?;
        let events = self.event_ids("claim", rows)?;
        let mut claimed = Vec::new();
        for event in events {
            let mut parameters = of_batch(batch).to_vec();
            parameters.push(("event", text(&event)));
            if self.run("claim", "claim_batch_mark", &parameters).await? > 0 {
                claimed.push(event);
            }
        }
        Ok(claimed)
    }
}

fn of_batch(batch: &ClaimBatch) -> [(&'static str, Value); 4] {
    [
        ("limit", Value::Int(batch.limit.into())),
        ("token", bytes(&batch.token)),
        ("now", Value::Int(batch.now.0)),
        ("until", Value::Int(batch.until.0)),
    ]
}

#[async_trait]
impl Session for SqlSession {
    fn id(&self) -> SessionId {
        self.id
    }

    async fn begin(&mut self) -> Result<()> {
        self.open_unit("begin").await
    }

    async fn begin_snapshot(&mut self) -> Result<()> {
        self.open_unit("begin_snapshot").await
    }

    async fn commit(&mut self) -> Result<()> {
        match self.unit {
            Unit::None => Err(self.fatal("commit", "no transaction is open".to_owned())),
            Unit::Aborted | Unit::NotBegun => {
                self.rollback().await?;
                Err(self.aborted("commit"))
            }
            Unit::Open => {
                let outcome = self.frame("commit", "commit").await;
                self.unit = Unit::None;
                if outcome.is_err() {
                    // SQLite keeps the transaction open when COMMIT finds the file busy, and the others
                    // ignore a rollback of nothing. The commit's own error is the one to report.
                    drop(self.frame("roll back", "rollback").await);
                }
                self.give_back();
                outcome
            }
        }
    }

    async fn rollback(&mut self) -> Result<()> {
        match std::mem::replace(&mut self.unit, Unit::None) {
            // There is nothing to undo, and not every engine takes a rollback of nothing.
            Unit::NotBegun => Ok(()),
            _ => {
                let outcome = self.frame("roll back", "rollback").await;
                self.give_back();
                outcome
            }
        }
    }

    async fn enqueue(&mut self, events: &[NewEvent]) -> Result<u64> {
        let own = self.begin_own_unit().await?;
        let mut outcome = Ok(0);
        for new in events {
            let parameters = [
                ("event", text(&new.event)),
                ("due", Value::Int(new.due.0)),
                ("enqueued", Value::Int(new.enqueued.0)),
                ("now", Value::Int(0)),
            ];
            outcome = match (self.insert("enqueue", "enqueue", &parameters).await, outcome) {
                (Ok(inserted), Ok(count)) => Ok(count + u64::from(inserted)),
                (Err(error), _) | (_, Err(error)) => Err(error),
            };
            if outcome.is_err() {
                break;
            }
        }
        self.end_own_unit(own, outcome).await
    }

    async fn candidates(&mut self, limit: u32, now: Instant) -> Result<Vec<EventId>> {
        let parameters = [("limit", Value::Int(limit.into())), ("now", Value::Int(now.0))];
        let rows = self.rows("read candidates", "candidates", &parameters).await?;
        self.event_ids("read candidates", rows)
    }

    async fn claim(&mut self, claim: &Claim) -> Result<Claimed> {
        let parameters = [
            ("event", text(&claim.event)),
            ("token", bytes(&claim.token)),
            ("now", Value::Int(claim.now.0)),
            ("until", Value::Int(claim.until.0)),
        ];
        Ok(match self.run("claim", "claim", &parameters).await? {
            0 => Claimed::NotClaimed,
            _ => Claimed::Claimed,
        })
    }

    async fn claim_batch(&mut self, batch: &ClaimBatch) -> Result<Vec<EventId>> {
        match batch.strategy {
            Strategy::ConditionalUpdate => self.claim_each(batch).await,
            Strategy::SkipLocked => self.claim_skipping(batch).await,
            Strategy::UpdateReturning => {
                let rows = self.rows("claim", "claim_batch", &of_batch(batch)).await?;
                // RETURNING promises no order, so the rows carry their due instant to sort by.
                let keyed = |row: Row| {
                    let due = self.cells("claim", &row).int(1)?;
                    Ok((due, self.event_id("claim", row)?))
                };
                let mut keyed = rows.into_iter().map(keyed).collect::<Result<Vec<_>>>()?;
                keyed.sort();
                Ok(keyed.into_iter().map(|(_, event)| event).collect())
            }
        }
    }

    async fn renew(
        &mut self,
        event: &EventId,
        token: &FencingToken,
        now: Instant,
        until: Instant,
    ) -> Result<Renewed> {
        let parameters = [
            ("event", text(event)),
            ("token", bytes(token)),
            ("now", Value::Int(now.0)),
            ("until", Value::Int(until.0)),
        ];
        Ok(match self.run("renew", "renew", &parameters).await? {
            0 => Renewed::Refused,
            _ => Renewed::Renewed,
        })
    }

    async fn confirm(
        &mut self,
        event: &EventId,
        token: &FencingToken,
        now: Instant,
    ) -> Result<Confirmed> {
        let parameters =
            [("event", text(event)), ("token", bytes(token)), ("now", Value::Int(now.0))];
        Ok(match self.run("confirm", "confirm", &parameters).await? {
            0 => Confirmed::Refused,
            _ => Confirmed::Confirmed,
        })
    }

    async fn ack(&mut self, event: &EventId, token: &FencingToken, now: Instant) -> Result<Acked> {
        let parameters =
            [("event", text(event)), ("token", bytes(token)), ("now", Value::Int(now.0))];
        if self.run("ack", "ack", &parameters).await? > 0 {
            return Ok(Acked::Acked);
        }
        // After an unknown commit the same token must learn that its first ack took effect.
        let rows = self.rows("ack", "acked_by", &parameters).await?;
        Ok(match rows.is_empty() {
            true => Acked::Refused,
            false => Acked::AlreadyAcked,
        })
    }

    async fn release(&mut self, event: &EventId, token: &FencingToken) -> Result<Released> {
        let parameters = [("event", text(event)), ("token", bytes(token))];
        Ok(match self.run("release", "release", &parameters).await? {
            0 => Released::Refused,
            _ => Released::Released,
        })
    }

    async fn dead_letter(&mut self, limit: u32, now: Instant) -> Result<Vec<EventId>> {
        let parameters = [("limit", Value::Int(limit.into())), ("now", Value::Int(now.0))];
        let rows = self.rows("dead-letter", "exhausted", &parameters).await?;
        let mut given_up = Vec::new();
        for event in self.event_ids("dead-letter", rows)? {
            let parameters = [("event", text(&event)), ("now", Value::Int(now.0))];
            match self.run("dead-letter", "dead_letter", &parameters).await {
                Ok(0) => {}
                Ok(_) => given_up.push(event),
                // Those before it are given up all the same, each in a transaction of its own.
                Err(_) if self.unit == Unit::None && !given_up.is_empty() => break,
                Err(error) => return Err(error),
            }
        }
        Ok(given_up)
    }

    async fn lock(&mut self, event: &EventId, wait: LockWait) -> Result<()> {
        let name = match wait {
            LockWait::Block => "lock",
            LockWait::NoWait => "lock_nowait",
        };
        self.rows("lock", name, &[("event", text(event))]).await?;
        Ok(())
    }

    async fn reserve(&mut self, consumer: &str, event: &EventId) -> Result<Reserved> {
        let parameters = [("consumer", Value::Text(consumer.to_owned())), ("event", text(event))];
        Ok(match self.insert("reserve", "reserve", &parameters).await? {
            true => Reserved::Reserved,
            false => Reserved::Duplicate,
        })
    }

    async fn apply_effect(&mut self, consumer: &str, event: &EventId) -> Result<()> {
        let parameters = [("consumer", Value::Text(consumer.to_owned())), ("event", text(event))];
        self.run("apply an effect", "apply_effect", &parameters).await?;
        Ok(())
    }

    async fn event(&mut self, event: &EventId) -> Result<Option<EventRow>> {
        let rows = self.rows("read an event", "event", &[("event", text(event))]).await?;
        let Some(row) = rows.first() else {
            return Ok(None);
        };
        let cells = self.cells("read an event", row);
        let state = cells.text(0)?;
        Ok(Some(EventRow {
            event: event.clone(),
            state: match state.as_str() {
                "PENDING" => EventState::Pending,
                "DONE" => EventState::Done,
                "DEAD" => EventState::Dead,
                _ => return Err(self.fatal("read an event", format!("unknown state `{state}`"))),
            },
            token: cells.bytes_or_null(1)?.map(FencingToken),
            until: cells.int_or_null(2)?.map(|until| Instant(until - self.epoch)),
            due: Instant(cells.int(3)? - self.epoch),
            attempt: cells.int(4)?,
        }))
    }

    async fn effects(&mut self, consumer: &str, event: &EventId) -> Result<i64> {
        let parameters = [("consumer", Value::Text(consumer.to_owned())), ("event", text(event))];
        let rows = self.rows("count effects", "effects", &parameters).await?;
        match rows.first() {
            Some(row) => self.cells("count effects", row).int(0),
            None => Ok(0),
        }
    }

    async fn backlog(&mut self, now: Instant) -> Result<Backlog> {
        let rows = self.rows("read the backlog", "backlog", &[("now", Value::Int(now.0))]).await?;
        let empty = Row::new();
        let cells = self.cells("read the backlog", rows.first().unwrap_or(&empty));
        Ok(Backlog {
            claimable: cells.int(0)?,
            active: cells.int(1)?,
            expired: cells.int(2)?,
            age_us: cells.int(3)?,
        })
    }

    async fn close(self: Box<Self>) {
        self.wire.close().await;
    }
}
