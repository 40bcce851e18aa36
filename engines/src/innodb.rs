//! The reference statements on InnoDB, which MySQL and MariaDB read alike.

use crate::engine::DatabaseClock;
use crate::statement::Statements;

/// The collation in the schema, which compares byte for byte on MySQL; MariaDB has another name for it.
const MYSQL_COLLATION: &str = "utf8mb4_0900_bin";

/// The statements, with text in a collation that compares byte for byte and keeps trailing blanks.
///
/// # Panics
/// If the schema does not name the collation.
pub(crate) fn statements(collation: &str) -> Statements {
    let mut statements = crate::statements!(
        "innodb",
        ack,
        acked_by,
        apply_effect,
        backlog,
        begin,
        begin_snapshot,
        dead_letter,
        candidates,
        claim,
        claim_batch_lock,
        claim_batch_mark,
        commit,
        confirm,
        effects,
        enqueue,
        event,
        exhausted,
        lock,
        lock_nowait,
        mislead_planner,
        release,
        renew,
        reserve,
        rollback,
        schema,
    );
    let named = statements.replace("schema", MYSQL_COLLATION, collation);
    named.expect("the schema names its collation");
    statements
}

/// How they read the server's clock.
pub(crate) fn database_clock() -> DatabaseClock {
    DatabaseClock {
        statements: crate::statements!(
            "innodb/database_clock",
            ack,
            backlog,
            dead_letter,
            candidates,
            claim,
            claim_batch_lock,
            claim_batch_mark,
            confirm,
            enqueue,
            exhausted,
            renew,
        ),
        readings: &[
            "CAST(UNIX_TIMESTAMP(SYSDATE(6)) * 1000000 AS SIGNED)",
            "CAST(UNIX_TIMESTAMP(NOW(6)) * 1000000 AS SIGNED)",
        ],
    }
}
