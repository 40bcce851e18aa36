//! Two ids that differ in any way are two reservations, or the longer one is an error; never a duplicate.
//!
//! # Promise
//! A consumer that is told `Duplicate` skips the event for good. It is told so only for the very id, byte
//! for byte, that the very consumer has reserved before. An id that the ledger cannot hold is an error,
//! so that somebody looks; a shortened or folded one is an event lost in silence.
//!
//! # Steps
//! Ids are taken that differ from one another in case, accent, composition, trailing blank, leading blank,
//! length (two of more than 300 characters with a common beginning), an embedded NUL, and digits that are
//! equal as numbers.
//! 1. Each id is reserved: `Reserved`, or a fatal error. All of them for one consumer, so that each meets
//!    every other; then in the opposite order for a second consumer.
//! 2. The effect of each that was reserved is applied and is there once, under that id alone. Each is
//!    reserved once more: `Duplicate`.
//! 3. An id is reserved for consumers that differ only in case or in where consumer and id meet.
//! 4. A session on which the server refuses writes reserves a new id: an error, and no reservation.
//!
//! # How a violation looks
//! The first reservation of an id is a `Duplicate`: its event is dropped as a replay. Or the second one is
//! `Reserved`: the effect happens twice.
//!
//! # Source
//! ioBroker/ioBroker.sql#520 (shortened), agentscope-ai/agentscope-java#3217 and s9y/additional_plugins#161
//! (case folded), Livijn/multiple-tokens-auth#5.

use leaseproof_engines::ErrorKind;
use leaseproof_engines::lease::{EventId, Reserved};
use leaseproof_engines::store::SessionOptions;
use leaseproof_reports::Level;

use crate::contract::{Clocks, Contract, Scope};
use crate::harness::actor::Actor;
use crate::harness::context::Context;
use crate::harness::finding::{Finding, Judged, check, check_eq};

mod controls;

/// See the module's documentation.
pub static CONTRACT: Contract = Contract {
    id: "replay/reserves-exactly",
    promise: "ids that differ in case, accent, blank, length or NUL are different reservations or an error, never a duplicate",
    level: Level::Core,
    requires: &[],
    offers: &[],
    scope: Scope::Once,
    clocks: Clocks::Any,
    source: "ioBroker/ioBroker.sql#520, agentscope-ai/agentscope-java#3217, s9y/additional_plugins#161, Livijn/multiple-tokens-auth#5",
    controls: controls::CONTROLS,
    doc: include_str!("reserves_exactly.rs"),
    run: |context| Box::pin(run(context)),
};

/// Ids of which each differs from every other, if only in one respect.
fn ids() -> Vec<EventId> {
    let long = "order-".repeat(52);
    let mut ids: Vec<String> = [
        "Evt-1",
        "evt-1",
        "EVT-1",
        "evt-1 ",
        "evt-1  ",
        " evt-1",
        "evt-1\t",
        "evt-1\u{301}",
        "caf\u{e9}",
        "cafe\u{301}",
        "cafe",
        "stra\u{df}e",
        "strasse",
        "evt-1\0",
        "evt-1\0a",
        "evt-1\0b",
        "7",
        "07",
        "7.0",
        "7e0",
        "null",
        "NULL",
        "it's",
        "a%",
        "a_",
        "ab",
        "\u{1f980}",
        "\u{1f981}",
    ]
    .map(str::to_owned)
    .to_vec();
    ids.extend([format!("{long}created"), format!("{long}shipped"), long]);
    ids.into_iter().map(EventId::new).collect()
}

async fn run(context: &Context) -> Judged {
    let mut actor = context.actor("consumer").await?;
    let ids = ids();
    let mut refused = reserve_each(&mut actor, "forwards", ids.iter()).await?;
    refused.extend(reserve_each(&mut actor, "backwards", ids.iter().rev()).await?);
    let pairs = consumers(&mut actor).await?;
    cannot_write(context, &mut actor).await?;
    refused.sort();
    refused.dedup();
    Ok(vec![
        format!(
            "{} ids in two orders, all pairs kept apart; {} refused with an error: {}",
            ids.len(),
            refused.len(),
            if refused.is_empty() { "none".to_owned() } else { refused.join(", ") }
        ),
        format!("one event reserved apart by each of {pairs} consumers"),
        "an insert that the server refused was an error, and left no reservation".to_owned(),
    ])
}

/// Reserves all ids for one consumer; returns those that the engine refused, and its codes.
async fn reserve_each(
    actor: &mut Actor,
    consumer: &str,
    ids: impl Iterator<Item = &EventId>,
) -> Result<Vec<String>, Finding> {
    let (mut reserved, mut refused) = (Vec::new(), Vec::new());
    for event in ids {
        match actor.reserve(consumer, event).await {
            Ok(answer) => {
                let step = format!("the first reservation of {} by `{consumer}`", shortened(event));
                check_eq(&step, answer, Reserved::Reserved)?;
                reserved.push(event);
            }
            Err(error) if error.kind == ErrorKind::Fatal => {
                let code = error.code.unwrap_or_default();
                refused.push(format!("{} (code {code})", shortened(event)));
            }
            Err(error) => return Err(Finding::Errored(error)),
        }
    }
    check(reserved.len() > refused.len(), || {
        format!("most ids were refused to `{consumer}` with an error: {}", refused.join(", "))
    })?;
    for event in &reserved {
        actor.apply_effect(consumer, event).await?;
    }
    for event in reserved {
        let step = format!("the effects of {} for `{consumer}`", shortened(event));
        check_eq(&step, actor.effects(consumer, event).await?, 1)?;
        let step = format!("the second reservation of {} by `{consumer}`", shortened(event));
        check_eq(&step, actor.reserve(consumer, event).await?, Reserved::Duplicate)?;
    }
    Ok(refused)
}

/// What one consumer has seen says nothing of another.
async fn consumers(actor: &mut Actor) -> Result<usize, Finding> {
    let pairs = [
        ("mail", "er-1"),
        ("Mail", "er-1"),
        ("maile", "r-1"),
        ("mail ", "er-1"),
        ("m\u{e4}il", "er-1"),
    ];
    for (consumer, id) in pairs {
        let event = EventId::new(id);
        let step = format!("the first reservation of {id:?} by {consumer:?}");
        check_eq(&step, actor.reserve(consumer, &event).await?, Reserved::Reserved)?;
    }
    Ok(pairs.len())
}

/// An insert that failed has told nothing of the event.
async fn cannot_write(context: &Context, actor: &mut Actor) -> Result<(), Finding> {
    let options = SessionOptions { read_only: true, ..SessionOptions::default() };
    let mut reader = context.actor_with("reader", &options).await?;
    let event = EventId::new("never-written");
    let answer = reader.reserve("consumer", &event).await;
    check(answer.is_err(), || {
        format!(
            "`consumer` reserved {event} on a session on which the server refuses writes, and was told {answer:?}"
        )
    })?;
    let step = "the first reservation of `never-written` by `consumer` that could be written";
    check_eq(step, actor.reserve("consumer", &event).await?, Reserved::Reserved)
}

/// The id as it reads in one line.
fn shortened(event: &EventId) -> String {
    let text: String = event.0.chars().take(16).collect();
    match text.len() < event.0.len() {
        true => format!("{text:?}… of {} bytes", event.0.len()),
        false => format!("{text:?}"),
    }
}
