//! Batch contention: workers drain one queue in batches of ten, by each strategy the engine has.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use criterion::measurement::Measurement;
use criterion::{BenchmarkGroup, BenchmarkId, Criterion, SamplingMode, Throughput};
use leaseproof_benches::fixed_work::{WORKERS, benches, runtime, together};
use leaseproof_benches::server::Bench;
use leaseproof_engines::instruments::Counter;
use leaseproof_engines::lease::{ClaimBatch, FencingToken, Instant, Strategy};
use leaseproof_engines::store::Session;
use tokio::runtime::Runtime;

use crate::measurement::Counted;

/// Events drained in one iteration; the store is new for each, so that no sample runs on the rows
/// that an earlier one left.
const EVENTS: usize = 400;
const LIMIT: u32 = 10;

/// The time until the queue is empty.
pub(crate) fn timed(criterion: &mut Criterion) {
    let runtime = runtime();
    for bench in benches(&runtime) {
        for strategy in bench.engine.strategies() {
            let mut group = criterion.benchmark_group(format!("claim_batch/{strategy}"));
            shape(&mut group);
            group.throughput(Throughput::Elements(EVENTS as u64));
            for workers in WORKERS {
                group.bench_function(BenchmarkId::new(bench.engine.name(), workers), |bencher| {
                    bencher.iter_custom(|iterations| {
                        (0..iterations)
                            .map(|_| drained(&runtime, &bench, workers, *strategy).0)
                            .sum()
                    });
                });
            }
            group.finish();
        }
    }
}

/// The rows that the workers have stepped over, as the engine counts.
pub(crate) fn skipped(criterion: &mut Criterion<Counted>) {
    let runtime = runtime();
    let mut group = criterion.benchmark_group("claim_batch/skipped");
    shape(&mut group);
    for bench in benches(&runtime) {
        let strategy = Strategy::SkipLocked;
        if !bench.engine.strategies().contains(&strategy) {
            continue;
        }
        // One worker steps over nothing, and a count that is always 0 has no distribution.
        for workers in WORKERS.into_iter().filter(|workers| *workers > 1) {
            if drained(&runtime, &bench, workers, strategy).1.is_none() {
                eprintln!("not measured: {} counts no skipped rows", bench.engine.title());
                break;
            }
            group.bench_function(BenchmarkId::new(bench.engine.name(), workers), |bencher| {
                bencher.iter_custom(|iterations| {
                    let skipped = |_| drained(&runtime, &bench, workers, strategy).1;
                    (0..iterations).filter_map(skipped).sum()
                });
            });
        }
    }
    group.finish();
}

fn shape<M: Measurement>(group: &mut BenchmarkGroup<'_, M>) {
    group.sampling_mode(SamplingMode::Flat).sample_size(10);
    group.warm_up_time(Duration::from_millis(500)).measurement_time(Duration::from_secs(3));
}

/// One iteration on a store of its own: its time, and the rows skipped as the engine counts.
fn drained(
    runtime: &Runtime,
    bench: &Bench,
    workers: usize,
    strategy: Strategy,
) -> (Duration, Option<u64>) {
    runtime.block_on(async {
        let mut stocked = bench.stocked(EVENTS, workers).await;
        let sessions = std::mem::take(&mut stocked.sessions);
        let before = stocked.instruments.counters().await.expect("counters can be read");
        let claimed = Arc::new(AtomicUsize::new(0));
        let work = |number, session| drain(number, session, strategy, Arc::clone(&claimed));
        let (took, sessions) = together(sessions, work).await;
        let after = stocked.instruments.counters().await.expect("counters can be read");
        // A time in which an event was lost or doubled is no result.
        let claimed = claimed.load(Ordering::SeqCst);
        assert_eq!(claimed, EVENTS, "events claimed on {} by {strategy}", bench.label);
        stocked.assert_acquired(claimed).await;
        stocked.sessions = sessions;
        stocked.remove().await;
        (took, after.since(&before).value(Counter::SkippedRows).map(|rows| rows as u64))
    })
}

/// Claims until nothing is left, and counts the events. A retryable error is part of what contention costs.
async fn drain(
    number: usize,
    mut session: Box<dyn Session>,
    strategy: Strategy,
    claimed: Arc<AtomicUsize>,
) -> Box<dyn Session> {
    for turn in 0.. {
        let batch = ClaimBatch {
            limit: LIMIT,
            token: FencingToken::new(format!("worker-{number}-{turn}")),
            now: Instant(1),
            until: Instant(2),
            strategy,
        };
        match session.claim_batch(&batch).await {
            Ok(events) if events.is_empty() => {
                // A strategy that does not skip may come back empty because others were faster.
                let left = session.candidates(1, Instant(1)).await.expect("candidates can be read");
                if left.is_empty() {
                    break;
                }
            }
            Ok(events) => drop(claimed.fetch_add(events.len(), Ordering::SeqCst)),
            Err(error) if error.is_retryable() => {}
            Err(error) => panic!("{error}"),
        }
    }
    session
}
