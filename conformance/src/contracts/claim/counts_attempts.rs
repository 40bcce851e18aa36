//! Every claim counts as an attempt, also when nobody ever reports how it ended; a release does not.
//!
//! # Promise
//! The attempt is counted by the claim itself, so a worker that dies counts as much as one that fails.
//! An event that was claimed as often as the store allows is claimed no more; once its last lease is over
//! it is given up as `DEAD`, and not before. A worker that gives an event back has not tried it.
//!
//! # Steps
//! In a store that allows three attempts:
//! 1. An event is claimed, and its worker is never heard of again; after the lease it is claimed again,
//!    and given back, where the store takes that; then claimed a second and a third time. The store counts
//!    1, 1, 2, 3.
//! 2. While the third lease is live, nothing is given up, and its owner still is one. When it is over, no
//!    claim takes the event, in a batch or by its id, nor counts as one.
//! 3. It is given up, still with three attempts. Giving up again finds nothing.
//! 4. The last worker can neither renew, ack nor release what was given up, and nobody can claim it.
//! 5. Another event is claimed three times, and the third worker acks it: it is done, and never given up.
//! 6. A claim that is rolled back counts nothing.
//!
//! # How a violation looks
//! Work that kills its worker is handed out for ever, and takes one worker after the other with it; or
//! every deployment uses up an attempt of what was in flight, until good work is given up.
//!
//! # Source
//! `vectorize-io/hindsight#2675`, `vectorize-io/hindsight#2834`, `oban-bg/oban#137`,
//! `digitallyinduced/ihp#2644`, `nazarli-shabnam/clevis#130`, `oluciano/NexJob#143`.

use leaseproof_engines::capability::StoreCapability;
use leaseproof_engines::lease::{
    Acked, Claimed, Confirmed, EventId, FencingToken, Released, Renewed,
};
use leaseproof_engines::store::StoreOptions;
use leaseproof_reports::Level;

use crate::contract::{Clocks, Contract, Scope};
use crate::harness::actor::{Actor, Way};
use crate::harness::context::Context;
use crate::harness::finding::{Finding, Judged, check, check_eq};
use crate::harness::standing::{Standing, check_attempts, check_refused};

mod controls;

/// See the module's documentation.
pub static CONTRACT: Contract = Contract {
    id: "claim/counts-attempts",
    promise: "every claim counts as an attempt, a release does not, and past the maximum the event is dead",
    level: Level::Extended,
    requires: &[],
    offers: &[StoreCapability::AttemptCount],
    scope: Scope::EachStrategy,
    clocks: Clocks::Any,
    source: "vectorize-io/hindsight#2675, vectorize-io/hindsight#2834, oban-bg/oban#137, \
             digitallyinduced/ihp#2644, nazarli-shabnam/clevis#130, oluciano/NexJob#143",
    controls: controls::CONTROLS,
    doc: include_str!("counts_attempts.rs"),
    run: |context| Box::pin(run(context)),
};

/// How often an event may be claimed.
const MAX: u32 = 3;

async fn run(context: &Context) -> Judged {
    let context =
        &context.on_another_store(StoreOptions { max_attempts: MAX, ..Default::default() }).await?;
    for way in Way::BOTH {
        dies_every_time(context, way).await?;
    }
    succeeds_at_last(context).await?;
    if context.offers(StoreCapability::CallerTransactions) {
        rolled_back(context).await?;
    }
    Ok(vec![format!(
        "{MAX} workers died with an event; then it was given up and claimed by nobody"
    )])
}

/// A worker that claims one event, by its id or in a batch, and is never heard of again.
struct Crowd<'case> {
    context: &'case Context,
    way: Way,
    event: EventId,
    reader: Actor,
}

impl Crowd<'_> {
    async fn claim(
        &mut self,
        name: &str,
        now: i64,
        until: i64,
    ) -> Result<Option<FencingToken>, Finding> {
        let (now, until) = (self.context.at(now), self.context.at(until));
        let batch = self.context.batch(name, 10, now, until);
        let mut worker = self.context.actor(name).await?;
        let claimed = worker.claim_by(self.way, &self.event, &batch).await?;
        worker.close().await;
        Ok(claimed.then_some(batch.token))
    }

    async fn must_claim(
        &mut self,
        name: &str,
        now: i64,
        until: i64,
    ) -> Result<FencingToken, Finding> {
        let token = self.claim(name, now, until).await?;
        token.ok_or_else(|| Finding::Broken(format!("{name} could not claim at {now}min")))
    }

    async fn attempts(&mut self, when: &str, count: i64) -> Result<(), Finding> {
        check_attempts(when, &mut self.reader, &self.event, count).await
    }

    /// One claims and gives the event back, which is no attempt.
    async fn gives_back(&mut self) -> Result<(), Finding> {
        let token = self.must_claim("B", 150, 200).await?;
        self.attempts("B has claimed", 2).await?;
        let released = self.reader.release(&self.event, &token).await?;
        check_eq("B gives the event back", released, Released::Released)?;
        self.attempts("B has given it back", 1).await
    }
}

async fn dies_every_time(context: &Context, way: Way) -> Result<(), Finding> {
    let at = |step| context.at(step);
    let mut reader = context.actor("reader").await?;
    let event = context.enqueued(&mut reader, &format!("POISON-{way:?}")).await?;
    let mut crowd = Crowd { context, way, event: event.clone(), reader };
    crowd.attempts("nobody has claimed", 0).await?;
    crowd.must_claim("A", 100, 150).await?;
    crowd.attempts("A has claimed and died", 1).await?;
    if context.offers(StoreCapability::Release) {
        crowd.gives_back().await?;
    }
    crowd.must_claim("C", 160, 210).await?;
    crowd.attempts("C has claimed and died", 2).await?;
    let last = crowd.must_claim("D", 210, 260).await?;
    crowd.attempts("D has claimed", i64::from(MAX)).await?;

    let early = context.just_before(260);
    let given_up = crowd.reader.dead_letter(10, early).await?;
    check_eq("given up while D's lease is live", given_up, vec![])?;
    if context.offers(StoreCapability::Confirm) {
        let confirmed = crowd.reader.confirm(&event, &last, early).await?;
        check_eq("D confirms right before its deadline 260", confirmed, Confirmed::Confirmed)?;
    }
    let extra = crowd.claim("E", 270, 320).await?;
    check(extra.is_none(), || format!("E claimed {event} at 270, after {MAX} attempts of {MAX}"))?;
    crowd.attempts("E could not claim", i64::from(MAX)).await?;

    let given_up = crowd.reader.dead_letter(10, at(270)).await?;
    check_eq("given up when D's lease is over", given_up, vec![event.clone()])?;
    crowd.attempts("it was given up", i64::from(MAX)).await?;
    check_eq("given up again", crowd.reader.dead_letter(10, at(280)).await?, vec![])?;
    let extra = crowd.claim("F", 290, 340).await?;
    check(extra.is_none(), || format!("F claimed {event} at 290, which was given up at 270"))?;
    refused_for_good(context, &mut crowd.reader, &event, &last).await
}

/// The last worker learns that the event was given up.
async fn refused_for_good(
    context: &Context,
    reader: &mut Actor,
    event: &EventId,
    last: &FencingToken,
) -> Result<(), Finding> {
    let at = |step| context.at(step);
    let mut worker = context.actor("D").await?;
    let over = Standing::given_up(last, at(260));
    let answer = worker.ack(event, last, at(250)).await;
    check_refused("D acks what was given up", reader, event, &over, answer, Acked::Refused).await?;
    let answer = worker.renew(event, last, at(250), at(400)).await;
    check_refused("D renews what was given up", reader, event, &over, answer, Renewed::Refused)
        .await?;
    if context.offers(StoreCapability::Release) {
        let answer = worker.release(event, last).await;
        let step = "D releases what was given up";
        check_refused(step, reader, event, &over, answer, Released::Refused).await?;
    }
    check_attempts("all that was refused", reader, event, i64::from(MAX)).await
}

async fn succeeds_at_last(context: &Context) -> Result<(), Finding> {
    let at = |step| context.at(step);
    let mut worker = context.actor("G").await?;
    let event = context.enqueued(&mut worker, "SLOW").await?;
    for attempt in 1..=i64::from(MAX) {
        let (now, until) = (at(100 * attempt), at(100 * attempt + 50));
        let token = context.token("G");
        let claimed = worker.claim(&event, &token, now, until).await?;
        check_eq("G claims once more", claimed, Claimed::Claimed)?;
        if attempt == i64::from(MAX) {
            let acked = worker.ack(&event, &token, context.at(100 * attempt + 10)).await?;
            check_eq("the last attempt acks", acked, Acked::Acked)?;
        }
    }
    check_eq("given up of what is done", worker.dead_letter(10, at(900)).await?, vec![])
}

async fn rolled_back(context: &Context) -> Result<(), Finding> {
    let mut worker = context.actor("H").await?;
    let event = context.enqueued(&mut worker, "ROLLED-BACK").await?;
    worker.begin().await?;
    let batch = context.batch("H", 10, context.at(100), context.at(150));
    let claimed = worker.claim_batch(&batch).await?;
    check_eq("H claims in a transaction", claimed, vec![event.clone()])?;
    worker.rollback().await?;
    check_attempts("H has rolled its claim back", &mut worker, &event, 0).await
}
