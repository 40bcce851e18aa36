//! Work that outlives its lease is not acked, and work whose lease is over is not started.
//!
//! # Promise
//! A batch is claimed under one deadline and its items are run one after another. The time an item spends
//! in the queue counts: when its turn comes after the deadline, somebody else may have it already, so it
//! is not started. An item that was running when the deadline came is not acked. The store refuses such
//! an ack even if the worker tries, taken over or not.
//!
//! # Steps
//! 1. A claims four events at 100 until 160. Each takes 31.
//! 2. The first ends at 131: acked. The second is started at 131 and ends at 162: it is not acked and has no
//!    effect. The third's turn is at 162, the fourth's exactly at 160: neither is started.
//! 3. A's token tries to ack the three at the deadline itself, when nobody has taken them: refused, and
//!    nothing changes.
//! 4. B claims the three at 161. A's token tries again: refused. B handles and acks them.
//! 5. All are done with one effect each, the first by A's token and the others by B's.
//!
//! # How a violation looks
//! The worker begins an item that is not its own any more (two run it at once), or an ack is accepted
//! after the deadline: the final state is that of a worker that had lost the event.
//!
//! # Source
//! The worker-shutdown example; RamaAditya49/titen#151, deltawi/deltallm#249, imtms/tagent-core#56,
//! hexpm/hexpm#1825.

use leaseproof_engines::capability::StoreCapability;
use leaseproof_engines::lease::{Acked, EventId, FencingToken, Reserved};
use leaseproof_reports::Level;

use crate::contract::{Clocks, Contract, Scope};
use crate::harness::actor::Actor;
use crate::harness::context::Context;
use crate::harness::finding::{Finding, Judged, check, check_eq};
use crate::harness::standing::{Standing, check_refused, check_standing};
use crate::worker::{CONSUMER, Delivered, Step, Worker};

mod controls;

/// See the module's documentation.
pub static CONTRACT: Contract = Contract {
    id: "stop/never-acks-expired",
    promise: "in-flight work that outlives its lease is not acked, and is not started once its lease is over",
    level: Level::Core,
    requires: &[],
    offers: &[StoreCapability::CallerTransactions],
    scope: Scope::EachStrategy,
    clocks: Clocks::Any,
    source: "the worker-shutdown example; RamaAditya49/titen#151, deltawi/deltallm#249, imtms/tagent-core#56, hexpm/hexpm#1825",
    controls: controls::CONTROLS,
    doc: include_str!("never_acks_expired.rs"),
    run: |context| Box::pin(run(context)),
};

async fn run(context: &Context) -> Judged {
    let mut a = Worker::new(context, "A").await?;
    let mut b = Worker::new(context, "B").await?;
    let ids: Vec<_> = (1..=4).map(|number| EventId::new(format!("item-{number}"))).collect();
    for event in &ids {
        context.enqueued(&mut b.actor, &event.0).await?;
    }
    let claimed = a.poll(context, 4, context.at(100), context.at(160)).await?;
    check_eq("A claims a batch of four", &claimed, &ids)?;
    let stale = a.token(&ids[0]).unwrap_or_else(|| context.token("A"));

    one_after_another(context, &mut a, &ids).await?;
    let over = Standing::held(&stale, context.at(160));
    late_acks(context, &mut a.actor, (&stale, &over), &ids[1..], "before anybody took it over")
        .await?;
    let claimed = b.poll(context, 4, context.at(161), context.at(260)).await?;
    check_eq("B claims what A has not acked", claimed.as_slice(), &ids[1..])?;
    let fresh = b.token(&ids[1]).unwrap_or_else(|| context.token("B"));
    let taken = Standing::held(&fresh, context.at(260));
    late_acks(context, &mut a.actor, (&stale, &taken), &ids[1..], "after B took it over").await?;
    for event in &ids[1..] {
        let delivered = b.deliver(event, context.at(170), Step::Ack).await?;
        let promised = Delivered::Handled(Reserved::Reserved, Acked::Acked);
        check_eq(&format!("B handles {event}"), delivered, promised)?;
    }
    for event in &ids {
        let (token, until) = if *event == ids[0] { (&stale, 160) } else { (&fresh, 260) };
        let step = format!("{event} was handled and acked");
        check_standing(&step, &mut b.actor, event, &Standing::done(token, context.at(until)))
            .await?;
        let effects = b.actor.effects(CONSUMER, event).await?;
        check_eq(&format!("the effects of {event}"), effects, 1)?;
    }
    Ok(vec![
        "one of four items ended within the batch's lease; 3 were left, 6 late acks were refused"
            .to_owned(),
    ])
}

/// Step 2, on the clock of a worker that runs one item at a time.
async fn one_after_another(
    context: &Context,
    a: &mut Worker,
    ids: &[EventId],
) -> Result<(), Finding> {
    check(a.start(&ids[0], context.at(100)), || {
        "A may not start what it has just claimed".to_owned()
    })?;
    let first = a.deliver(&ids[0], context.at(131), Step::Ack).await?;
    check_eq(
        "A ends its first item at 131",
        first,
        Delivered::Handled(Reserved::Reserved, Acked::Acked),
    )?;
    check(a.start(&ids[1], context.at(131)), || {
        "A may not start an item within its lease".to_owned()
    })?;
    let second = a.deliver(&ids[1], context.at(162), Step::Ack).await?;
    check_eq(
        "A ends its second item at 162, when its lease is over",
        second,
        Delivered::LeaseOver,
    )?;
    for (event, step) in [(&ids[3], 160), (&ids[2], 162)] {
        check(!a.start(event, context.at(step)), || {
            format!("A started {event} at {step}, when its lease until 160 was over")
        })?;
    }
    for event in &ids[1..] {
        let effects = a.actor.effects(CONSUMER, event).await?;
        check_eq("the effects of an item that outlived its lease", effects, 0)?;
    }
    Ok(())
}

/// The worker's own check aside: the store refuses, from the deadline on.
async fn late_acks(
    context: &Context,
    a: &mut Actor,
    (stale, standing): (&FencingToken, &Standing),
    ids: &[EventId],
    when: &str,
) -> Result<(), Finding> {
    for event in ids {
        let answer = a.ack(event, stale, context.at(160)).await;
        let step = format!("A's ack of {event} at its deadline, {when}");
        check_refused(&step, a, event, standing, answer, Acked::Refused).await?;
    }
    Ok(())
}
