//! Lock waits: workers take one hot lease from each other, each claim an instant later.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use criterion::{BenchmarkId, Criterion, SamplingMode, Throughput};
use leaseproof_benches::fixed_work::{WORKERS, benches, runtime, together};
use leaseproof_benches::server::event;
use leaseproof_engines::lease::{Claim, FencingToken, Instant};
use leaseproof_engines::store::Session;

/// Claims by each worker in one iteration.
const CLAIMS: usize = 25;

pub(crate) fn bench(criterion: &mut Criterion) {
    let runtime = runtime();
    let mut group = criterion.benchmark_group("lock_wait/hot_row");
    group.sampling_mode(SamplingMode::Flat).sample_size(10);
    group.warm_up_time(Duration::from_millis(500)).measurement_time(Duration::from_secs(3));
    for bench in benches(&runtime) {
        for workers in WORKERS {
            group.throughput(Throughput::Elements((CLAIMS * workers) as u64));
            let id = BenchmarkId::new(bench.engine.name(), workers);
            group.bench_function(id, |bencher| {
                bencher.iter_custom(|iterations| {
                    let mut took = Duration::ZERO;
                    for _ in 0..iterations {
                        took += runtime.block_on(async {
                            let mut filled = bench.stocked(1, workers).await;
                            let sessions = std::mem::take(&mut filled.sessions);
                            let clock = Arc::new(AtomicI64::new(1));
                            let contend =
                                |number, session| contend(number, session, Arc::clone(&clock));
                            let (took, sessions) = together(sessions, contend).await;
                            filled.sessions = sessions;
                            filled.remove().await;
                            took
                        });
                    }
                    took
                });
            });
        }
    }
    group.finish();
}

/// Claims the hot event over and over. The lease lasts one instant, so that every claim finds it
/// expired and has to write; who waits for whom is up to the engine.
async fn contend(
    number: usize,
    mut session: Box<dyn Session>,
    clock: Arc<AtomicI64>,
) -> Box<dyn Session> {
    for turn in 0..CLAIMS {
        let now = clock.fetch_add(1, Ordering::SeqCst);
        let claim = Claim {
            event: event(0),
            token: FencingToken::new(format!("worker-{number}-{turn}")),
            now: Instant(now),
            until: Instant(now + 1),
        };
        match session.claim(&claim).await {
            Ok(_) => {}
            Err(error) if error.is_retryable() => {}
            Err(error) => panic!("{error}"),
        }
    }
    session
}
