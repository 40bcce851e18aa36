//! Every contract on every engine: the matrix, one test each.

use leaseproof_conformance::contract::Contract;
use leaseproof_conformance::plan::variant::{Matrix, Variant};
use leaseproof_conformance::run::known_failures::KnownFailures;
use leaseproof_conformance::run::runner;
use leaseproof_engines::Engine;
use leaseproof_reports::Outcome;
use leaseproof_reports::history::words;
use rstest::rstest;

mod support;

/// The seed of the matrix; the command line draws one and prints it.
const SEED: u64 = 20_240_229;

macro_rules! contract_test {
    ([$($engine:ident)+] $family:ident $promise:ident) => {
        #[rstest]
        $(#[case::$engine(&leaseproof_engines::$engine::ENGINE)])+
        fn $promise(#[case] engine: &'static dyn Engine) {
            support::block_on(kept(&leaseproof_conformance::contracts::$family::$promise::CONTRACT, engine));
        }
    };
}

macro_rules! every_contract {
    ($engines:tt) => {
        leaseproof_conformance::for_each_contract! { contract_test! { $engines } }
    };
}

leaseproof_engines::with_engines! { every_contract! {} }

async fn kept(contract: &'static Contract, engine: &'static dyn Engine) {
    let target = support::target(engine).await;
    let server =
        engine.identify(&target.endpoint).await.expect("a server that is up says who it is");
    let known = KnownFailures::shipped();
    for variant in Variant::of(contract, engine, Matrix::Default) {
        let result = runner::run(contract, &target, variant, SEED, None).await;
        let label = variant.label();
        let expected = match known.entry(engine.name(), &server.version, contract.id, &label) {
            // A known failure that is kept again has to leave the list.
            Some(_) => result.outcome == Outcome::Broken,
            None => matches!(result.outcome, Outcome::Kept | Outcome::Unsupported),
        };
        let history = result.recorder.excerpt(words::line).join("\n");
        assert!(
            expected,
            "{} [{} {label}] {}: {}\n{history}",
            contract.id,
            engine.name(),
            result.outcome,
            result.detail
        );
    }
}
