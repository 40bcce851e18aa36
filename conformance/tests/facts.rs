//! What engines differ in is measured on each, and is what their makers document.

use leaseproof_conformance::run::{facts, probe};
use leaseproof_engines::{Engine, mariadb, mysql, postgres, sqlite};
use rstest::rstest;

mod support;

const SNAPSHOT: &str = "a claim behind a snapshot, after another claim";
const DEADLOCK: &str = "a statement after a deadlock, then a rollback";
const ORDER: &str = "a claim while another is open, by an index without the order";
const CLOCK: &str = "the clock of an update that waited for its row";

/// Defaults of the versions that are taken when none is named: MariaDB 11.8, MySQL 9.7, PostgreSQL 18.
#[rstest]
#[case::mariadb(&mariadb::ENGINE, ["1020", "autocommit", "no event", "SYSDATE: after the wait; NOW: before"])]
#[case::mysql(&mysql::ENGINE, ["the next event", "autocommit", "no event", "SYSDATE: after the wait; NOW: before"])]
#[case::postgres(&postgres::ENGINE, ["40001", "refused", "the next event", "clock_timestamp: before the wait"])]
#[case::sqlite(&sqlite::ENGINE, ["517", "no deadlock", "error 5", "unixepoch: after the wait"])]
fn facts_are_seen(#[case] engine: &'static dyn Engine, #[case] promised: [&str; 4]) {
    support::block_on(async {
        let seen = facts::measure(&support::target(engine).await).await;
        for (name, seen) in &seen {
            assert!(!seen.contains("could not be seen"), "{name}: {seen}");
        }
        for (name, promised) in [SNAPSHOT, DEADLOCK, ORDER, CLOCK].into_iter().zip(promised) {
            assert!(seen[name].contains(promised), "{name}: {}", seen[name]);
        }
    });
}

#[rstest]
#[case::mariadb(&mariadb::ENGINE)]
#[case::mysql(&mysql::ENGINE)]
#[case::postgres(&postgres::ENGINE)]
#[case::sqlite(&sqlite::ENGINE)]
fn every_capability_is_as_it_is_declared(#[case] engine: &'static dyn Engine) {
    support::block_on(async {
        for probed in probe::probe(&support::target(engine).await).await {
            assert_eq!(probed.found, Some(probed.declared), "{probed:?}");
        }
    });
}
