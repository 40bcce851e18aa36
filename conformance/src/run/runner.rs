//! The one place where a contract runs: the command line, the tests and the benches all call it.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use leaseproof_engines::capability::StoreCapability;
use leaseproof_engines::lease::Strategy;
use leaseproof_engines::store::{Store, StoreOptions};
use leaseproof_engines::{Capability, Engine, EngineError, ErrorKind};
use leaseproof_reports::Outcome;

use crate::contract::Contract;
use crate::controls::{Control, Planted};
use crate::harness::context::Context;
use crate::harness::finding::{Evidence, Finding, Judged};
use crate::harness::stores::Stores;
use crate::harness::target::Target;
use crate::history::Recorder;
use crate::plan::variant::Variant;

/// The longest a case may take; far above what any takes, so that a stalled one fails.
pub const CASE_BOUND: Duration = Duration::from_secs(90);

/// What is said of a case that was ended early because somebody asked for it.
const INTERRUPTED: &str = "interrupted";

/// How one case ended.
pub struct CaseResult {
    /// The outcome.
    pub outcome: Outcome,
    /// What was observed, in one line.
    pub detail: String,
    /// What a kept contract saw; what led to a finding is in the recorder, as data.
    pub evidence: Evidence,
    /// What was seen beside the verdict, such as what the loser of a race is told.
    pub observations: BTreeMap<String, String>,
    /// How long it took, the store's creation and removal included.
    pub duration: Duration,
    /// What happened.
    pub recorder: Recorder,
}

/// Runs one contract in one variant, on the reference store or on one with a fault.
///
/// The case's stores are removed before this returns, however it ended. Dropping the future instead
/// of awaiting it leaves them; use [`run_until`] where a user may interrupt.
pub async fn run(
    contract: &'static Contract,
    target: &Target,
    variant: Variant,
    seed: u64,
    control: Option<&'static Control>,
) -> CaseResult {
    run_until(contract, target, variant, seed, control, std::future::pending()).await
}

/// The same, ended early as skipped when `interrupt` completes.
pub async fn run_until(
    contract: &'static Contract,
    target: &Target,
    variant: Variant,
    seed: u64,
    control: Option<&'static Control>,
    interrupt: impl Future<Output = ()>,
) -> CaseResult {
    let start = Instant::now();
    let recorder = Recorder::default();
    if let Some(missing) = lacking(contract, target.engine) {
        let finding = Finding::Unsupported(format!("the engine lacks `{missing}`"));
        return result(Err(finding), recorder, start);
    }
    let stores = Stores::new(target, control, variant);
    let task = tokio::spawn(execute(contract, stores.clone(), variant, seed, recorder.clone()));
    let abort = task.abort_handle();
    let judged = tokio::select! {
        joined = tokio::time::timeout(CASE_BOUND, task) => judge(joined),
        () = interrupt => Err(Finding::Interrupted),
    };
    // A contract that is still running would hold locks on what is to be removed.
    abort.abort();
    let closed = stores.close().await;
    match (judged, closed) {
        // A verdict stands; that the store could not be removed must not be silent either.
        (Ok(_), Err(error)) => result(Err(Finding::Errored(error)), recorder, start),
        (judged, _) => result(judged, recorder, start),
    }
}

fn lacking(contract: &Contract, engine: &dyn Engine) -> Option<Capability> {
    let has = engine.capabilities();
    contract.requires.iter().copied().find(|wanted| !has.contains(wanted))
}

fn not_offered(contract: &Contract, store: &dyn Store) -> Option<StoreCapability> {
    let offered = store.capabilities();
    contract.offers.iter().copied().find(|wanted| !offered.contains(wanted))
}

async fn execute(
    contract: &'static Contract,
    stores: Stores,
    variant: Variant,
    seed: u64,
    recorder: Recorder,
) -> Judged {
    let store = stores.open(StoreOptions::default()).await?;
    if let Some(missing) = not_offered(contract, store.as_ref()) {
        return Err(Finding::Unsupported(format!("the store does not offer `{missing}`")));
    }
    let strategy = variant.strategy.unwrap_or(Strategy::ConditionalUpdate);
    let mut context = Context::new(stores.target.engine, stores.clone(), store, strategy, seed);
    context.recorder = recorder;
    context.clock = variant.clock;
    for planted in stores.planted() {
        match planted {
            Planted::Worker(fault) => context.worker_fault = Some(*fault),
            Planted::OneTokenPerActor => context.one_token_per_actor = true,
            _ => {}
        }
    }
    (contract.run)(&context).await
}

/// A contract that panicked or stalled has not been decided.
fn judge(
    joined: Result<Result<Judged, tokio::task::JoinError>, tokio::time::error::Elapsed>,
) -> Judged {
    let undecided = |message: String| {
        Err(Finding::Errored(EngineError::new(
            "leaseproof",
            "run the contract",
            ErrorKind::Fatal,
            message,
        )))
    };
    match joined {
        Ok(Ok(judged)) => judged,
        Ok(Err(panic)) => undecided(format!("it panicked: {panic}")),
        Err(_) => undecided(format!("it did not end within {} s", CASE_BOUND.as_secs())),
    }
}

fn result(judged: Judged, recorder: Recorder, start: Instant) -> CaseResult {
    let (outcome, detail, evidence) = match judged {
        Ok(evidence) => (Outcome::Kept, evidence.first().cloned().unwrap_or_default(), evidence),
        Err(Finding::Broken(observed)) => (Outcome::Broken, observed, Vec::new()),
        Err(Finding::Inconclusive(missing)) => (Outcome::Inconclusive, missing, Vec::new()),
        Err(Finding::Unsupported(lacking)) => (Outcome::Unsupported, lacking, Vec::new()),
        Err(Finding::Interrupted) => (Outcome::Skipped, INTERRUPTED.to_owned(), Vec::new()),
        Err(Finding::Errored(error)) => (Outcome::Errored, error.to_string(), Vec::new()),
    };
    CaseResult {
        outcome,
        detail,
        evidence,
        observations: recorder.observations(),
        duration: start.elapsed(),
        recorder,
    }
}
