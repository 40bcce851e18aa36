//! After a lost ack the event comes back when its lease is over, and not before.
//!
//! # Promise
//! A consumer commits its reservation and its effect, and the worker dies before the ack. The store
//! cannot tell that the work was done, so every such event is handed out again: to whoever claims at or
//! after the deadline, once each, under a new token. Until the deadline nobody gets it.
//!
//! # Steps
//! For each way in which a connection can end without a goodbye:
//! 1. A claims a batch of three at 100 until 150, and commits reservation and effect of each.
//! 2. A dies before any ack.
//! 3. B claims a batch one microsecond before 150: it gets nothing, and the events are as A left them.
//! 4. B claims a batch at 150: it gets all three, in order, as their second attempt.
//! 5. B claims once more: nothing is left.
//!
//! # How a violation looks
//! B gets an event while A's lease is live (two workers have it), or does not get it at the deadline
//! (nobody ever will), or the event is done without an ack of its owner.
//!
//! # Source
//! The scheduled-relay example: the consumer commits before acknowledgement. Acks that run ahead of the
//! effect: KanishJebaMathewM/Truxify#11209 and #13133.

use leaseproof_engines::capability::StoreCapability;
use leaseproof_engines::lease::{EventId, Reserved};
use leaseproof_reports::Level;

use crate::contract::{Clocks, Contract, Scope};
use crate::harness::context::Context;
use crate::harness::finding::{Finding, Judged, check_eq};
use crate::harness::standing::{Standing, check_attempts, check_standing};
use crate::worker::{Death, Delivered, Step, Worker};

mod controls;

/// See the module's documentation.
pub static CONTRACT: Contract = Contract {
    id: "replay/returns-after-lost-ack",
    promise: "when the consumer has committed and the worker dies before the ack, the event comes back after its lease and not before",
    level: Level::Core,
    requires: &[],
    offers: &[StoreCapability::CallerTransactions],
    scope: Scope::EachStrategy,
    clocks: Clocks::Any,
    source: "the scheduled-relay example; KanishJebaMathewM/Truxify#11209, #13133",
    controls: controls::CONTROLS,
    doc: include_str!("returns_after_lost_ack.rs"),
    run: |context| Box::pin(run(context)),
};

async fn run(context: &Context) -> Judged {
    let deaths = Death::all(context);
    for (round, death) in deaths.iter().enumerate() {
        lost_ack(context, round, *death).await?;
    }
    Ok(vec![format!(
        "{} events came back at the deadline and none before it; deaths: {deaths:?}",
        3 * deaths.len()
    )])
}

async fn lost_ack(context: &Context, round: usize, death: Death) -> Result<(), Finding> {
    let mut a = Worker::new(context, "A").await?;
    let mut b = context.actor("B").await?;
    let ids: Vec<_> =
        (1..=3).map(|number| EventId::new(format!("lost-{round}-{number}"))).collect();
    for event in &ids {
        context.enqueued(&mut b, &event.0).await?;
    }
    let (claimed_at, deadline) = (context.at(100), context.at(150));

    let claimed = a.poll(context, 3, claimed_at, deadline).await?;
    check_eq("A claims three free events", &claimed, &ids)?;
    let mut left = Vec::new();
    for event in &ids {
        left.push((event.clone(), Standing::held(&token_of(&a, event)?, deadline)));
        let delivered = a.deliver(event, context.at(110), Step::Commit).await?;
        let promised = Delivered::CutShort(Reserved::Reserved);
        check_eq("A handles an event and does not ack it", delivered, promised)?;
    }
    a.die(context, death).await?;

    let early = context.batch("B", 3, context.just_before(150), context.at(250));
    let nothing = Vec::<EventId>::new();
    let step = "B claims while the dead worker's leases are live";
    check_eq(step, &b.claim_batch(&early).await?, &nothing)?;
    for (event, stored) in &left {
        let step = format!("{event} before the deadline of the worker that died");
        check_standing(&step, &mut b, event, stored).await?;
    }
    let due = context.batch("B", 3, deadline, context.at(250));
    let step = "B claims at the deadline of the unacked events";
    check_eq(step, &b.claim_batch(&due).await?, &ids)?;
    for event in &ids {
        let stored = Standing::held(&due.token, context.at(250));
        let step = format!("{event}, which B took over at the deadline");
        check_standing(&step, &mut b, event, &stored).await?;
        check_attempts(&step, &mut b, event, 2).await?;
    }
    let again = context.batch("B", 3, deadline, context.at(250));
    check_eq("B claims once more", &b.claim_batch(&again).await?, &nothing)?;
    for event in &ids {
        // The next round's batch must find nothing of this one.
        b.ack(event, &due.token, deadline).await?;
    }
    Ok(())
}

/// The token of an event that the worker has just claimed.
fn token_of(
    worker: &Worker,
    event: &EventId,
) -> Result<leaseproof_engines::lease::FencingToken, Finding> {
    let missing = || Finding::Broken(format!("{event} was not handed to the worker"));
    worker.token(event).ok_or_else(missing)
}
