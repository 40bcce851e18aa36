//! Instants have one total order, whatever day, fraction, sign or century they fall in.
//!
//! # Promise
//! What is earlier is earlier in every comparison that the protocol makes: when an event is due, until
//! when a lease lasts, whether a renewal is later, in which order events are handed out, and what the
//! backlog counts. An instant counts as it was given, to the microsecond.
//!
//! # Steps
//! A ladder of instants crosses what representations trip over: year 1, the origin, one more digit, a
//! fraction of a second, midnight, the hour that summer time skips, 2038, the limit of exact floating
//! point, year 10000, the limit of 64 bits.
//! 1. One event for each rung, due there, with ids in the opposite order. The candidates at each rung
//!    are those due up to it, in order; a batch claimed there takes just the new one.
//! 2. One event for each rung, with a lease that ends there. At the rung below it is active; at its
//!    own the batch takes it. Where the store reports a backlog, it says the same.
//! 3. At each rung an event is claimed until the next. A renewal to the same or an earlier rung is refused,
//!    and so is one at its deadline; one to the rung after takes effect, and lasts until that is reached.
//!    A microsecond before each deadline nobody else can claim the event, at the deadline somebody can.
//!
//! # How a violation looks
//! An expired lease looks live for the rest of the day, or a fresh one looks stale; an event is due a
//! second early; a deadline in 2039 lies in the past.
//!
//! # Source
//! getsentry/taskbroker#106, openwallet-foundation/askar#260, Neko-Catpital-Labs/Invoker#8152,
//! jpicklyk/task-orchestrator#267, ujeenet/rustango#1464, rusqlite/rusqlite#1858,
//! librefang/librefang#6049.

use leaseproof_engines::capability::StoreCapability;
use leaseproof_engines::lease::{
    Backlog, ClaimBatch, Claimed, EventId, Instant, NewEvent, Renewed,
};
use leaseproof_reports::Level;

use crate::contract::{Clocks, Contract, Scope};
use crate::harness::actor::Actor;
use crate::harness::context::Context;
use crate::harness::finding::{Finding, Judged, check_eq};
use crate::harness::standing::{Standing, check_refused, check_standing};

mod controls;

/// See the module's documentation.
pub static CONTRACT: Contract = Contract {
    id: "time/instant-keeps-order",
    promise: "instants keep one total order across day, fraction, sign and far future, wherever they are compared",
    level: Level::Core,
    requires: &[],
    offers: &[StoreCapability::EveryInstant, StoreCapability::MicrosecondInstants],
    scope: Scope::EachStrategy,
    clocks: Clocks::Logical,
    source: "getsentry/taskbroker#106, openwallet-foundation/askar#260, Neko-Catpital-Labs/Invoker#8152, \
             jpicklyk/task-orchestrator#267, ujeenet/rustango#1464, rusqlite/rusqlite#1858, \
             librefang/librefang#6049",
    controls: controls::CONTROLS,
    doc: include_str!("instant_keeps_order.rs"),
    run: |context| Box::pin(run(context)),
};

/// Instants in order, and what begins or ends there.
const LADDER: [i64; 21] = [
    -62_135_596_800_000_000, // year 1
    -1_000_001,              // a fraction below the origin
    -1,
    0,
    9, // one digit, then two
    10,
    999_999, // a fraction, then a whole second, then a fraction
    1_000_000,
    1_000_001,
    86_399_999_999, // midnight
    86_400_000_000,
    1_711_846_799_999_999, // the hour that most of Europe skipped in 2024
    1_711_846_800_000_000,
    2_147_483_647_999_999, // the end of 32-bit seconds
    2_147_483_648_000_000,
    9_007_199_254_740_992, // the end of exact floating point
    9_007_199_254_740_993,
    253_402_300_799_999_999, // the end of year 9999
    253_402_300_800_000_000,
    i64::MAX - 1, // the end of 64 bits
    i64::MAX,
];

/// The rungs at which something can be claimed: a deadline must lie ahead.
const CLAIMABLE: &[i64] = LADDER.split_at(LADDER.len() - 1).0;

/// Before every rung.
const FIRST: Instant = Instant(LADDER[0] - 1);
const LAST: Instant = Instant(i64::MAX);

async fn run(context: &Context) -> Judged {
    let mut a = context.actor("A").await?;
    let mut reader = context.actor("reader").await?;
    due_in_order(context, &mut a, &mut reader).await?;
    expires_in_order(context, &mut a, &mut reader).await?;
    climbs(context, &mut a, &mut reader).await?;
    Ok(vec![format!(
        "{} instants from year 1 to the limit of 64 bits kept their order as due instant, deadline and clock",
        LADDER.len()
    )])
}

/// An event's name, which sorts against the ladder, so that no order comes from the names.
fn named(what: &str, rung: usize) -> EventId {
    EventId::new(format!("{what}-{:02}", LADDER.len() - rung))
}

/// A batch that takes whatever may be taken.
async fn claimed(
    context: &Context,
    actor: &mut Actor,
    now: Instant,
) -> Result<Vec<EventId>, Finding> {
    let batch = ClaimBatch { limit: 100, ..context.batch("A", 100, now, LAST) };
    Ok(actor.claim_batch(&batch).await?)
}

async fn due_in_order(context: &Context, a: &mut Actor, reader: &mut Actor) -> Result<(), Finding> {
    let names: Vec<_> = (0..LADDER.len()).map(|rung| named("due", rung)).collect();
    let due = names.iter().zip(LADDER);
    let mut events: Vec<_> = due
        .map(|(event, due)| NewEvent { due: Instant(due), ..context.new_event(&event.0) })
        .collect();
    events.reverse();
    a.enqueue(&events).await?;
    for (rung, now) in LADDER.into_iter().enumerate() {
        let candidates = reader.candidates(100, Instant(now)).await?;
        check_eq(&format!("the candidates at {now} µs"), candidates, names[..=rung].to_vec())?;
    }
    for (rung, now) in CLAIMABLE.iter().enumerate() {
        let batch = claimed(context, a, Instant(*now)).await?;
        check_eq(
            &format!("a batch at {now} µs, all earlier ones being held"),
            batch,
            vec![names[rung].clone()],
        )?;
    }
    Ok(())
}

async fn expires_in_order(
    context: &Context,
    a: &mut Actor,
    reader: &mut Actor,
) -> Result<(), Finding> {
    let names: Vec<_> = (0..CLAIMABLE.len()).map(|rung| named("lease", rung)).collect();
    let new = |event: &EventId| NewEvent { due: FIRST, ..context.new_event(&event.0) };
    a.enqueue(&names.iter().map(new).collect::<Vec<_>>()).await?;
    for (event, until) in names.iter().zip(CLAIMABLE) {
        let token = context.token("A");
        let claimed = a.claim(event, &token, FIRST, Instant(*until)).await?;
        check_eq(&format!("A claims until {until} µs"), claimed, Claimed::Claimed)?;
    }
    for (rung, now) in CLAIMABLE.iter().enumerate() {
        let before = reader.candidates(100, Instant(now - 1)).await?;
        check_eq(
            &format!("the candidates a microsecond before the deadline {now} µs"),
            before,
            vec![],
        )?;
        if reader.has(StoreCapability::Backlog) {
            let mut backlog = reader.backlog(Instant(*now)).await?;
            backlog.age_us = 0;
            // Whatever was taken before is held until the last instant.
            let active = i64::try_from(2 * CLAIMABLE.len() - 1).expect("a short ladder");
            let promised = Backlog { claimable: 1, active, expired: 1, age_us: 0 };
            let step = format!(
                "the backlog, its age aside, at the deadline {now} µs of one of the leases"
            );
            check_eq(&step, backlog, promised)?;
        }
        let batch = claimed(context, a, Instant(*now)).await?;
        check_eq(&format!("a batch at the deadline {now} µs"), batch, vec![names[rung].clone()])?;
    }
    Ok(())
}

async fn climbs(context: &Context, a: &mut Actor, reader: &mut Actor) -> Result<(), Finding> {
    for (rung, rungs) in LADDER.windows(3).enumerate() {
        let [now, until, later] = [rungs[0], rungs[1], rungs[2]].map(Instant);
        let event = named("climber", rung);
        a.enqueue(&[NewEvent { due: FIRST, ..context.new_event(&event.0) }]).await?;
        let token = context.token("A");
        let step = format!("A claims at {} µs until {} µs", now.0, until.0);
        check_eq(&step, a.claim(&event, &token, now, until).await?, Claimed::Claimed)?;
        let held = Standing::held(&token, until);
        check_standing(&step, reader, &event, &held).await?;
        for (at, wanted, why) in [
            (now, now, "its own instant"),
            (now, until, "the deadline it has"),
            (until, later, "a later rung when its lease is over"),
        ] {
            let step = format!("A renews at {} µs to {} µs, {why}", at.0, wanted.0);
            let answer = a.renew(&event, &token, at, wanted).await;
            check_refused(&step, reader, &event, &held, answer, Renewed::Refused).await?;
        }
        let step = format!("A renews at {} µs from {} µs to {} µs", now.0, until.0, later.0);
        check_eq(&step, a.renew(&event, &token, now, later).await?, Renewed::Renewed)?;
        let held = Standing::held(&token, later);
        check_standing(&step, reader, &event, &held).await?;
        let other = context.token("B");
        let step = format!("B claims at {} µs, A holding until {} µs", until.0, later.0);
        let answer = a.claim(&event, &other, until, LAST).await;
        check_refused(&step, reader, &event, &held, answer, Claimed::NotClaimed).await?;
        if later != LAST {
            let step = format!("B claims at {} µs, A's deadline", later.0);
            check_eq(&step, a.claim(&event, &other, later, LAST).await?, Claimed::Claimed)?;
        }
    }
    Ok(())
}
