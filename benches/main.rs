//! Throughput and contention of the lease operations: once timed, and once by what the engine counts.

use std::process::ExitCode;

use criterion::{Criterion, criterion_group};
use leaseproof_engines::postgres::LockLog;
use measurement::Counted;
use tracing_subscriber::layer::SubscriberExt as _;
use tracing_subscriber::util::SubscriberInitExt as _;

mod claim_batch;
mod lock_wait;
mod measurement;

criterion_group!(times, claim_batch::timed, lock_wait::timed);
criterion_group!(
    name = waits;
    config = Criterion::default().with_measurement(Counted::new("ns waited"));
    targets = lock_wait::waited
);
criterion_group!(
    name = skips;
    config = Criterion::default().with_measurement(Counted::new("rows skipped"));
    targets = claim_batch::skipped
);

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if let Some(("keep", rest)) =
        arguments.split_first().map(|(first, rest)| (first.as_str(), rest))
    {
        // This program is also the keeper of the servers that it measures.
        return leaseproof_engines::servers::keeper_main(rest);
    }
    // PostgreSQL tells of each lock wait in a message to the client.
    tracing_subscriber::registry().with(LockLog::layer()).init();
    times();
    waits();
    skips();
    Criterion::default().configure_from_args().final_summary();
    ExitCode::SUCCESS
}
