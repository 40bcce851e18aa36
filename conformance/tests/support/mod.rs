//! What the test matrices share: servers that are started once and serve the whole test run.

use std::future::Future;

use leaseproof_conformance::harness::target::Target;
use leaseproof_engines::Engine;
use leaseproof_engines::servers::{OwnerPid, ProvideOptions, Selection, provide};

/// The engine's server of this test run.
pub(crate) async fn target(engine: &'static dyn Engine) -> Target {
    let options = ProvideOptions::new(env!("CARGO_BIN_EXE_leaseproof"), OwnerPid::for_tests());
    let provided = provide(&Selection::of(engine), &options, &|_| {}).await;
    Target { engine, endpoint: provided.unwrap_or_else(|missing| panic!("{missing}")) }
}

/// Runs a test on a runtime like the command line's.
pub(crate) fn block_on(test: impl Future<Output = ()>) {
    tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .expect("the system has threads")
        .block_on(test);
}
