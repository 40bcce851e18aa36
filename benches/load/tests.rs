//! The load itself, without any store.

use super::*;
use crate::recorder::SECOND;

struct Nap(Duration);

impl Worker for Nap {
    #[expect(clippy::disallowed_methods, reason = "it stands in for an operation of known length")]
    async fn turn(&mut self, turn: Turn, recorder: &mut Recorder) -> Result<(), EngineError> {
        tokio::time::sleep(self.0).await;
        recorder.ended(0, turn.due);
        Ok(())
    }
}

fn load(pace: Pace) -> Load {
    let (warm_up, window) = (Duration::from_millis(100), Duration::from_millis(400));
    Load { warm_up, window, pace, part: SECOND, seed: 7, operations: 1, tallies: 0, server: None }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_closed_loop_counts_what_ended_inside_its_window() {
    let workers = vec![Nap(Duration::from_millis(10)), Nap(Duration::from_millis(10))];
    let loaded = run(workers, load(Pace::Closed)).await.unwrap();
    let count = loaded.record.operations(0);
    // How many turns there were is the machine's to say; two workers can have had no more inside the window,
    // and the first ones ended before it.
    assert!(count.window <= 80, "{count:?}");
    assert!(count.all > count.window, "{count:?}");
    assert_eq!(loaded.record.workers.iter().sum::<u64>(), count.window);
    assert_eq!(loaded.record.workers.len(), 2);
    assert_eq!(loaded.unsent, 0);
    assert!(loaded.lag.is_none_or(|lag| lag.count == 0));
}

/// A worker that is slower than its schedule must not make the schedule slower: latency counts from
/// when each turn was due, and the turns that it never came to are told.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_late_turn_is_timed_from_when_it_was_due() {
    let loaded = run(vec![Nap(Duration::from_millis(20))], load(Pace::Open { per_s: 100.0 }));
    let loaded = loaded.await.unwrap();
    // 50 turns were due and at most 25 could be served.
    let due = schedule(&load(Pace::Open { per_s: 100.0 })).len() as u64;
    let served = loaded.record.operations(0).all;
    assert_eq!(loaded.unsent, due - served);
    assert!(loaded.unsent >= 15, "{} of {due} unsent", loaded.unsent);
    let latency = loaded.record.latency(0).unwrap();
    assert!(latency.max_us > 100_000.0, "{latency:?}");
    let lag = loaded.lag.unwrap();
    assert!(lag.max_us > 80_000.0 && lag.max_us < latency.max_us, "{lag:?}");
}

#[test]
fn a_schedule_has_the_rate_that_was_asked_for_and_follows_its_seed() {
    let mut load = load(Pace::Open { per_s: 5000.0 });
    load.window = Duration::from_secs(10);
    let first = schedule(&load);
    assert!((49_000..=52_000).contains(&first.len()), "{}", first.len());
    assert!(first.is_sorted());
    assert_eq!(first, schedule(&load));
    load.seed += 1;
    assert_ne!(first, schedule(&load));
}
