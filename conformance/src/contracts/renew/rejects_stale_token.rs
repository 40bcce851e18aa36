//! After a takeover the old token renews nothing, and neither does any other token.
//!
//! # Promise
//! A renewal needs the token of the latest acquisition of that very event. A token that was current
//! once, a token that is current for another event, a token nobody was given and a token that looks
//! empty are all refused, and a refused renewal leaves every row as it was. Naming the event is never
//! enough.
//!
//! # Steps
//! 1. A claims two events at 100 under one token, as a batch does: one until 150, one until 200.
//! 2. B claims the first at 150 until 250.
//! 3. At 160 the first is renewed with A's old token, from A's session and from B's, and with tokens
//!    that nobody holds: empty, a blank, `NULL`, `0`, `%`, the event id. Each is refused, and both
//!    rows are as before.
//! 4. A third event was never claimed, a fourth was released by A: no token renews them.
//! 5. B renews the first, A the second.
//!
//! # How a violation looks
//! A renewal is answered `Renewed` without the current token, so that two workers act as owners; or
//! the answer is `Refused` and a deadline moved nevertheless, so that nobody can take the event over.
//!
//! # Source
//! The renewal example.

use leaseproof_engines::lease::{Claimed, EventId, FencingToken, Released, Renewed};
use leaseproof_reports::Level;

use crate::contract::{Clocks, Contract, Scope};
use crate::harness::context::Context;
use crate::harness::finding::{Judged, check_eq};
use crate::harness::standing::{Standing, check_refused, check_standing};

mod controls;

/// See the module's documentation.
pub static CONTRACT: Contract = Contract {
    id: "renew/rejects-stale-token",
    promise: "after a takeover the old token renews nothing; neither does any other token nor the event id alone",
    level: Level::Core,
    requires: &[],
    offers: &[],
    scope: Scope::Once,
    clocks: Clocks::Any,
    source: "the renewal example",
    controls: controls::CONTROLS,
    doc: include_str!("rejects_stale_token.rs"),
    run: |context| Box::pin(run(context)),
};

async fn run(context: &Context) -> Judged {
    let at = |step| context.at(step);
    let mut a = context.actor("A").await?;
    let mut b = context.actor("B").await?;
    let (token_a, token_b) = (context.token("A"), context.token("B"));
    let taken = context.enqueued(&mut a, "EVENT-81").await?;
    let kept = context.enqueued(&mut a, "EVENT-82").await?;
    let unclaimed = context.enqueued(&mut a, "EVENT-83").await?;
    let released = context.enqueued(&mut a, "EVENT-84").await?;
    for (event, until) in [(&taken, 150), (&kept, 200), (&released, 300)] {
        let claimed = a.claim(event, &token_a, at(100), at(until)).await?;
        check_eq("A claims at 100", claimed, Claimed::Claimed)?;
    }
    check_eq("A releases", a.release(&released, &token_a).await?, Released::Released)?;
    let claimed = b.claim(&taken, &token_b, at(150), at(250)).await?;
    check_eq("B claims at 150, when A's lease is over", claimed, Claimed::Claimed)?;

    let mut refused = 0;
    let of_b = Standing::held(&token_b, at(250));
    let free = Standing::free(at(160));
    for (event, standing) in [(&taken, &of_b), (&unclaimed, &free), (&released, &free)] {
        for token in impostors(&token_a, event) {
            let step = format!("{event} is renewed at 160 with `{token}`, which is not current");
            let answer = a.renew(event, &token, at(160), at(290)).await;
            check_refused(&step, &mut b, event, standing, answer, Renewed::Refused).await?;
            let answer = b.renew(event, &token, at(160), at(290)).await;
            check_refused(&step, &mut a, event, standing, answer, Renewed::Refused).await?;
            refused += 2;
        }
    }
    check_standing(
        "a stale renewal of another event",
        &mut b,
        &kept,
        &Standing::held(&token_a, at(200)),
    )
    .await?;

    let renewed = b.renew(&taken, &token_b, at(160), at(290)).await?;
    check_eq("B renews what it took over", renewed, Renewed::Renewed)?;
    check_standing("B's renewal", &mut a, &taken, &Standing::held(&token_b, at(290))).await?;
    let renewed = a.renew(&kept, &token_a, at(160), at(310)).await?;
    check_eq("A renews the event it still owns", renewed, Renewed::Renewed)?;
    check_standing("A's renewal", &mut b, &kept, &Standing::held(&token_a, at(310))).await?;
    Ok(vec![format!(
        "{refused} renewals with a token that is not current were refused and changed nothing"
    )])
}

/// Tokens of which none is current for the event.
fn impostors(stale: &FencingToken, event: &EventId) -> Vec<FencingToken> {
    let mut tokens = vec![stale.clone()];
    tokens.extend(["", " ", "NULL", "0", "%", event.0.as_str()].map(FencingToken::new));
    tokens
}
