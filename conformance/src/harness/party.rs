//! A transaction with a head and a tail, whose every trace can be found.

use leaseproof_engines::lease::{EventId, EventRow};
use leaseproof_engines::store::Result as Answer;

use crate::harness::actor::Actor;
use crate::harness::context::Context;
use crate::harness::finding::{Finding, check, check_eq};
use crate::harness::row::row;
use crate::worker::CONSUMER;

/// A party with a transaction of its own: an effect and a claim in its head, an effect, a
/// claim and a new event in its tail.
pub struct Party {
    /// Its session.
    pub actor: Actor,
    /// The rows of head and tail as they were.
    before: Vec<EventRow>,
    late: EventId,
}

impl Party {
    /// A party that has no transaction yet.
    #[must_use]
    pub fn new(actor: Actor) -> Self {
        Self { actor, before: Vec::new(), late: EventId::new("") }
    }

    /// Enqueues the events of its next transaction, of which `id` is part of the ids.
    ///
    /// # Errors
    /// The engine's, as for every operation below.
    pub async fn prepare(&mut self, context: &Context, id: &str) -> Result<(), Finding> {
        let name = self.actor.name().to_owned();
        let id = |part| format!("{name}-{id}-{part}");
        self.late = EventId::new(id("late"));
        self.before.clear();
        for part in ["head", "tail"] {
            let event = context.enqueued(&mut self.actor, &id(part)).await?;
            self.before.push(row(&mut self.actor, &event).await?);
        }
        Ok(())
    }

    /// Claims an event that may be anybody's.
    ///
    /// # Errors
    /// The engine's.
    pub async fn claim(&mut self, context: &Context, event: &EventId) -> Answer<()> {
        let token = context.token(self.actor.name());
        self.actor.claim(event, &token, context.at(100), context.at(150)).await.map(|_| ())
    }

    /// The first part of the unit: an effect, and a claim.
    ///
    /// # Errors
    /// The engine's.
    pub async fn head(&mut self, context: &Context) -> Answer<()> {
        let head = self.before[0].event.clone();
        self.actor.apply_effect(CONSUMER, &head).await?;
        self.claim(context, &head).await
    }

    /// The last part of the unit: an effect, a claim and a new event, each whatever became of the one
    /// before.
    pub async fn tail(&mut self, context: &Context) -> Vec<Answer<()>> {
        let tail = self.before[1].event.clone();
        let late = context.new_event(&self.late.0);
        vec![
            self.actor.apply_effect(CONSUMER, &tail).await,
            self.claim(context, &tail).await,
            self.actor.enqueue(&[late]).await.map(|_| ()),
        ]
    }

    /// The last part of the transaction, which has to go through.
    ///
    /// # Errors
    /// The engine's first.
    pub async fn whole_tail(&mut self, context: &Context) -> Answer<()> {
        self.tail(context).await.into_iter().collect()
    }

    /// Goes on when nothing of the transaction is there.
    ///
    /// # Errors
    /// [`Finding::Broken`] with what was left; the engine's.
    pub async fn left_nothing(&mut self, reader: &mut Actor, when: &str) -> Result<(), Finding> {
        for before in &self.before {
            let event = &before.event;
            let effects = reader.effects(CONSUMER, event).await?;
            check_eq(
                &format!("{when}: the effects of {event}, in a transaction that was aborted"),
                effects,
                0,
            )?;
            let step =
                format!("{when}: the row of {event}, claimed in a transaction that was aborted");
            check_eq(&step, &row(reader, event).await?, before)?;
        }
        let late = reader.event(&self.late).await?;
        check(late.is_none(), || {
            format!("{when}: an event was enqueued by a transaction that was aborted")
        })
    }

    /// Runs the transaction from its start, and goes on when all of it is there.
    ///
    /// # Errors
    /// [`Finding::Broken`] with what is missing; the engine's.
    pub async fn runs_again(&mut self, context: &Context, when: &str) -> Result<(), Finding> {
        self.actor.begin().await?;
        self.head(context).await?;
        self.whole_tail(context).await?;
        self.actor.commit().await?;
        for before in &self.before {
            let effects = self.actor.effects(CONSUMER, &before.event).await?;
            check_eq(
                &format!("{when}: the effects when the transaction was run again"),
                effects,
                1,
            )?;
            let row = row(&mut self.actor, &before.event).await?;
            check_eq(&format!("{when}: the attempts then"), row.attempt, before.attempt + 1)?;
        }
        let late = self.actor.event(&self.late).await?;
        check(late.is_some(), || {
            format!("{when}: the transaction was run again, and its new event is not there")
        })
    }
}
