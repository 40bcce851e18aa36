//! No claim succeeds before the deadline of the lease that holds the event.
//!
//! # Promise
//! While a lease is live, whoever claims its event is told `NotClaimed`: another worker, the owner
//! itself with a new token, a claim of a batch, a claim inside a transaction. The last such instant is one
//! microsecond before the deadline. A renewal moves that instant with the deadline. The refused
//! claim leaves the row as it was.
//!
//! # Steps
//! 1. A claims at 100 until 150. A second event is free.
//! 2. At 100, at 120 and one microsecond before 150: B claims, B claims inside a transaction that it
//!    commits, A claims again with a new token, and B claims a batch that is larger than the queue.
//!    Each is refused; the batch holds the free event and nothing else, and B gives that one back.
//! 3. A renews to 200. The same at 150, at 170 and one microsecond before 200.
//!
//! After every refusal the row is read and compared with what it was before.
//!
//! # How a violation looks
//! Two workers own one event at once and both publish it, or the refused claim has moved the owner's
//! deadline, token or attempt.
//!
//! # Source
//! The renewal example, in which B cannot claim at 160. Claim filters that let a worker's own rows in
//! again: `collectiveidea/delayed_job#534`.

use leaseproof_engines::lease::{Claimed, EventId, EventRow, Instant, Released, Renewed};
use leaseproof_reports::Level;

use crate::contract::{Clocks, Contract, Scope};
use crate::harness::actor::Actor;
use crate::harness::context::Context;
use crate::harness::finding::{Finding, Judged, check_eq};

mod controls;

/// See the module's documentation.
pub static CONTRACT: Contract = Contract {
    id: "claim/rejects-live-lease",
    promise: "no claim of an event succeeds before the deadline of its lease",
    level: Level::Core,
    requires: &[],
    offers: &[],
    scope: Scope::EachStrategy,
    clocks: Clocks::Logical,
    source: "the renewal example; collectiveidea/delayed_job#534",
    controls: controls::CONTROLS,
    doc: include_str!("rejects_live_lease.rs"),
    run: |context| Box::pin(run(context)),
};

async fn run(context: &Context) -> Judged {
    let mut workers = Workers { a: context.actor("A").await?, b: context.actor("B").await? };
    let held = context.enqueued(&mut workers.a, "EVENT-81").await?;
    let free = context.enqueued(&mut workers.b, "EVENT-82").await?;
    let token = context.token("A");
    let at = |step| context.at(step);

    let claimed = workers.a.claim(&held, &token, at(100), at(150)).await?;
    check_eq("A claims at 100 until 150", claimed, Claimed::Claimed)?;
    let mut refusals = 0;
    for now in [at(100), at(120), context.just_before(150)] {
        refusals += workers.all_refused(context, &held, &free, now).await?;
    }
    let renewed = workers.a.renew(&held, &token, at(120), at(200)).await?;
    check_eq("A renews to 200", renewed, Renewed::Renewed)?;
    for now in [at(150), at(170), context.just_before(200)] {
        refusals += workers.all_refused(context, &held, &free, now).await?;
    }
    Ok(vec![format!("{refusals} claims of a live lease were refused and left the row as it was")])
}

struct Workers {
    a: Actor,
    b: Actor,
}

impl Workers {
    /// Every way to claim the held event is refused at `now`; returns how many there were.
    async fn all_refused(
        &mut self,
        context: &Context,
        held: &EventId,
        free: &EventId,
        now: Instant,
    ) -> Result<usize, Finding> {
        let before = self.a.event(held).await?;
        let until = context.at(900);

        let claimed = self.b.claim(held, &context.token("B"), now, until).await?;
        check_eq(&format!("B claims a live lease at {now}"), claimed, Claimed::NotClaimed)?;
        self.unchanged("B's claim", held, &before).await?;

        self.b.begin().await?;
        let claimed = self.b.claim(held, &context.token("B"), now, until).await?;
        self.b.commit().await?;
        check_eq(
            &format!("B claims a live lease in a transaction at {now}"),
            claimed,
            Claimed::NotClaimed,
        )?;
        self.unchanged("B's claim in a transaction", held, &before).await?;

        let claimed = self.a.claim(held, &context.token("A"), now, until).await?;
        let step = format!("A claims its own live lease with a new token at {now}");
        check_eq(&step, claimed, Claimed::NotClaimed)?;
        self.unchanged("A's second claim", held, &before).await?;

        let batch = context.batch("B", 10, now, until);
        let events = self.b.claim_batch(&batch).await?;
        let step = format!("B claims a batch at {now} while A holds {held}");
        check_eq(&step, events, vec![free.clone()])?;
        self.unchanged("B's claim of a batch", held, &before).await?;
        let released = self.b.release(free, &batch.token).await?;
        check_eq("B gives the free event back", released, Released::Released)?;
        Ok(4)
    }

    async fn unchanged(
        &mut self,
        who: &str,
        event: &EventId,
        before: &Option<EventRow>,
    ) -> Result<(), Finding> {
        let after = self.a.event(event).await?;
        check_eq(&format!("the row of {event} after {who} was refused"), &after, before)
    }
}
