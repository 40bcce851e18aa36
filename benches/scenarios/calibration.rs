//! What the machine and the way to the server can do at all, and how much two equal measurements differ.

use async_trait::async_trait;
use std::time::{Duration, Instant};

use leaseproof_engines::lease::{Instant as At, NewEvent};
use leaseproof_engines::{Engine, EngineError};

use crate::cycle::{self, Claims};
use crate::measured::Measured;
use crate::profile::Profile;
use crate::recorder::{Record, Recorder};
use crate::scenario::{Scenario, Spec, Task};
use crate::server::{Queue, event};

const WORKERS: usize = 8;
const DEPTH: u64 = 1000;
/// How long reads and commits are each repeated.
const LOOP: Duration = Duration::from_secs(1);

/// The scenario's one instance.
pub static SCENARIO: Calibration = Calibration;

/// Round trips, commits, and the same cell twice.
pub struct Calibration;

#[async_trait]
impl Scenario for Calibration {
    fn id(&self) -> &'static str {
        "calibration"
    }

    fn question(&self) -> &'static str {
        "What is the floor: a round trip, a commit, and two measurements of the same thing?"
    }

    fn headline(&self) -> &'static [&'static str] {
        &["point_read_p50_us", "commit_p50_us", "commits_per_s", "claims_per_s"]
    }

    fn cells(&self, _: &dyn Engine, profile: &Profile) -> Vec<Spec> {
        let arms = ["a", "b"];
        let arm = |arm| Spec::new(profile.repeats.max(2), profile.load_s()).with("arm", arm);
        let floor = Spec::new(1, LOOP.as_secs_f64() * 2.0 + 0.5).with("arm", "round-trip");
        std::iter::once(floor).chain(arms.into_iter().map(arm)).collect()
    }

    async fn measure(&self, task: Task<'_>) -> Result<Measured, EngineError> {
        if task.spec.text("arm") == "round-trip" {
            return round_trips(task).await;
        }
        let queue = Queue::new(task.bench.engine, task.profile.depth);
        cycle::measure(task, queue, Claims::closed(task, WORKERS, 10)).await
    }
}

/// One session alone: a read by primary key, and the insert of one event with its commit.
async fn round_trips(task: Task<'_>) -> Result<Measured, EngineError> {
    let mut filled = task.bench.queue(&Queue::new(task.bench.engine, DEPTH)).await?;
    let mut session = filled.sessions(1).await?.remove(0);
    let mut recorder = Recorder::new(2, 0, LOOP * 2);
    let start = Instant::now();
    recorder.open(start, start + LOOP * 4);
    let mut reads = 0;
    while start.elapsed() < LOOP {
        let begun = Instant::now();
        session.event(&event(reads % DEPTH)).await?;
        recorder.ended(0, begun);
        reads += 1;
    }
    let begun_commits = Instant::now();
    let mut commits = 0;
    while begun_commits.elapsed() < LOOP {
        let new = NewEvent { event: event(DEPTH + commits), due: At(0), enqueued: At(0) };
        let begun = Instant::now();
        session.enqueue(std::slice::from_ref(&new)).await?;
        recorder.ended(1, begun);
        commits += 1;
    }
    let seconds = begun_commits.elapsed().as_secs_f64();
    session.close().await;
    let audit = filled.instruments.audit().await?;
    filled.remove().await?;
    let record = Record::merge(vec![recorder]);
    let mut measured = Measured::default();
    measured.repeat.seconds = start.elapsed().as_secs_f64();
    measured.audited(audit, DEPTH + commits, 0);
    measured.value("commits_per_s", commits as f64 / seconds);
    for (place, name) in ["point_read", "commit"].into_iter().enumerate() {
        let latency = record.latency(place);
        let p50_us = latency.as_ref().map_or(0.0, |latency| latency.p50_us);
        measured.value(&format!("{name}_p50_us"), p50_us);
        measured.latency(name, latency);
    }
    Ok(measured)
}
