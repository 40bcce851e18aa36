//! What a row that others hold costs a claim that steps over it, with a known number of such rows.

use std::time::Instant;

use async_trait::async_trait;
use leaseproof_engines::instruments::Counter;
use leaseproof_engines::lease::{ClaimBatch, FencingToken, Strategy};
use leaseproof_engines::store::{LockWait, Session};
use leaseproof_engines::{Engine, EngineError};

use crate::claim_cycle::{NOW, UNTIL};
use crate::measured::Measured;
use crate::profile::Profile;
use crate::recorder::{Record, Recorder};
use crate::scenario::{Scenario, Spec, Task};
use crate::server::{Queue, event};
use crate::suite::UNMEASURED;

/// The scenario's one instance.
pub static SCENARIO: SkipProbe = SkipProbe;

/// How many rows a claim takes.
const LIMIT: u32 = 10;

/// Rows that are held by one holder, and one claimer.
pub struct SkipProbe;

#[async_trait]
impl Scenario for SkipProbe {
    fn id(&self) -> &'static str {
        "skip-probe"
    }

    fn question(&self) -> &'static str {
        "What does each row that others hold cost a claim that steps over it?"
    }

    fn headline(&self) -> &'static [&'static str] {
        &[
            "skips",
            "skipped_rows_per_claim",
            "pages_touched_per_claim",
            "claim_p50_us",
            "lock_waits",
        ]
    }

    fn judges_upgrades(&self) -> bool {
        true
    }

    fn cells(&self, engine: &dyn Engine, profile: &Profile) -> Vec<Spec> {
        if !engine.strategies().contains(&Strategy::SkipLocked) {
            return Vec::new();
        }
        let cell = |held: &u64| {
            let seconds = 1.0 + *held as f64 * 0.000_4 + f64::from(profile.skip_claims) * 0.01;
            Spec::new(1, seconds).with("held", held).with("claims", profile.skip_claims)
        };
        profile.skips.iter().map(cell).collect()
    }

    async fn measure(&self, task: Task<'_>) -> Result<Measured, EngineError> {
        let held: u64 = task.spec.get("held");
        let mut filled = task.bench.queue(&Queue::new(task.bench.engine, held + 1000)).await?;
        let mut sessions = filled.sessions(2).await?;
        let mut claimer = sessions.pop().expect("two sessions were opened");
        let mut holder = sessions.pop().expect("two sessions were opened");
        holder.begin().await?;
        for number in 0..held {
            holder.lock(&event(number), LockWait::Block).await?;
        }
        let mut measured = Measured::default();
        let skips = filled.instruments.skips_of_one_claim(LIMIT).await?;
        measured.observed("skips", &skips);
        if skips.value().is_some_and(|skips| skips != held as f64) {
            let text = format!("{UNMEASURED}{skips:?} skips were told where {held} rows are held");
            measured.violations.push(text);
        }
        let before = filled.instruments.counters().await?;
        let claims = task.spec.get("claims");
        let record = claim(&mut claimer, claims).await?;
        let locks = {
            claimer.begin().await?;
            claimer.claim_batch(&batch()).await?;
            let locks = filled.instruments.locks_held(claimer.id()).await?;
            claimer.rollback().await?;
            locks
        };
        measured.observed("locks_held", &locks);
        claimer.close().await;
        holder.rollback().await?;
        holder.close().await;
        let change = filled.counters().await?.since(&before);
        measured.counted(&change, u64::from(claims) + 1);
        filled.remove().await?;
        let latency = record.latency(0);
        measured.value("claim_p50_us", latency.as_ref().map_or(0.0, |latency| latency.p50_us));
        measured.latency("claim", latency);
        if let Some(waits) = change.value(Counter::LockWaits)
            && waits != 0.0
        {
            measured.violations.push(format!("{waits} waits where every held row is stepped over"));
        }
        Ok(measured)
    }
}

fn batch() -> ClaimBatch {
    let token = FencingToken::new("claimer");
    ClaimBatch { limit: LIMIT, token, now: NOW, until: UNTIL, strategy: Strategy::SkipLocked }
}

/// Claims that are undone, so that each finds the same rows.
async fn claim(claimer: &mut Box<dyn Session>, claims: u32) -> Result<Record, EngineError> {
    const ANY: std::time::Duration = std::time::Duration::from_secs(600);
    let mut recorder = Recorder::new(1, 0, ANY);
    let start = Instant::now();
    recorder.open(start, start + ANY);
    for _ in 0..claims {
        claimer.begin().await?;
        let begun = Instant::now();
        claimer.claim_batch(&batch()).await?;
        recorder.ended(0, begun);
        claimer.rollback().await?;
    }
    Ok(Record::merge(vec![recorder]))
}
