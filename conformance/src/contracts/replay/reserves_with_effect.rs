//! A crash between reservation and effect leaves neither, and the redelivery runs the effect.
//!
//! # Promise
//! The reservation is written in the transaction of the effect. However the transaction ends before its commit,
//! the ledger has not seen the event, so that the redelivery is not taken for a replay of work that
//! never happened.
//!
//! # Steps
//! For each end of the transaction (rolled back by a handler that failed; connection gone; connection ended from
//! outside, where the engine can), before and after the effect:
//! 1. A claims at 100 until 150, begins its transaction and reserves the event; in half of the rounds it also
//!    applies the effect. Then the transaction ends.
//! 2. Nothing of it is there: no effect, and a probe may reserve the event (and rolls back).
//! 3. B claims at 150 and delivers: `Reserved`, one effect, `DONE`.
//!
//! # How a violation looks
//! B is told `Duplicate` and acks an event whose effect never happened: it is lost for good. Or an effect
//! has stayed, and B's is the second.
//!
//! # Source
//! The consumer-idempotency example; Wave-RF/WaveHouse#384, sksmith/go-micro-example#58.

use leaseproof_engines::capability::StoreCapability;
use leaseproof_engines::lease::{Acked, Reserved};
use leaseproof_reports::Level;

use crate::contract::{Clocks, Contract, Scope};
use crate::harness::context::Context;
use crate::harness::finding::{Finding, Judged, check_eq};
use crate::harness::standing::{Standing, check_standing};
use crate::worker::{CONSUMER, Death, Delivered, Step, Worker};

mod controls;

/// See the module's documentation.
pub static CONTRACT: Contract = Contract {
    id: "replay/reserves-with-effect",
    promise: "a crash between reservation and effect leaves neither, and the redelivery runs the effect",
    level: Level::Core,
    requires: &[],
    offers: &[StoreCapability::CallerTransactions],
    scope: Scope::Once,
    clocks: Clocks::Any,
    source: "the consumer-idempotency example; Wave-RF/WaveHouse#384, sksmith/go-micro-example#58",
    controls: controls::CONTROLS,
    doc: include_str!("reserves_with_effect.rs"),
    run: |context| Box::pin(run(context)),
};

/// How a transaction ends that was not committed.
#[derive(Clone, Copy, Debug)]
enum Cut {
    RolledBack,
    Died(Death),
}

async fn run(context: &Context) -> Judged {
    let mut cuts = vec![Cut::RolledBack];
    cuts.extend(Death::all(context).iter().copied().map(Cut::Died));
    let mut b = Worker::new(context, "B").await?;
    for cut in &cuts {
        for last in [Step::Reserve, Step::Effect] {
            cut_short(context, &mut b, *cut, last).await?;
        }
    }
    Ok(vec![format!(
        "{} transactions cut short before and after the effect left nothing: {cuts:?}",
        2 * cuts.len()
    )])
}

async fn cut_short(context: &Context, b: &mut Worker, cut: Cut, last: Step) -> Result<(), Finding> {
    let when = format!("after a transaction was {cut:?} after {last:?}");
    let mut a = Worker::new(context, "A").await?;
    let event = context.enqueued(&mut a.actor, &format!("{cut:?}-after-{last:?}")).await?;
    let claimed = a.poll(context, 1, context.at(100), context.at(150)).await?;
    check_eq("A claims", &claimed, &vec![event.clone()])?;
    let delivered = a.deliver(&event, context.at(110), last).await?;
    check_eq("A's transaction up to its end", delivered, Delivered::CutShort(Reserved::Reserved))?;
    match cut {
        Cut::RolledBack => a.actor.rollback().await?,
        Cut::Died(death) => a.die(context, death).await?,
    }

    // The probe waits until the server has noticed that the connection is gone.
    b.actor.begin().await?;
    let probe = b.actor.reserve(CONSUMER, &event).await?;
    b.actor.rollback().await?;
    check_eq(&format!("a reservation {when}"), probe, Reserved::Reserved)?;
    let effects = b.actor.effects(CONSUMER, &event).await?;
    check_eq(&format!("the effects {when}"), effects, 0)?;

    let claimed = b.poll(context, 1, context.at(150), context.at(250)).await?;
    check_eq(&format!("B claims at 150 {when}"), &claimed, &vec![event.clone()])?;
    let delivered = b.deliver(&event, context.at(160), Step::Ack).await?;
    let promised = Delivered::Handled(Reserved::Reserved, Acked::Acked);
    check_eq(&format!("B delivers {when}"), delivered, promised)?;
    let effects = b.actor.effects(CONSUMER, &event).await?;
    check_eq(&format!("the effects after the redelivery, {when}"), effects, 1)?;
    let step = format!("B has acked {event}, {when}");
    check_standing(&step, &mut b.actor, &event, &Standing::unclaimable(context.at(300))).await
}
