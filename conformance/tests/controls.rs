//! Every control of every contract on every engine that it concerns: each must be found broken.

use leaseproof_conformance::contract::Contract;
use leaseproof_conformance::plan::variant::{Matrix, Variant};
use leaseproof_conformance::run::runner;
use leaseproof_engines::Engine;
use leaseproof_reports::Outcome;
use rstest::rstest;

mod support;

const SEED: u64 = 20_240_229;

macro_rules! control_test {
    ([$($engine:ident)+] $family:ident $promise:ident) => {
        #[rstest]
        $(#[case::$engine(&leaseproof_engines::$engine::ENGINE)])+
        fn $promise(#[case] engine: &'static dyn Engine) {
            support::block_on(killed(&leaseproof_conformance::contracts::$family::$promise::CONTRACT, engine));
        }
    };
}

macro_rules! every_contract {
    ($engines:tt) => {
        leaseproof_conformance::for_each_contract! { control_test! { $engines } }
    };
}

leaseproof_engines::with_engines! { every_contract! {} }

async fn killed(contract: &'static Contract, engine: &'static dyn Engine) {
    assert!(!contract.controls.is_empty(), "`{}` cannot fail: it has no control", contract.id);
    let target = support::target(engine).await;
    for control in contract.controls {
        if !control.concerns(engine.capabilities()) {
            continue;
        }
        let mut outcomes = Vec::new();
        for variant in Variant::of(contract, engine, Matrix::Default) {
            let result = runner::run(contract, &target, variant, SEED, Some(control)).await;
            outcomes.push((variant.label(), result.outcome, result.detail));
        }
        let unsupported = outcomes.iter().all(|(_, outcome, _)| *outcome == Outcome::Unsupported);
        let broken = outcomes.iter().any(|(_, outcome, _)| *outcome == Outcome::Broken);
        assert!(
            unsupported || broken,
            "`{}` survived `{}` on {}: {outcomes:?}",
            control.name,
            contract.id,
            engine.name()
        );
    }
}
