//! A renewal or an ack that waited for the row past the end of its lease is refused.
//!
//! # Promise
//! Under the engine's own clock an operation is judged by the time at which it gets the row, not by
//! the time at which it was sent. Whoever waited until the lease was over has lost it, whatever the one
//! that was waited for has done to the row. Whoever waited and still holds the lease keeps it.
//!
//! # Steps
//! For a renewal and for an ack, and for a blocker that commits without a change, commits a new
//! version of the row, or rolls back:
//! 1. A claims with a short lease. B locks the row. A's operation is seen waiting, with the lease live.
//! 2. The engine's clock passes the end of the lease, as a third session sees by counting expired leases.
//! 3. B lets go. A is refused, and the event is free for others.
//!
//! Then the same with a long lease: A waits, B lets go, A takes effect.
//!
//! # How a violation looks
//! The operation succeeds although the lease ended while it waited: its owner works on, or acks, while
//! another worker may already have claimed the event.
//!
//! # Source
//! `nextlyhq/nextly#777` and `#1113`, `event-driven-io/emmett#339`, `Soju06/codex-lb#1253`,
//! `ShipfoxHQ/shipfox#1273`: expiry compared with a clock that was read before the wait.

use std::pin::pin;
use std::time::Duration;

use leaseproof_engines::EngineError;
use leaseproof_engines::lease::{Acked, Claimed, EventId, FencingToken, Instant, Renewed};
use leaseproof_engines::store::LockWait;
use leaseproof_reports::Level;

use crate::contract::{Clocks, Contract, Scope};
use crate::harness::actor::Actor;
use crate::harness::context::{Context, Progress, WAIT_BOUND};
use crate::harness::finding::{Finding, Judged, check, check_eq};
use crate::harness::standing::{Standing, check_refused};

mod controls;

/// See the module's documentation.
pub static CONTRACT: Contract = Contract {
    id: "renew/rejects-expired-after-wait",
    promise: "a renewal or ack that waited for the row past the end of its lease is refused",
    level: Level::Core,
    requires: &[],
    offers: &[],
    scope: Scope::Once,
    clocks: Clocks::Database,
    source: "nextlyhq/nextly#777, event-driven-io/emmett#339, Soju06/codex-lb#1253, ShipfoxHQ/shipfox#1273",
    controls: controls::CONTROLS,
    doc: include_str!("rejects_expired_after_wait.rs"),
    run: |context| Box::pin(run(context)),
};

/// The first length tried of a lease that is to end during the wait; doubled until the wait is seen to
/// begin while the lease is live.
const SHORT: Duration = Duration::from_millis(150);

/// How often the length is doubled: the last is almost 5 s.
const DOUBLINGS: u32 = 5;

/// What the owner does.
#[derive(Clone, Copy, Debug)]
enum Operation {
    Renew,
    Ack,
}

/// Why a right answer proves nothing.
const DID_NOT_WAIT: &str = "no proof of a wait: the operation returned although the row was locked";

/// What the one that is waited for does to the row.
#[derive(Clone, Copy, Debug)]
enum Blocker {
    Locks,
    Touches,
    RollsBack,
}

struct Parties {
    owner: Actor,
    blocker: Actor,
    witness: Actor,
}

async fn run(context: &Context) -> Judged {
    let mut parties = Parties {
        owner: context.actor("A").await?,
        blocker: context.actor("B").await?,
        witness: context.actor("witness").await?,
    };
    for operation in [Operation::Renew, Operation::Ack] {
        for blocker in [Blocker::Locks, Blocker::Touches, Blocker::RollsBack] {
            expired(context, &mut parties, operation, blocker).await?;
            live(context, &mut parties, operation, blocker).await?;
        }
    }
    Ok(vec![
        "6 operations that waited past the end of their lease were refused; 6 that waited less took effect"
            .to_owned(),
    ])
}

/// Waits past the end of a short lease; the length is doubled where the lease was over too soon.
async fn expired(
    context: &Context,
    parties: &mut Parties,
    operation: Operation,
    blocker: Blocker,
) -> Result<(), Finding> {
    for doubling in 0..=DOUBLINGS {
        let id = format!("{operation:?}-{blocker:?}-{doubling}");
        let event = context.enqueued(&mut parties.witness, &id).await?;
        let until = context.at(100).after(SHORT * 2_u32.pow(doubling));
        if expired_while_waiting(context, parties, operation, blocker, (&event, until)).await? {
            return Ok(());
        }
    }
    Err(Finding::Inconclusive(
        "no proof of a wait: the machine was too slow to begin one before the lease was over"
            .to_owned(),
    ))
}

/// Whether the lease ended while the operation was seen waiting.
async fn expired_while_waiting(
    context: &Context,
    parties: &mut Parties,
    operation: Operation,
    blocker: Blocker,
    (event, until): (&EventId, Instant),
) -> Result<bool, Finding> {
    let Parties { owner, blocker: holder, witness } = parties;
    let token = context.token("A");
    let now = context.at(100);
    let over = witness.backlog(now).await?.expired;
    let claimed = owner.claim(event, &token, now, until).await?;
    check_eq("A claims with a short lease", claimed, Claimed::Claimed)?;
    hold(context, holder, event, &token, blocker).await?;
    let session = owner.id();
    let mut attempt = pin!(attempt(context, owner, operation, event, &token));
    let progress = context.until_waiting(&[session], attempt.as_mut()).await?;
    let waited = matches!(progress, Progress::Waiting);
    let began_live = witness.backlog(now).await?.expired == over;
    if waited && began_live {
        until_expired(witness, now, over).await?;
    }
    let_go(holder, blocker).await?;
    let answer = match progress {
        Progress::Waiting => attempt.await,
        Progress::Finished(answer) => answer,
    };
    let answer = answered(context, answer)?.unwrap_or(false);
    if !began_live {
        return Ok(false);
    }
    if !waited {
        // With its lease live, it may take effect; only that it did not wait is not what was to be seen.
        return Err(Finding::Inconclusive(DID_NOT_WAIT.to_owned()));
    }
    let step = format!(
        "{operation:?}, whose lease ended while it waited; the other {} its row meanwhile",
        blocker.did()
    );
    // Nobody's lease is live: whoever comes now may have the event.
    check_refused(&step, witness, event, &Standing::free(now), Ok(answer), false).await?;
    Ok(true)
}

/// Waits with a long lease and takes effect.
async fn live(
    context: &Context,
    parties: &mut Parties,
    operation: Operation,
    blocker: Blocker,
) -> Result<(), Finding> {
    let Parties { owner, blocker: holder, witness } = parties;
    let event = context.enqueued(witness, &format!("{operation:?}-{blocker:?}-live")).await?;
    let token = context.token("A");
    let claimed = owner.claim(&event, &token, context.at(100), context.at(150)).await?;
    check_eq("A claims with a long lease", claimed, Claimed::Claimed)?;
    hold(context, holder, &event, &token, blocker).await?;
    let session = owner.id();
    let mut waited = true;
    let answer = {
        let mut attempt = pin!(attempt(context, owner, operation, &event, &token));
        let progress = context.until_waiting(&[session], attempt.as_mut()).await?;
        let_go(holder, blocker).await?;
        match progress {
            Progress::Waiting => answered(context, attempt.await)?,
            Progress::Finished(answer) => {
                waited = false;
                answered(context, answer)?
            }
        }
    };
    let answer = match answer {
        Some(answer) => answer,
        // The engine asked for the transaction to be run again, and nothing holds the row any more.
        None => attempt(context, owner, operation, &event, &token).await?,
    };
    check(answer, || {
        format!(
            "{operation:?} was refused although its lease was live; the other {} its row meanwhile",
            blocker.did()
        )
    })?;
    match waited {
        true => Ok(()),
        false => Err(Finding::Inconclusive(DID_NOT_WAIT.to_owned())),
    }
}

impl Blocker {
    fn did(self) -> &'static str {
        match self {
            Self::Locks => "locked and did not change",
            Self::Touches => "wrote a new version of",
            Self::RollsBack => "locked and rolled back its change of",
        }
    }
}

async fn hold(
    context: &Context,
    holder: &mut Actor,
    event: &EventId,
    token: &FencingToken,
    blocker: Blocker,
) -> Result<(), EngineError> {
    holder.begin().await?;
    holder.lock(event, LockWait::Block).await?;
    if matches!(blocker, Blocker::Touches) {
        // A confirmation writes the row as it is: a new version with the same contents.
        holder.confirm(event, token, context.at(100)).await?;
    }
    Ok(())
}

async fn let_go(holder: &mut Actor, blocker: Blocker) -> Result<(), EngineError> {
    match blocker {
        Blocker::Locks | Blocker::Touches => holder.commit().await,
        Blocker::RollsBack => holder.rollback().await,
    }
}

/// Whether the owner's operation took effect.
async fn attempt(
    context: &Context,
    owner: &mut Actor,
    operation: Operation,
    event: &EventId,
    token: &FencingToken,
) -> Result<bool, EngineError> {
    let now = context.at(100);
    Ok(match operation {
        Operation::Renew => {
            owner.renew(event, token, now, context.at(200)).await? == Renewed::Renewed
        }
        Operation::Ack => owner.ack(event, token, now).await? == Acked::Acked,
    })
}

/// Whether the operation took effect; `None` when the engine refused the wait itself and asks for the
/// transaction to be run again, as it may above READ COMMITTED.
fn answered(
    context: &Context,
    answer: Result<bool, EngineError>,
) -> Result<Option<bool>, EngineError> {
    match answer {
        Err(error) if error.is_retryable() => {
            context.loser_saw::<()>(&Err(error));
            Ok(None)
        }
        answer => answer.map(Some),
    }
}

/// Waits until one more lease is over by the engine's own clock.
async fn until_expired(witness: &mut Actor, now: Instant, over: i64) -> Result<(), Finding> {
    let mut looks = tokio::time::interval(Duration::from_millis(10));
    let deadline = tokio::time::Instant::now() + WAIT_BOUND;
    while witness.backlog(now).await?.expired <= over {
        check(tokio::time::Instant::now() < deadline, || {
            format!("a lease of less than 5 s was not over within {} s", WAIT_BOUND.as_secs())
        })?;
        looks.tick().await;
    }
    Ok(())
}
