//! Whether counters alone show a fault: a claim with a known fault beside one without, both on stores
//! of their own, a few claims each.
//!
//! Work is counted, not timed: a loaded machine makes a claim slower, but not larger.

use std::collections::BTreeMap;
use std::time::Duration;

use async_trait::async_trait;
use leaseproof_engines::bench_statements::waiting_claims;
use leaseproof_engines::instruments::Counter;
use leaseproof_engines::lease::{ClaimBatch, EventId, FencingToken, Instant, NewEvent, Strategy};
use leaseproof_engines::store::{Isolation, LockWait, Session, SessionOptions};
use leaseproof_engines::{Engine, EngineError};

use crate::claim_cycle::{NOW, UNTIL};
use crate::measured::Measured;
use crate::profile::Profile;
use crate::scenario::{Scenario, Spec, Task};
use crate::server::{Queue, best_strategy, event};
use crate::suite::UNMEASURED;

/// The scenario's one instance.
pub static SCENARIO: FaultProbe = FaultProbe;

/// How many events the queue holds; those at its head are leased, those behind them are locked.
const DEPTH: u64 = 2000;
const LEASED: u32 = 40;
const LOCKED: u64 = 20;
const LIMIT: u32 = 10;
const CLAIMS: u32 = 10;
/// A claim that waits for a row that nobody gives up.
const PATIENCE: Duration = Duration::from_millis(200);
/// How much more work, per claim, is a difference.
const FACTOR: f64 = 1.2;

/// A fault beside none.
pub struct FaultProbe;

#[async_trait]
impl Scenario for FaultProbe {
    fn id(&self) -> &'static str {
        "fault-probe"
    }

    fn question(&self) -> &'static str {
        "Do counters alone show a lost index, a stricter isolation and claims that wait?"
    }

    fn headline(&self) -> &'static [&'static str] {
        &["detected", "lock_waits", "locks_held_ratio", "lock_requests_ratio", "rows_read_ratio"]
    }

    fn cells(&self, engine: &dyn Engine, profile: &Profile) -> Vec<Spec> {
        let repeats = if profile.repeats > 3 { 20 } else { 1 };
        let rows = best_strategy(engine) == Strategy::SkipLocked;
        // Only where READ COMMITTED is a choice do users fall back from it.
        let chosen =
            engine.setups().iter().any(|setup| setup.isolation == Some(Isolation::ReadCommitted));
        let faults =
            [("none", true), ("no-index", true), ("repeatable-read", chosen), ("waiting", rows)];
        let seconds =
            |fault| if matches!(fault, "waiting" | "repeatable-read") { 2.5 } else { 1.2 };
        let cell = |(fault, _)| Spec::new(repeats, seconds(fault)).with("fault", fault);
        faults.into_iter().filter(|(_, has)| *has).map(cell).collect()
    }

    async fn measure(&self, task: Task<'_>) -> Result<Measured, EngineError> {
        let fault = task.spec.text("fault");
        let mut queue = Queue::new(task.bench.engine, DEPTH);
        let sound = costs(task, queue).await?;
        match fault {
            "no-index" => queue.indexed = false,
            "repeatable-read" => queue.isolation = Some(Isolation::RepeatableRead),
            "waiting" => queue.edit = |sound| waiting_claims(sound.clone()).unwrap_or(sound),
            _ => {}
        }
        let found = costs(task, queue).await?;
        let mut measured = Measured::default();
        let differences = compare(&mut measured, &sound, &found);
        measured.value("detected", f64::from(u8::from(differences > 0)));
        if (differences > 0) != (fault != "none") {
            let text = format!("{UNMEASURED}{differences} counters differ with fault `{fault}`");
            measured.violations.push(text);
        }
        Ok(measured)
    }
}

/// Sets every cost and its ratio; how many of them are a difference.
fn compare(
    measured: &mut Measured,
    sound: &BTreeMap<&'static str, f64>,
    found: &BTreeMap<&'static str, f64>,
) -> u32 {
    let mut differences = 0;
    for (name, value) in found {
        measured.value(name, *value);
        let Some(before) = sound.get(name) else { continue };
        measured.value(&format!("{name}_sound"), *before);
        if *before > 0.0 {
            measured.value(&format!("{name}_ratio"), value / before);
        }
        let differs = match *name {
            // There is none in a claim that steps over what others hold.
            "lock_waits" => value > before,
            // Of the whole server, whose own housekeeping touches pages, too.
            "pages_touched" => false,
            _ => value / before.max(1.0) > FACTOR,
        };
        differences += u32::from(differs);
    }
    differences
}

/// Enqueues an event that is due between those that an open claim holds. It waits for the claim only
/// where the claim has locked the gaps between its events, and then in vain.
async fn enqueue_between(feeder: &mut Box<dyn Session>) -> Result<(), EngineError> {
    let due = Instant(i64::from(LEASED) + i64::try_from(LOCKED).unwrap_or(0) + 3);
    let new = NewEvent { event: EventId::new("between"), due, enqueued: due };
    match feeder.enqueue(&[new]).await {
        Err(error) if !error.is_retryable() => Err(error),
        _ => Ok(()),
    }
}

/// What one claim costs by every deterministic counter that the engine has.
async fn costs(task: Task<'_>, queue: Queue) -> Result<BTreeMap<&'static str, f64>, EngineError> {
    let mut filled = task.bench.queue(&queue).await?;
    let strategy = task.bench.best_strategy();
    let batch = |limit, token: &str| ClaimBatch {
        limit,
        token: FencingToken::new(token),
        now: NOW,
        until: UNTIL,
        strategy,
    };
    let mut holder = filled.sessions(1).await?.remove(0);
    holder.claim_batch(&batch(LEASED, "leased")).await?;
    if task.bench.locks_rows() {
        holder.begin().await?;
        for number in u64::from(LEASED)..u64::from(LEASED) + LOCKED {
            holder.lock(&event(number), LockWait::Block).await?;
        }
    }
    let options = SessionOptions { lock_timeout: PATIENCE, ..SessionOptions::default() };
    let mut claimer = filled.store.session(&options).await?;
    let mut feeder = match task.bench.locks_rows() {
        true => Some(filled.store.session(&options).await?),
        false => None,
    };
    let before = filled.instruments.counters().await?;
    let mut claims = 0;
    let mut locks = None;
    for _ in 0..CLAIMS {
        claimer.begin().await?;
        claims += 1;
        let claimed = claimer.claim_batch(&batch(LIMIT, "claimer")).await;
        if claims == CLAIMS && claimed.is_ok() {
            locks = filled.instruments.locks_held(claimer.id()).await?.value();
            if let Some(feeder) = &mut feeder {
                enqueue_between(feeder).await?;
            }
        }
        claimer.rollback().await?;
        match claimed {
            Ok(_) => {}
            // One that waited in vain has shown what there is to see.
            Err(error) if error.is_retryable() => break,
            Err(error) => return Err(error),
        }
    }
    claimer.close().await;
    if let Some(feeder) = feeder {
        feeder.close().await;
    }
    if task.bench.locks_rows() {
        holder.rollback().await?;
    }
    holder.close().await;
    let change = filled.counters().await?.since(&before);
    filled.remove().await?;
    let mut costs = BTreeMap::new();
    for (counter, name) in [
        (Counter::LockRequests, "lock_requests"),
        (Counter::PagesTouched, "pages_touched"),
        (Counter::RowsRead, "rows_read"),
        (Counter::VmSteps, "vm_steps"),
    ] {
        if let Some(total) = change.value(counter) {
            costs.insert(name, total / f64::from(claims));
        }
    }
    costs.extend(change.value(Counter::LockWaits).map(|waits| ("lock_waits", waits)));
    costs.extend(locks.map(|locks| ("locks_held", locks)));
    Ok(costs)
}
