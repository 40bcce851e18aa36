//! Throughput and contention of the lease operations, one group a file.

use std::process::ExitCode;

use criterion::{Criterion, criterion_group};

mod claim_batch;
mod lock_wait;

criterion_group!(benches, claim_batch::bench, lock_wait::bench);

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if let Some(("keep", rest)) =
        arguments.split_first().map(|(first, rest)| (first.as_str(), rest))
    {
        // This program is also the keeper of the servers that it measures.
        return leaseproof_engines::provider::keeper_main(rest);
    }
    benches();
    Criterion::default().configure_from_args().final_summary();
    ExitCode::SUCCESS
}
