//! A transaction with a head and a tail, whose every trace can be found.

use leaseproof_engines::lease::{EventId, FencingToken};
use leaseproof_engines::store::Result as Answer;

use crate::harness::actor::Actor;
use crate::harness::context::Context;
use crate::harness::finding::{Finding, check_eq};
use crate::harness::standing::{Standing, check_attempts, check_standing};
use crate::worker::CONSUMER;

/// A party with a transaction of its own: an effect and a claim in its head, an effect, a
/// claim and a new event in its tail.
pub struct Party {
    /// Its session.
    pub actor: Actor,
    /// The events of head and tail, which are free, and the token of the last claim of each.
    parts: Vec<(EventId, FencingToken)>,
    late: EventId,
}

impl Party {
    /// A party that has no transaction yet.
    #[must_use]
    pub fn new(actor: Actor) -> Self {
        Self { actor, parts: Vec::new(), late: EventId::new("") }
    }

    /// Enqueues the events of its next transaction, of which `id` is part of the ids.
    ///
    /// # Errors
    /// The engine's, as for every operation below.
    pub async fn prepare(&mut self, context: &Context, id: &str) -> Result<(), Finding> {
        let name = self.actor.name().to_owned();
        let id = |part| format!("{name}-{id}-{part}");
        self.late = EventId::new(id("late"));
        self.parts.clear();
        for part in ["head", "tail"] {
            let event = context.enqueued(&mut self.actor, &id(part)).await?;
            self.parts.push((event, context.token(&name)));
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

    /// Applies the effect of a part.
    async fn affect(&mut self, part: usize) -> Answer<()> {
        self.actor.apply_effect(CONSUMER, &self.parts[part].0).await
    }

    /// Claims the event of a part with a token of its own.
    async fn claim_part(&mut self, context: &Context, part: usize) -> Answer<()> {
        let (event, last) = &mut self.parts[part];
        *last = context.token(self.actor.name());
        self.actor.claim(event, last, context.at(100), context.at(150)).await.map(|_| ())
    }

    /// The first part of the unit: an effect, and a claim.
    ///
    /// # Errors
    /// The engine's.
    pub async fn head(&mut self, context: &Context) -> Answer<()> {
        self.affect(0).await?;
        self.claim_part(context, 0).await
    }

    /// The last part of the unit: an effect, a claim and a new event, each whatever became of the one
    /// before.
    pub async fn tail(&mut self, context: &Context) -> Vec<Answer<()>> {
        let late = context.new_event(&self.late.0);
        vec![
            self.affect(1).await,
            self.claim_part(context, 1).await,
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

    /// Goes on when nothing of the transaction is there: no effect, no claim, no new event.
    ///
    /// # Errors
    /// [`Finding::Broken`] with what was left; the engine's.
    pub async fn left_nothing(
        &mut self,
        context: &Context,
        reader: &mut Actor,
        when: &str,
    ) -> Result<(), Finding> {
        let free = Standing::free(context.at(100));
        for (event, _) in &self.parts {
            let effects = reader.effects(CONSUMER, event).await?;
            check_eq(
                &format!("{when}: the effects of {event}, in a transaction that was aborted"),
                effects,
                0,
            )?;
            let step = format!("{when}: {event} was claimed in a transaction that was aborted");
            check_standing(&step, reader, event, &free).await?;
            check_attempts(&step, reader, event, 0).await?;
        }
        let step = format!("{when}: {} was enqueued in a transaction that was aborted", self.late);
        check_standing(&step, reader, &self.late, &Standing::unclaimable(context.at(100))).await
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
        let actor = &mut self.actor;
        for (event, token) in &self.parts {
            let effects = actor.effects(CONSUMER, event).await?;
            let step = format!("{when}: the effects of {event} when the transaction was run again");
            check_eq(&step, effects, 1)?;
            let step = format!("{when}: {event} was claimed when the transaction was run again");
            let held = Standing::held(token, context.at(150));
            check_standing(&step, actor, event, &held).await?;
            check_attempts(&step, actor, event, 1).await?;
        }
        let step = format!("{when}: {} was enqueued when the transaction was run again", self.late);
        check_standing(&step, actor, &self.late, &Standing::free(context.at(100))).await
    }
}
