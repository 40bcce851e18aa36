//! A worker that was replaced cannot ack, and the event ends as its new owner says.
//!
//! # Promise
//! After a takeover the old token acks nothing, whatever the new owner has done since: it is still at
//! work, it has acked, or it has given the event back. The old worker is told `Refused`, never
//! `AlreadyAcked`, and the row stays the new owner's.
//!
//! # Steps
//! In each of three rounds A claims at 100 until 150, goes on working, and B takes over at 150 until
//! 250.
//! 1. B is at work: A acks at 160, from its own session and from B's. The row is B's; B acks.
//! 2. B has acked: A acks at 170. The event is done by B.
//! 3. B has released: A acks at 170. The event is free, and C claims it.
//!
//! Before each round's end a token that nobody was given, the empty one and the event id are tried as
//! well.
//!
//! # How a violation looks
//! The event is done although its new owner had failed it or was still working; or the old worker
//! believes that its result is the one that counts.
//!
//! # Source
//! hangfire-postgres/Hangfire.PostgreSql#130, HangfireIO/Hangfire#514, hexpm/hexpm#1825,
//! symfony/symfony#49394, nazarli-shabnam/clevis#215, novuhq/novu#11094.

use leaseproof_engines::lease::{Acked, Claimed, EventId, FencingToken, Released};
use leaseproof_reports::Level;

use crate::contract::{Clocks, Contract, Scope};
use crate::harness::actor::Actor;
use crate::harness::context::Context;
use crate::harness::finding::{Finding, Judged, check_eq};
use crate::harness::standing::{Standing, check_refused, check_standing};

mod controls;

/// See the module's documentation.
pub static CONTRACT: Contract = Contract {
    id: "ack/rejects-stale-token",
    promise: "a stale worker cannot ack after a takeover; the event ends as its new owner says",
    level: Level::Core,
    requires: &[],
    offers: &[],
    scope: Scope::Once,
    clocks: Clocks::Any,
    source: "hangfire-postgres/Hangfire.PostgreSql#130, HangfireIO/Hangfire#514, hexpm/hexpm#1825, \
             symfony/symfony#49394, nazarli-shabnam/clevis#215, novuhq/novu#11094",
    controls: controls::CONTROLS,
    doc: include_str!("rejects_stale_token.rs"),
    run: |context| Box::pin(run(context)),
};

/// The replaced worker, the new owner, and their tokens.
struct Parties<'context> {
    context: &'context Context,
    a: Actor,
    b: Actor,
    stale: FencingToken,
    current: FencingToken,
    refused: usize,
}

async fn run(context: &Context) -> Judged {
    let at = |step| context.at(step);
    let mut parties = Parties {
        context,
        a: context.actor("A").await?,
        b: context.actor("B").await?,
        stale: context.token("A"),
        current: context.token("B"),
        refused: 0,
    };
    let event = parties.taken_over("at-work").await?;
    let held = Standing::held(&parties.current, at(250));
    parties.stale_acks_refused(&event, "B is at work", &held).await?;
    let acked = parties.b.ack(&event, &parties.current, at(200)).await?;
    check_eq("B acks what it took over", acked, Acked::Acked)?;
    check_standing("B's ack", &mut parties.a, &event, &Standing::done(&parties.current, at(250)))
        .await?;

    let event = parties.taken_over("acked").await?;
    let acked = parties.b.ack(&event, &parties.current, at(155)).await?;
    check_eq("B acks what it took over", acked, Acked::Acked)?;
    let done = Standing::done(&parties.current, at(250));
    parties.stale_acks_refused(&event, "B has acked", &done).await?;

    let event = parties.taken_over("released").await?;
    let released = parties.b.release(&event, &parties.current).await?;
    check_eq("B releases what it took over", released, Released::Released)?;
    parties.stale_acks_refused(&event, "B has released", &Standing::free(at(170))).await?;
    let claimed = parties.b.claim(&event, &context.token("C"), at(170), at(250)).await?;
    check_eq("C claims what B released", claimed, Claimed::Claimed)?;
    Ok(vec![format!(
        "{} acks without the current token were refused and changed nothing",
        parties.refused
    )])
}

impl Parties<'_> {
    async fn taken_over(&mut self, id: &str) -> Result<EventId, Finding> {
        let at = |step| self.context.at(step);
        let event = self.context.enqueued(&mut self.a, id).await?;
        let claimed = self.a.claim(&event, &self.stale, at(100), at(150)).await?;
        check_eq("A claims at 100 until 150", claimed, Claimed::Claimed)?;
        let claimed = self.b.claim(&event, &self.current, at(150), at(250)).await?;
        check_eq("B claims at 150, when A's lease is over", claimed, Claimed::Claimed)?;
        Ok(event)
    }

    async fn stale_acks_refused(
        &mut self,
        event: &EventId,
        situation: &str,
        stored: &Standing,
    ) -> Result<(), Finding> {
        check_standing(situation, &mut self.b, event, stored).await?;
        let others = ["", "NULL", "0", event.0.as_str()].map(FencingToken::new);
        for token in std::iter::once(&self.stale).chain(&others) {
            let now = self.context.at(170);
            let step = format!("{situation}, and A acks with `{token}`");
            let answer = self.a.ack(event, token, now).await;
            check_refused(&step, &mut self.b, event, stored, answer, Acked::Refused).await?;
            let answer = self.b.ack(event, token, now).await;
            check_refused(&step, &mut self.a, event, stored, answer, Acked::Refused).await?;
            self.refused += 2;
        }
        Ok(())
    }
}
