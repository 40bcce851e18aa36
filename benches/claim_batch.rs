//! Batch contention: workers drain one queue in batches of ten, by each strategy the engine has.

use std::time::Duration;

use criterion::{BenchmarkId, Criterion, SamplingMode, Throughput};
use leaseproof_benches::fixed_work::{WORKERS, benches, runtime, together};
use leaseproof_engines::lease::{ClaimBatch, FencingToken, Instant, Strategy};
use leaseproof_engines::store::Session;

/// Events drained in one iteration; the store is new for each, so that no sample runs on the rows
/// that an earlier one left.
const EVENTS: usize = 400;
const LIMIT: u32 = 10;

pub(crate) fn bench(criterion: &mut Criterion) {
    let runtime = runtime();
    for bench in benches(&runtime) {
        for strategy in bench.engine.strategies() {
            let mut group = criterion.benchmark_group(format!("claim_batch/{strategy}"));
            group.sampling_mode(SamplingMode::Flat).sample_size(10);
            group.warm_up_time(Duration::from_millis(500)).measurement_time(Duration::from_secs(3));
            group.throughput(Throughput::Elements(EVENTS as u64));
            for workers in WORKERS {
                let id = BenchmarkId::new(bench.engine.name(), workers);
                group.bench_function(id, |bencher| {
                    bencher.iter_custom(|iterations| {
                        let mut took = Duration::ZERO;
                        for _ in 0..iterations {
                            took += runtime.block_on(async {
                                let mut filled = bench.stocked(EVENTS, workers).await;
                                let sessions = std::mem::take(&mut filled.sessions);
                                let drain = |number, session| drain(number, session, *strategy);
                                let (took, sessions) = together(sessions, drain).await;
                                filled.sessions = sessions;
                                filled.remove().await;
                                took
                            });
                        }
                        took
                    });
                });
            }
            group.finish();
        }
    }
}

/// Claims until nothing is left. A retryable error is part of what contention costs.
async fn drain(
    number: usize,
    mut session: Box<dyn Session>,
    strategy: Strategy,
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
            Ok(_) => {}
            Err(error) if error.is_retryable() => {}
            Err(error) => panic!("{error}"),
        }
    }
    session
}
