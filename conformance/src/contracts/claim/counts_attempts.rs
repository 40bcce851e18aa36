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
//!    and given back; then claimed a second and a third time. The row counts 1, 1, 2, 3.
//! 2. While the third lease is live, nothing is given up. When it is over, no claim takes the event, in a
//!    batch or by its id, and the row stays as it was.
//! 3. It is given up: the row is `DEAD`, still with three attempts. Giving up again finds nothing.
//! 4. The last worker can neither renew, ack nor release what is dead, and nobody can claim it.
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

use leaseproof_engines::lease::{
    Acked, Claimed, EventId, EventState, FencingToken, Released, Renewed,
};
use leaseproof_engines::store::StoreOptions;
use leaseproof_reports::Level;

use crate::contract::{Clocks, Contract, Scope};
use crate::harness::actor::{Actor, Way};
use crate::harness::context::Context;
use crate::harness::finding::{Finding, Judged, check, check_eq};
use crate::harness::row::{check_refused, row};

mod controls;

/// See the module's documentation.
pub static CONTRACT: Contract = Contract {
    id: "claim/counts-attempts",
    promise: "every claim counts as an attempt, a release does not, and past the maximum the event is dead",
    level: Level::Extended,
    requires: &[],
    offers: &[],
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
    rolled_back(context).await?;
    Ok(vec![format!(
        "{MAX} workers died with an event, one gave it back; then it was dead and claimed by nobody"
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
        let row = row(&mut self.reader, &self.event).await?;
        check_eq(&format!("attempts after {when}"), row.attempt, count)
    }
}

async fn dies_every_time(context: &Context, way: Way) -> Result<(), Finding> {
    let at = |step| context.at(step);
    let mut reader = context.actor("reader").await?;
    let event = context.enqueued(&mut reader, &format!("POISON-{way:?}")).await?;
    let mut crowd = Crowd { context, way, event: event.clone(), reader };
    crowd.attempts("nobody has claimed", 0).await?;
    crowd.must_claim("A", 100, 150).await?;
    crowd.attempts("A claimed and died", 1).await?;
    let token = crowd.must_claim("B", 150, 200).await?;
    crowd.attempts("B claimed", 2).await?;
    let released = crowd.reader.release(&event, &token).await?;
    check_eq("B gives the event back", released, Released::Released)?;
    crowd.attempts("B gave it back", 1).await?;
    crowd.must_claim("C", 160, 210).await?;
    crowd.attempts("C claimed and died", 2).await?;
    let last = crowd.must_claim("D", 210, 260).await?;
    crowd.attempts("D claimed", i64::from(MAX)).await?;

    let given_up = crowd.reader.dead_letter(10, context.just_before(260)).await?;
    check_eq("given up while the last lease is live", given_up, vec![])?;
    let before = row(&mut crowd.reader, &event).await?;
    check_eq("the state while the last lease is live", before.state, EventState::Pending)?;
    let extra = crowd.claim("E", 270, 320).await?;
    check(extra.is_none(), || format!("E claims after {MAX} attempts"))?;
    let after = row(&mut crowd.reader, &event).await?;
    check_eq("the row that E could not claim", &after, &before)?;

    let given_up = crowd.reader.dead_letter(10, at(270)).await?;
    check_eq("given up when the last lease is over", given_up, vec![event.clone()])?;
    let dead = row(&mut crowd.reader, &event).await?;
    check_eq("the state then", dead.state, EventState::Dead)?;
    check_eq("the attempts then", dead.attempt, i64::from(MAX))?;
    check_eq("given up again", crowd.reader.dead_letter(10, at(280)).await?, vec![])?;
    let extra = crowd.claim("F", 290, 340).await?;
    check(extra.is_none(), || "F claims a dead event".to_owned())?;
    let (mut worker, mut reader) = (context.actor("D").await?, crowd.reader);
    let answer = worker.ack(&event, &last, at(250)).await;
    check_refused("D acks a dead event", &mut reader, &dead, answer, Acked::Refused).await?;
    let answer = worker.renew(&event, &last, at(250), at(400)).await;
    check_refused("D renews a dead event", &mut reader, &dead, answer, Renewed::Refused).await?;
    let answer = worker.release(&event, &last).await;
    check_refused("D releases a dead event", &mut reader, &dead, answer, Released::Refused).await
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
    check_eq("given up of what is done", worker.dead_letter(10, at(900)).await?, vec![])?;
    let row = row(&mut worker, &event).await?;
    check_eq("the state after the last attempt's ack", row.state, EventState::Done)
}

async fn rolled_back(context: &Context) -> Result<(), Finding> {
    let mut worker = context.actor("H").await?;
    let event = context.enqueued(&mut worker, "ROLLED-BACK").await?;
    worker.begin().await?;
    let batch = context.batch("H", 10, context.at(100), context.at(150));
    let claimed = worker.claim_batch(&batch).await?;
    check_eq("H claims in a transaction", claimed, vec![event.clone()])?;
    worker.rollback().await?;
    let row = row(&mut worker, &event).await?;
    check_eq("attempts after a claim that was rolled back", row.attempt, 0)
}
