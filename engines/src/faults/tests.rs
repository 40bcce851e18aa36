//! Every fault really changes a store's statements, or the store says why not.

use super::{CannotPlant, Fault, plant};
use crate::REGISTRY;
use crate::engine::Dialect;
use crate::lease::Clock;

#[test]
fn every_fault_changes_some_engine_and_none_silently_nothing() {
    for fault in Fault::ALL {
        let mut planted = Vec::new();
        for engine in REGISTRY {
            for clock in [Clock::Logical, Clock::Database] {
                let reference = engine.statements_on(clock);
                let mut edited = reference.clone();
                let readings = engine.database_clock().readings;
                match plant(*fault, engine.dialect(), &mut edited, readings) {
                    // What a team gets on SQLite that asks for no collation is what the reference has.
                    Ok(())
                        if *fault == Fault::UsualCollation
                            && engine.dialect() == Dialect::Sqlite => {}
                    Ok(()) => {
                        assert_ne!(edited, reference, "`{}` changes nothing", fault.as_str());
                        planted.push(engine.name());
                    }
                    Err(CannotPlant::Untranslated(fault)) => {
                        panic!("`{}` has no translation", fault.as_str())
                    }
                    // What the engine lacks is named: a statement, a guard, a text, or the words for it.
                    Err(reason) => assert!(!reason.to_string().is_empty()),
                }
            }
        }
        assert!(!planted.is_empty(), "`{}` can be planted nowhere", fault.as_str());
    }
}

#[test]
fn names_are_stable_and_unique() {
    let mut names: Vec<_> = Fault::ALL.iter().map(|fault| fault.as_str()).collect();
    names.sort_unstable();
    let all = names.len();
    names.dedup();
    assert_eq!(names.len(), all);
}
