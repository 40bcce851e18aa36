//! Lock waits: workers take one hot lease from each other, each claim an instant later. Once timed, and
//! once counted by the engine itself.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, AtomicUsize, Ordering};
use std::time::Duration;

use criterion::measurement::Measurement;
use criterion::{BenchmarkGroup, BenchmarkId, Criterion, SamplingMode, Throughput};
use leaseproof_benches::fixed_work::{WORKERS, benches, runtime, together};
use leaseproof_benches::server::{Bench, event};
use leaseproof_engines::instruments::Counter;
use leaseproof_engines::lease::{Claim, Claimed, FencingToken, Instant};
use leaseproof_engines::store::Session;
use tokio::runtime::Runtime;

use crate::measurement::Counted;

/// Claims by each worker in one iteration.
const CLAIMS: usize = 25;

/// The time until all have claimed.
pub(crate) fn timed(criterion: &mut Criterion) {
    let runtime = runtime();
    let mut group = criterion.benchmark_group("lock_wait/hot_row");
    shape(&mut group);
    for bench in benches(&runtime) {
        for workers in WORKERS {
            group.throughput(Throughput::Elements((CLAIMS * workers) as u64));
            group.bench_function(BenchmarkId::new(bench.engine.name(), workers), |bencher| {
                bencher.iter_custom(|iterations| {
                    (0..iterations).map(|_| contended(&runtime, &bench, workers).0).sum()
                });
            });
        }
    }
    group.finish();
}

/// The time that the engine says they have waited for each other's locks.
pub(crate) fn waited(criterion: &mut Criterion<Counted>) {
    let runtime = runtime();
    let mut group = criterion.benchmark_group("lock_wait/waited");
    shape(&mut group);
    for bench in benches(&runtime) {
        // One worker waits for nobody, and a count that is always 0 has no distribution.
        for workers in WORKERS.into_iter().filter(|workers| *workers > 1) {
            if contended(&runtime, &bench, workers).1.is_none() {
                eprintln!("not measured: {} shows no lock waits", bench.engine.title());
                break;
            }
            group.bench_function(BenchmarkId::new(bench.engine.name(), workers), |bencher| {
                bencher.iter_custom(|iterations| {
                    (0..iterations).filter_map(|_| contended(&runtime, &bench, workers).1).sum()
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

/// One iteration on a store of its own: its time, and the nanoseconds waited as the engine counts.
fn contended(runtime: &Runtime, bench: &Bench, workers: usize) -> (Duration, Option<u64>) {
    runtime.block_on(async {
        let mut stocked = bench.stocked(1, workers).await;
        let sessions = std::mem::take(&mut stocked.sessions);
        let before = stocked.instruments.counters().await.expect("counters can be read");
        let clock = Arc::new(AtomicI64::new(1));
        let won = Arc::new(AtomicUsize::new(0));
        let both = || (Arc::clone(&clock), Arc::clone(&won));
        let contend = |number, session| contend(number, session, both());
        let (took, sessions) = together(sessions, contend).await;
        for session in sessions {
            session.close().await;
        }
        let after = stocked.instruments.counters().await.expect("counters can be read");
        // A time in which a claim was lost or doubled is no result.
        stocked.assert_acquired(won.load(Ordering::SeqCst)).await;
        let waited_ms = after.since(&before).value(Counter::LockWaitMs);
        stocked.remove().await;
        (took, waited_ms.map(|ms| (ms * 1e6) as u64))
    })
}

/// Claims the hot event over and over. The lease lasts one instant, so that every claim finds it
/// expired and has to write; who waits for whom is up to the engine.
async fn contend(
    number: usize,
    mut session: Box<dyn Session>,
    (clock, won): (Arc<AtomicI64>, Arc<AtomicUsize>),
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
            Ok(claimed) => {
                won.fetch_add(usize::from(claimed == Claimed::Claimed), Ordering::SeqCst);
            }
            Err(error) if error.is_retryable() => {}
            Err(error) => panic!("{error}"),
        }
    }
    session
}
