//! Several programs that write to one file, as they do with an embedded engine: who waits how long.

use async_trait::async_trait;
use leaseproof_engines::instruments::Counter;
use leaseproof_engines::lease::Strategy;
use leaseproof_engines::{Engine, EngineError};

use crate::measured::{Measured, jain};
use crate::process::{Answer, Order, Running, Synchronous, Task as Work, Unit, order};
use crate::profile::Profile;
use crate::recorder::merged;
use crate::scenario::{Scenario, Spec, Task};
use crate::server::Queue;

/// How a claim is made, and `synchronous`. What a commit costs without the disk is seen best where it is
/// all that a claim needs.
const WRITERS: [(&str, &str); 4] =
    [("single", "full"), ("immediate", "full"), ("deferred", "full"), ("single", "normal")];

/// The scenario's one instance.
pub static SCENARIO: ProcessWriters = ProcessWriters;

/// Processes × the transaction around a claim × whether its commit waits for the disk.
pub struct ProcessWriters;

#[async_trait]
impl Scenario for ProcessWriters {
    fn id(&self) -> &'static str {
        "process-writers"
    }

    fn question(&self) -> &'static str {
        "How is one file shared between programs that write to it?"
    }

    fn headline(&self) -> &'static [&'static str] {
        &["claims_per_s", "worker_min", "worker_max", "claim_worst_ms", "lock_wait_ms"]
    }

    fn cells(&self, engine: &dyn Engine, profile: &Profile) -> Vec<Spec> {
        if engine.server().is_some() {
            // Whose clients are connections, in one program or in several.
            return Vec::new();
        }
        let mut cells = Vec::new();
        for (unit, synchronous) in WRITERS {
            for processes in profile.processes {
                cells.push(
                    Spec::new(profile.few_repeats, profile.load_s() + 0.3)
                        .with("unit", unit)
                        .with("synchronous", synchronous)
                        .with("processes", processes),
                );
            }
        }
        cells
    }

    async fn measure(&self, task: Task<'_>) -> Result<Measured, EngineError> {
        let queue = Queue::new(task.bench.engine, task.profile.depth);
        let mut filled = task.bench.queue(&queue).await?;
        let ms = |duration: std::time::Duration| u64::try_from(duration.as_millis()).unwrap_or(0);
        let (unit, strategy) = match task.spec.text("unit") {
            "immediate" => (Unit::Immediate, Strategy::ConditionalUpdate),
            "deferred" => (Unit::Deferred, Strategy::ConditionalUpdate),
            _ => (Unit::None, Strategy::UpdateReturning),
        };
        let work = Work::Cycle {
            warm_up_ms: ms(task.profile.warm_up),
            window_ms: ms(task.profile.window),
            unit,
            synchronous: match task.spec.text("synchronous") {
                "normal" => Synchronous::Normal,
                _ => Synchronous::Full,
            },
        };
        let order = Order { strategy, ..order(task.bench, &*filled.store, queue.depth, work) };
        let answers = run(&order, task.spec.get("processes")).await;
        let audit = filled.instruments.audit().await?;
        filled.remove().await?;
        let answers = answers?;
        let mut measured = of(&answers, task.profile.window.as_secs_f64());
        measured.audited(audit, queue.depth, answers.iter().map(|answer| answer.rows).sum());
        Ok(measured)
    }
}

async fn run(order: &Order, processes: usize) -> Result<Vec<Answer>, EngineError> {
    let mut running = Vec::new();
    for name in 0..processes {
        running.push(Running::start(&Order { name, ..order.clone() }).await?);
    }
    for worker in &mut running {
        worker.go().await?;
    }
    let mut answers = Vec::new();
    for worker in running {
        answers.push(worker.answer().await?);
    }
    Ok(answers)
}

fn of(answers: &[Answer], seconds: f64) -> Measured {
    let mut measured = Measured::default();
    measured.repeat.seconds = seconds;
    let counts: Vec<u64> = answers.iter().map(|answer| answer.claims).collect();
    let sum: u64 = counts.iter().sum();
    measured.value("claims_per_s", sum as f64 / seconds);
    measured.value("jain_index", jain(&counts));
    measured.value("worker_min", counts.iter().min().copied().unwrap_or(0) as f64);
    measured.value("worker_max", counts.iter().max().copied().unwrap_or(0) as f64);
    measured.repeat.workers = counts;
    // One that waited until after the end may have waited longest.
    let worst = |answer: &Answer| {
        let inside_ms = answer.latency.as_ref().map_or(0.0, |latency| latency.max_us / 1000.0);
        inside_ms.max(answer.unfinished_ms)
    };
    measured.value("claim_worst_ms", answers.iter().map(worst).fold(0.0, f64::max));
    let unfinished: u64 = answers.iter().map(|answer| answer.unfinished).sum();
    measured.value("unfinished", unfinished as f64);
    for answer in answers {
        for (code, count) in &answer.errors {
            *measured.repeat.errors.entry(code.clone()).or_default() += count;
        }
        if answer.refused > 0 {
            let refused = answer.refused;
            measured.violations.push(format!("{refused} events were taken from a live lease"));
        }
    }
    let counter = |name: &str| {
        let values = answers.iter().flat_map(|answer| &answer.counters);
        values.filter(|(counter, _)| counter == name).map(|(_, value)| *value).collect::<Vec<_>>()
    };
    let total = |counter_of: Counter| counter(counter_of.as_str()).iter().sum::<f64>();
    measured.value("lock_waits", total(Counter::LockWaits));
    measured.value("lock_wait_ms", total(Counter::LockWaitMs));
    let longest = counter(Counter::LockWaitMaxMs.as_str()).into_iter().fold(0.0, f64::max);
    measured.value("lock_wait_max_ms", longest);
    measured.latency("claim", merged(answers.iter().filter_map(|answer| answer.latency.clone())));
    measured
}
