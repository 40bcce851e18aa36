//! Whether the instruments tell the truth: a lock is held for a known time, and every source of waits
//! must say so.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use leaseproof_engines::instruments::{Counter, Counters};
use leaseproof_engines::{Engine, EngineError};

use crate::known_wait::{Known, hold};
use crate::measured::Measured;
use crate::prober::{Probed, Prober};
use crate::profile::Profile;
use crate::scenario::{Scenario, Spec, Task};
use crate::server::Queue;
use crate::suite::UNMEASURED;

/// The scenario's one instance.
pub static SCENARIO: WaitProbe = WaitProbe;

/// What a source may be off by: this share of the hold, or this long, whichever is more.
const SHARE: f64 = 0.05;
const SLACK_MS: f64 = 2.0;

/// How much later than its aim a hold may end.
const LATE: Duration = Duration::from_millis(3);

/// A known hold.
pub struct WaitProbe;

#[async_trait]
impl Scenario for WaitProbe {
    fn id(&self) -> &'static str {
        "wait-probe"
    }

    fn question(&self) -> &'static str {
        "Does every source of lock waits report a wait of known length?"
    }

    fn headline(&self) -> &'static [&'static str] {
        &["held_ms", "client_wait_ms", "counter_wait_ms", "server_clock_wait_ms", "seen_wait_ms"]
    }

    fn cells(&self, _: &dyn Engine, profile: &Profile) -> Vec<Spec> {
        let cell = |(hold_ms, count): &(u64, u32)| {
            let seconds = *hold_ms as f64 * f64::from(*count) / 1000.0 + 1.0;
            Spec::new(1, seconds).with("hold_ms", hold_ms).with("holds", count)
        };
        profile.holds_ms.iter().map(cell).collect()
    }

    async fn measure(&self, task: Task<'_>) -> Result<Measured, EngineError> {
        let mut filled = task.bench.queue(&Queue::new(task.bench.engine, 100)).await?;
        let mut sessions = filled.sessions(2).await?;
        let mut waiter = sessions.pop().expect("two sessions were opened");
        let mut holder = sessions.pop().expect("two sessions were opened");
        let hold_ms = task.spec.get("hold_ms");
        let wanted = filled.instruments.look_after_ms(hold_ms);
        let locks_rows = task.bench.locks_rows();
        let before = filled.instruments.counters().await?;
        let prober = Prober::start(Arc::clone(&filled.store));
        let (mut known, mut counted, mut valid) = (Vec::new(), Vec::new(), Vec::new());
        let mut last = before.clone();
        let (holds, mut tries): (usize, f64) = (task.spec.get("holds"), 0.0);
        while known.len() < holds && tries < 3.0 * holds as f64 {
            let hold_for = Duration::from_millis(wanted);
            let (one, back) = hold(&mut holder, waiter, hold_for, locks_rows).await?;
            waiter = back;
            tries += 1.0;
            prober.looked().await;
            let now = filled.instruments.counters().await?;
            let wait_ms = now.since(&last).value(Counter::LockWaitMs);
            last = now;
            // A hold that ended after the look it was aimed at is a longer wait, and none that is known.
            if wanted == hold_ms || one.waited.saturating_sub(one.held) < LATE {
                known.push(one);
                counted.push(wait_ms);
                valid.push(true);
            } else {
                valid.push(false);
            }
        }
        let mut probed = prober.stop()?;
        if probed.waits.len() == valid.len() {
            let mut valid = valid.into_iter();
            probed.waits.retain(|_| valid.next().unwrap_or(true));
        }
        holder.close().await;
        waiter.close().await;
        let change = filled.counters().await?.since(&before);
        filled.remove().await?;
        Ok(judged(&known, &counted, &probed, &change, tries))
    }
}

fn judged(
    known: &[Known],
    counted: &[Option<f64>],
    probed: &Probed,
    change: &Counters,
    tries: f64,
) -> Measured {
    let seen = &probed.waits;
    let mut measured = Measured::default();
    let ms = |duration: Duration| duration.as_secs_f64() * 1000.0;
    let held = median(known.iter().map(|known| ms(known.held)));
    measured.repeat.seconds = held * known.len() as f64 / 1000.0;
    measured.value("held_ms", held);
    let release = median(known.iter().map(|known| ms(known.release)));
    measured.value("release_ms", release);
    measured.value("holds", known.len() as f64);
    measured.value("late_holds", tries - known.len() as f64);
    let mut sources = vec![
        ("client_wait_ms", Some(median(known.iter().map(|known| ms(known.waited))))),
        ("counter_wait_ms", counted.iter().copied().collect::<Option<Vec<_>>>().map(median)),
    ];
    if seen.is_empty() {
        measured.hidden("seen_wait_ms", "no wait was seen");
    } else {
        sources.push(("seen_wait_ms", Some(median(seen.iter().map(|seen| ms(seen.seen))))));
    }
    let clock: Vec<f64> = seen.iter().filter_map(|seen| seen.server_ms).collect();
    if clock.is_empty() {
        measured
            .hidden("server_clock_wait_ms", "the server tells no beginning of a wait to the ms");
    } else {
        sources.push(("server_clock_wait_ms", Some(median(clock))));
    }
    for (counter, observed) in &change.0 {
        measured.observed(counter.as_str(), observed);
    }
    let resolution = median(seen.iter().map(|seen| ms(seen.resolution)));
    measured.value("seen_resolution_ms", resolution);
    let mut worst = 0.0_f64;
    for (name, value) in sources {
        let Some(value) = value else {
            measured.hidden(name, "the engine keeps no such counter, or nobody listens to it");
            continue;
        };
        measured.value(name, value);
        // The lock was given up at some time during the release.
        // And what is seen by looking is known no better than the looks are apart.
        let blur = if name == "seen_wait_ms" { resolution } else { 0.0 };
        let off = value - value.clamp(held - release - blur, held + blur);
        worst = worst.max(off.abs());
        if off.abs() > SLACK_MS.max(held * SHARE) {
            let text = format!("{UNMEASURED}`{name}` says {value:.1} where {held:.1} ms were held");
            measured.violations.push(text);
        }
    }
    measured.value("worst_error_ms", worst);
    if let Some(waits) = change.value(Counter::LockWaits)
        && waits != tries
    {
        let text = format!("{UNMEASURED}{waits} waits were counted where there were {tries}");
        measured.violations.push(text);
    }
    measured.repeat.blockers.clone_from(&probed.pairs);
    measured
}

/// The median, which one hold that the machine disturbed does not move.
fn median(values: impl IntoIterator<Item = f64>) -> f64 {
    let mut values: Vec<f64> = values.into_iter().collect();
    values.sort_by(f64::total_cmp);
    match values.len() {
        0 => 0.0,
        count => (values[(count - 1) / 2] + values[count / 2]) / 2.0,
    }
}
