//! Only the very token that was issued is accepted: tokens are compared byte for byte.
//!
//! # Promise
//! No other sequence of bytes passes for the current token: not one that differs in case, accent,
//! normal form, blanks, a NUL or an invisible character, not a number of the same value, not a prefix,
//! not something longer, not a pattern, not another spelling of the same bytes. This holds wherever a
//! token is compared: to renew, to confirm, to release, to ack, and to learn of an earlier ack.
//!
//! # Steps
//! For each of several tokens:
//! 1. A claims an event with it, at 100 until 200.
//! 2. Each of its look-alikes renews, confirms, releases and acks at 110, as far as the store offers it. All
//!    are refused, and the event stays the token's until 200.
//! 3. The token itself renews to 300 and acks.
//! 4. Each look-alike acks again and is refused. Where the store remembers acks, the token itself learns
//!    that it has acked.
//!
//! # How a violation looks
//! A worker with a stale or foreign token is taken for the owner, because the column folds case and
//! accents, pads blanks, converts to numbers, or was too short for the token.
//!
//! # Source
//! indigo-iam/iam#1136, laravel/framework#21741, catfan/Medoo#781, pingcap/tidb#22626.

use leaseproof_engines::capability::StoreCapability;
use leaseproof_engines::lease::{
    Acked, Claimed, Confirmed, EventId, FencingToken, Released, Renewed,
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
    id: "fence/compares-exactly",
    promise: "a token that differs in case, accent, blanks, NUL, type or length never matches",
    level: Level::Core,
    requires: &[],
    offers: &[StoreCapability::CallerTokens],
    scope: Scope::Once,
    clocks: Clocks::Any,
    source: "indigo-iam/iam#1136, laravel/framework#21741, catfan/Medoo#781, pingcap/tidb#22626",
    controls: controls::CONTROLS,
    doc: include_str!("compares_exactly.rs"),
    run: |context| Box::pin(run(context)),
};

/// Tokens, each with others that some comparison takes for it. The number comes first: a dialect
/// that casts tokens to numbers fails on any that is none.
fn tokens() -> Vec<(FencingToken, Vec<FencingToken>)> {
    let text = |token: &str, others: &[&str]| {
        (FencingToken::new(token), others.iter().copied().map(FencingToken::new).collect())
    };
    let bytes = |token: &[u8], others: &[&[u8]]| {
        let token_of = |bytes: &[u8]| FencingToken(bytes.to_vec());
        (token_of(token), others.iter().copied().map(token_of).collect())
    };
    let longest = [b'x'; 64];
    let mut last_differs = longest;
    last_differs[63] = b'y';
    vec![
        text("1000", &["1e3", "01000", "1000.0", "+1000", "1000 ", "100", "10000"]),
        text("0", &["", "00", "-0", "0x0", "token", "0\0"]),
        text("aBc-7é", &["abc-7é", "ABC-7É", "aBc-7e", "aBc-7e\u{301}", "aBc-7é ", " aBc-7é"]),
        text("aBc-7é", &["aBc-7é\0", "\0aBc-7é", "aBc-7é\u{200d}", "aBc-7é\t", "aBc-7", "aBc-7éx"]),
        text("straße", &["strasse", "STRASSE", "%", "______", "stra%", "strass\u{e9}"]),
        text("a", &["\\x61", "0x61", "61", "A", "a'", "'a'", "\u{ff41}"]),
        bytes(b"one\0two", &[b"one", b"one\0", b"one\0TWO", b"one\0tw0", b"onetwo"]),
        bytes(&[0xff, 0xfe], &[&[0xff, 0xff], &[0xff], &[0xfe, 0xff], b"\xef\xbf\xbd\xef\xbf\xbd"]),
        bytes(&[0], &[&[0, 0], b"", b"0", b"\\000"]),
        bytes(&longest, &[&last_differs, &longest[..63], &[b'x'; 65]]),
    ]
}

async fn run(context: &Context) -> Judged {
    let at = |step| context.at(step);
    let mut a = context.actor("A").await?;
    let mut reader = context.actor("reader").await?;
    let mut refused = 0;
    let tokens = tokens();
    for (number, (token, look_alikes)) in tokens.iter().enumerate() {
        let event = context.enqueued(&mut reader, &format!("EVENT-{number}")).await?;
        let step = format!("A claims with `{token}`");
        let claimed = a.claim(&event, token, at(100), at(200)).await?;
        check_eq(&step, claimed, Claimed::Claimed)?;
        let held = Standing::held(token, at(200));
        check_standing(&step, &mut reader, &event, &held).await?;
        for other in look_alikes {
            refused += never_owns(context, &mut a, &event, token, other).await?;
            let step = format!("`{other}` was refused what belongs to `{token}`");
            check_standing(&step, &mut reader, &event, &held).await?;
        }
        let step = format!("the owner uses its own token `{token}`");
        let renewed = a.renew(&event, token, at(110), at(300)).await?;
        check_eq(&step, renewed, Renewed::Renewed)?;
        check_eq(&step, a.ack(&event, token, at(120)).await?, Acked::Acked)?;
        let done = Standing::done(token, at(300));
        for other in look_alikes {
            let step = format!("`{other}` acks what `{token}` has acked");
            let answer = a.ack(&event, other, at(130)).await;
            check_refused(&step, &mut reader, &event, &done, answer, Acked::Refused).await?;
            refused += 1;
        }
        if a.has(StoreCapability::IdempotentAck) {
            check_eq(&step, a.ack(&event, token, at(130)).await?, Acked::AlreadyAcked)?;
        }
    }
    Ok(vec![format!(
        "{} tokens were told from their look-alikes in {refused} operations, all refused",
        tokens.len()
    )])
}

/// Tries every operation of an owner with a token that is not the owner's; returns how many.
async fn never_owns(
    context: &Context,
    actor: &mut Actor,
    event: &EventId,
    token: &FencingToken,
    other: &FencingToken,
) -> Result<usize, Finding> {
    let at = |step| context.at(step);
    let step = |verb: &str| format!("`{other}` {verb} what belongs to `{token}`");
    let renewed = actor.renew(event, other, at(110), at(300)).await?;
    check_eq(&step("renews"), renewed, Renewed::Refused)?;
    if actor.has(StoreCapability::Confirm) {
        let confirmed = actor.confirm(event, other, at(110)).await?;
        check_eq(&step("confirms"), confirmed, Confirmed::Refused)?;
    }
    if actor.has(StoreCapability::Release) {
        let released = actor.release(event, other).await?;
        check_eq(&step("releases"), released, Released::Refused)?;
    }
    check_eq(&step("acks"), actor.ack(event, other, at(110)).await?, Acked::Refused)?;
    let offered = [StoreCapability::Confirm, StoreCapability::Release];
    Ok(2 + offered.iter().filter(|capability| actor.has(**capability)).count())
}
