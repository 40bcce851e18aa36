//! A released row is claimable at once, and no row is ever outside what a claim looks at.
//!
//! # Promise
//! After a release the event is as if it had never been claimed: nobody's, under no lease that a backlog
//! would count, no attempt used up.
//! Whoever asks next gets it, by every way of claiming. And whatever happened to it before, a pending row
//! is claimable at a late enough instant: there is no state that neither claim nor reclaim looks at.
//!
//! # Steps
//! 1. A claims three events at 100 until 150 and releases them at 110. Anybody can have them, and the backlog,
//!    where there is one, counts no lease; A's token can do nothing any more.
//! 2. At that instant B claims one by its id and two as a batch.
//! 3. B's lease ends; C claims at 200 and releases after its own lease is over: D claims at once.
//! 4. Then a seeded deck of claims, batches, renewals, releases, acks and clock steps is played on eight
//!    events by two workers. In the end one late batch gets exactly those that nobody acked; later still
//!    each of them can be claimed by its id.
//!
//! # How a violation looks
//! A release answers `Released` and the row waits for its old deadline, or for ever: `NULL` compared with
//! an instant is never true, so a row without a deadline but with a token is in nobody's view.
//!
//! # Source
//! rafidahmed870/queue-jobs-worker#1, aegra/aegra#547, quartz-scheduler/quartz#145.

use std::collections::{BTreeMap, BTreeSet};

use leaseproof_engines::capability::StoreCapability;
use leaseproof_engines::lease::{
    Acked, Claimed, EventId, FencingToken, Instant, NewEvent, Released, Renewed,
};
use leaseproof_reports::Level;

use crate::contract::{Clocks, Contract, Scope};
use crate::harness::actor::Actor;
use crate::harness::context::Context;
use crate::harness::finding::{Finding, Judged, check, check_eq};
use crate::harness::standing::{Standing, check_attempts, check_standing};

mod controls;

/// See the module's documentation.
pub static CONTRACT: Contract = Contract {
    id: "stop/release-is-claimable",
    promise: "a released row is claimable at once, and no row lies outside what claim or reclaim looks at",
    level: Level::Core,
    requires: &[],
    offers: &[StoreCapability::Release],
    scope: Scope::EachStrategy,
    clocks: Clocks::Any,
    source: "rafidahmed870/queue-jobs-worker#1, aegra/aegra#547, quartz-scheduler/quartz#145",
    controls: controls::CONTROLS,
    doc: include_str!("release_is_claimable.rs"),
    run: |context| Box::pin(run(context)),
};

/// How many events are played with.
const EVENTS: usize = 8;

async fn run(context: &Context) -> Judged {
    let mut a = context.actor("A").await?;
    let mut b = context.actor("B").await?;
    released_at_once(context, &mut a, &mut b).await?;
    released_late(context, &mut a, &mut b).await?;
    let (played, acked) = play(context, &mut a, &mut b).await?;
    let pending = all_in_view(context, &mut a, &acked).await?;
    Ok(vec![
        "a released row was claimed at the same instant, by its id and as a batch".to_owned(),
        played,
        format!(
            "{pending} of {} events were not acked, all claimable late, as a batch and by id",
            ids().len()
        ),
    ])
}

/// Every event of the case.
fn ids() -> Vec<EventId> {
    let played = (1..=EVENTS).map(|number| EventId::new(format!("played-{number}")));
    let released = (1..=3).map(|number| EventId::new(format!("released-{number}")));
    played.chain(released).collect()
}

/// Steps 1 and 2.
async fn released_at_once(context: &Context, a: &mut Actor, b: &mut Actor) -> Result<(), Finding> {
    let events = &ids()[EVENTS..];
    for event in events {
        context.enqueued(a, &event.0).await?;
    }
    let batch = context.batch("A", 3, context.at(100), context.at(150));
    check_eq("A claims three", a.claim_batch(&batch).await?.as_slice(), events)?;
    let now = context.at(110);
    for event in events {
        let step = format!("A releases {event}");
        check_eq(&step, a.release(event, &batch.token).await?, Released::Released)?;
        check_standing(&step, b, event, &Standing::free(now)).await?;
    }
    no_lease(b, now).await?;
    let renewed = a.renew(&events[0], &batch.token, now, context.at(300)).await?;
    check_eq("A renews what it has released", renewed, Renewed::Refused)?;
    let acked = a.ack(&events[0], &batch.token, now).await?;
    check_eq("A acks what it has released", acked, Acked::Refused)?;

    let token = context.token("B");
    let claimed = b.claim(&events[0], &token, now, context.at(160)).await?;
    check_eq("B claims a released event by its id, at once", claimed, Claimed::Claimed)?;
    let batch = context.batch("B", 3, now, context.at(160));
    let claimed = b.claim_batch(&batch).await?;
    check_eq(
        "B claims the other released events as a batch, at once",
        claimed.as_slice(),
        &events[1..],
    )?;
    for event in events {
        check_attempts("a release and a claim", b, event, 1).await?;
    }
    Ok(())
}

/// What was released is under no lease, be it live or over.
async fn no_lease(reader: &mut Actor, now: Instant) -> Result<(), Finding> {
    if !reader.has(StoreCapability::Backlog) {
        return Ok(());
    }
    let backlog = reader.backlog(now).await?;
    check(backlog.active == 0 && backlog.expired == 0, || {
        format!(
            "every event was released, and at {now} the backlog counts {} live leases and {} that are over",
            backlog.active, backlog.expired
        )
    })
}

/// Step 3: a release after the deadline is one too, as long as nobody else has the row.
async fn released_late(context: &Context, c: &mut Actor, d: &mut Actor) -> Result<(), Finding> {
    let event = &ids()[EVENTS];
    let (token_c, token_d) = (context.token("C"), context.token("D"));
    let claimed = c.claim(event, &token_c, context.at(200), context.at(250)).await?;
    check_eq("C claims when B's lease is over", claimed, Claimed::Claimed)?;
    let released = c.release(event, &token_c).await?;
    check_eq("C releases after its deadline", released, Released::Released)?;
    let free = Standing::free(context.at(260));
    check_standing("C releases after its deadline", d, event, &free).await?;
    let claimed = d.claim(event, &token_d, context.at(260), context.at(310)).await?;
    check_eq("D claims at once", claimed, Claimed::Claimed)
}

/// What may happen to an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Card {
    Claim,
    Batch,
    Renew,
    Release,
    Ack,
    Later,
}

/// A deck in an order drawn from the case's seed.
fn deck(context: &Context) -> Vec<Card> {
    let counts = [
        (Card::Claim, 14),
        (Card::Batch, 6),
        (Card::Renew, 10),
        (Card::Release, 12),
        (Card::Ack, 3),
        (Card::Later, 9),
    ];
    let mut deck: Vec<_> =
        counts.iter().flat_map(|(card, count)| std::iter::repeat_n(*card, *count)).collect();
    for last in (1..deck.len()).rev() {
        deck.swap(last, below(context, last + 1));
    }
    deck
}

fn below(context: &Context, bound: usize) -> usize {
    let bound = u32::try_from(bound).expect("a deck is small");
    context.below(bound) as usize
}

/// Step 4: plays the deck; returns what took effect, in words, and what was acked.
async fn play(
    context: &Context,
    a: &mut Actor,
    b: &mut Actor,
) -> Result<(String, BTreeSet<EventId>), Finding> {
    let events = &ids()[..EVENTS];
    let new: Vec<NewEvent> = events.iter().map(|event| context.new_event(&event.0)).collect();
    a.enqueue(&new).await?;
    let mut tokens: BTreeMap<EventId, FencingToken> = BTreeMap::new();
    let mut acked = BTreeSet::new();
    let mut effective: BTreeMap<Card, usize> = BTreeMap::new();
    let mut clock = 1000;
    let deck = deck(context);
    for card in &deck {
        let actor = if context.below(2) == 0 { &mut *a } else { &mut *b };
        let event = &events[below(context, EVENTS)];
        let (now, until) =
            (context.at(clock), context.at(clock + 20 + i64::from(context.below(20))));
        let held = tokens.get(event).cloned();
        let took_effect = match (*card, &held) {
            (Card::Claim, _) => {
                let token = context.token(actor.name());
                let claimed = actor.claim(event, &token, now, until).await? == Claimed::Claimed;
                if claimed {
                    tokens.insert(event.clone(), token);
                }
                claimed
            }
            (Card::Batch, _) => {
                let batch = context.batch(actor.name(), 2, now, until);
                let claimed = actor.claim_batch(&batch).await?;
                let token = |event: &EventId| (event.clone(), batch.token.clone());
                tokens.extend(claimed.iter().map(token));
                !claimed.is_empty()
            }
            (Card::Renew, Some(token)) => {
                actor.renew(event, token, now, until).await? == Renewed::Renewed
            }
            (Card::Release, Some(token)) => {
                let released = actor.release(event, token).await? == Released::Released;
                if released {
                    let step = format!("{} releases {event}", actor.name());
                    check_standing(&step, actor, event, &Standing::free(now)).await?;
                }
                released
            }
            (Card::Ack, Some(token)) => {
                let done = actor.ack(event, token, now).await? == Acked::Acked;
                acked.extend(done.then(|| event.clone()));
                done
            }
            (Card::Later, _) => {
                clock += 1 + i64::from(context.below(20));
                true
            }
            (_, None) => false,
        };
        *effective.entry(*card).or_default() += usize::from(took_effect);
    }
    let words = format!("of a deck of {} operations took effect: {effective:?}", deck.len());
    Ok((words, acked))
}

/// Every event that nobody acked is claimed late: all as one batch, and later each by its id.
async fn all_in_view(
    context: &Context,
    actor: &mut Actor,
    acked: &BTreeSet<EventId>,
) -> Result<usize, Finding> {
    let mut pending = ids();
    pending.retain(|event| !acked.contains(event));
    pending.sort();
    let batch = context.batch("late", 50, context.at(10_000), context.at(10_050));
    let mut claimed = actor.claim_batch(&batch).await?;
    claimed.sort();
    check_eq("a late batch, beside the events that nobody acked", &claimed, &pending)?;
    for event in &pending {
        let token = context.token("later");
        let claimed = actor.claim(event, &token, context.at(20_000), context.at(20_050)).await?;
        check_eq(&format!("a late claim of {event}"), claimed, Claimed::Claimed)?;
    }
    check(!pending.is_empty(), || "every event was acked in the end".to_owned())?;
    Ok(pending.len())
}
