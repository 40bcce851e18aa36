//! No claim succeeds before the deadline of the lease that holds the event.
//!
//! # Promise
//! While a lease is live, whoever claims its event is told `NotClaimed`: another worker, the owner
//! itself with a new token, a claim of a batch, a claim inside a transaction. The last such instant is one
//! microsecond before the deadline. A renewal moves that instant with the deadline. The refused
//! claim changes nothing: the lease is its owner's until its deadline.
//!
//! # Steps
//! 1. A claims at 100 until 150.
//! 2. At 100, at 120 and one microsecond before 150: B claims, B claims inside a transaction that it
//!    commits, A claims again with a new token, and B claims a batch that is larger than the queue, when
//!    one more event was enqueued. Each is refused; the batch holds the new event and nothing else.
//! 3. A renews to 200. The same at 150, at 170 and one microsecond before 200.
//!
//! After every refusal the owner's token counts until its deadline, and others are kept out until then.
//!
//! # How a violation looks
//! Two workers own one event at once and both publish it, or the refused claim has moved the owner's
//! deadline, token or attempt.
//!
//! # Source
//! The renewal example, in which B cannot claim at 160. Claim filters that let a worker's own rows in
//! again: `collectiveidea/delayed_job#534`.

use leaseproof_engines::capability::StoreCapability;
use leaseproof_engines::lease::{Claimed, EventId, Instant, Renewed};
use leaseproof_reports::Level;

use crate::contract::{Clocks, Contract, Scope};
use crate::harness::actor::Actor;
use crate::harness::context::Context;
use crate::harness::finding::{Finding, Judged, check_eq};
use crate::harness::standing::{Standing, check_attempts, check_refused, check_standing};

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
    let (mut a, b) = (context.actor("A").await?, context.actor("B").await?);
    let held = context.enqueued(&mut a, "EVENT-81").await?;
    let token = context.token("A");
    let at = |step| context.at(step);

    let claimed = a.claim(&held, &token, at(100), at(150)).await?;
    check_eq("A claims at 100 until 150", claimed, Claimed::Claimed)?;
    let mut workers = Workers { context, a, b, held, refusals: 0, free: 0 };
    let lease = Standing::held(&token, at(150));
    for now in [at(100), at(120), context.just_before(150)] {
        workers.all_refused(&lease, now).await?;
    }
    let renewed = workers.a.renew(&workers.held, &token, at(120), at(200)).await?;
    check_eq("A renews to 200", renewed, Renewed::Renewed)?;
    let lease = Standing::held(&token, at(200));
    for now in [at(150), at(170), context.just_before(200)] {
        workers.all_refused(&lease, now).await?;
    }
    check_attempts("every other claim was refused", &mut workers.b, &workers.held, 1).await?;
    Ok(vec![format!(
        "{} claims of a live lease were refused and changed nothing",
        workers.refusals
    )])
}

struct Workers<'case> {
    context: &'case Context,
    a: Actor,
    b: Actor,
    held: EventId,
    refusals: usize,
    free: usize,
}

impl Workers<'_> {
    /// Every way to claim the held event is refused at `now`.
    async fn all_refused(&mut self, lease: &Standing, now: Instant) -> Result<(), Finding> {
        let Self { context, a, b, held, .. } = self;
        let until = context.at(900);
        let answer = b.claim(held, &context.token("B"), now, until).await;
        let step = format!("B claims a live lease at {now}");
        check_refused(&step, a, held, lease, answer, Claimed::NotClaimed).await?;

        if context.offers(StoreCapability::CallerTransactions) {
            b.begin().await?;
            let answer = b.claim(held, &context.token("B"), now, until).await;
            b.commit().await?;
            let step = format!("B claims a live lease in a transaction at {now}");
            check_refused(&step, a, held, lease, answer, Claimed::NotClaimed).await?;
            self.refusals += 1;
        }
        let answer = a.claim(held, &context.token("A"), now, until).await;
        let step = format!("A claims its own live lease with a new token at {now}");
        check_refused(&step, a, held, lease, answer, Claimed::NotClaimed).await?;

        self.free += 1;
        let free = context.enqueued(b, &format!("FREE-{}", self.free)).await?;
        let events = b.claim_batch(&context.batch("B", 10, now, until)).await?;
        let step = format!("B claims a batch at {now} while A holds {held}");
        check_eq(&step, events, vec![free])?;
        check_standing(&step, a, held, lease).await?;
        self.refusals += 3;
        Ok(())
    }
}
