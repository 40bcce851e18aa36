//! Predicates, and groups of edits, that faults are made of.

use super::Edit;
use super::Edit::*;
use crate::engine::Dialect;

/// Where a statement reads events, in either dialect.
pub(super) const PLAIN: &str = "FROM lease_event\n";

/// Every pending event, locked; what is free is looked for among them. The limit keeps the planner from
/// looking first.
pub(super) const LOCKED_FIRST: &str =
    "FROM (SELECT * FROM lease_event WHERE state = 'PENDING' LIMIT 99 FOR UPDATE) AS locked\n";

pub(super) const BY_INDEX: &str = "FROM lease_event FORCE INDEX (lease_event_claim)\n";

/// The clause is parsed and forgotten.
pub(super) const IGNORED: Edit = EitherOf(&[
    &[
        Replace("claim_batch_lock", "FOR UPDATE SKIP LOCKED", ""),
        Replace("claim_batch", "FOR UPDATE SKIP LOCKED", ""),
    ],
    &[Replace("claim_batch_lock", "FOR UPDATE SKIP LOCKED", "")],
]);

pub(super) const TAKES_LIVE: Edit = EitherOf(&[
    &[DisableGuard("claim_batch_lock", "free"), DisableGuard("claim_batch", "free")],
    &[DisableGuard("claim_batch_lock", "free")],
]);

/// Only a handled failure would count, and a dead worker handles none.
pub(super) const COUNTS_NOTHING: Edit = EitherOf(&[
    &[
        Replace("claim", COUNT, NO_COUNT),
        Replace("claim_batch", COUNT, NO_COUNT),
        Replace("claim_batch_mark", COUNT, NO_COUNT),
    ],
    &[Replace("claim", COUNT, NO_COUNT), Replace("claim_batch_mark", COUNT, NO_COUNT)],
    &[Replace("claim", COUNT, NO_COUNT), Replace("claim_batch", COUNT, NO_COUNT)],
]);

pub(super) const COUNT: &str = "attempt = attempt + 1";

pub(super) const NO_COUNT: &str = "attempt = attempt";

pub(super) const BATCH_WITHOUT_MAXIMUM: Edit = EitherOf(&[&[
    DisableGuard("candidates", "attempts"),
    DisableGuard("claim", "attempts"),
    DisableGuardIfAny("claim_batch", "attempts"),
    DisableGuardIfAny("claim_batch_lock", "attempts"),
]]);

/// The choice is made once, in a subquery that is not looked at again after a wait.
pub(super) const CHOOSE_THEN_UPDATE: &str = "
UPDATE lease_event
   SET claim_token = :token, lease_until = :until, attempt = attempt + 1
 WHERE event_id IN (
    SELECT event_id
      FROM lease_event
     WHERE state = 'PENDING' AND due_at <= :now
       AND (claim_token IS NULL OR lease_until <= :now)
     ORDER BY due_at, event_id
     LIMIT :limit
 )
RETURNING event_id, due_at;";

/// Keeps everybody else from writing anything, as a migration of the queue to a table lock would.
pub(super) const LOCKS_THE_TABLE: Edit =
    Replace("begin", "BEGIN", "BEGIN; LOCK TABLE lease_event IN SHARE ROW EXCLUSIVE MODE");

/// The outer guard makes the planner expect one row, and so it may run the subquery for each row.
pub(super) const LOCKING_SUBQUERY: &str = "
UPDATE lease_event
   SET claim_token = :token, lease_until = :until, attempt = attempt + 1
 WHERE event_id IN (
    SELECT event_id
      FROM lease_event
     WHERE state = 'PENDING' AND due_at <= :now
       AND (claim_token IS NULL OR lease_until <= :now)
     ORDER BY due_at, event_id
     LIMIT :limit
       FOR UPDATE SKIP LOCKED
 )
   AND state = 'PENDING'
RETURNING event_id, due_at;";

/// An upsert in place of an insert.
pub(super) const REVIVES: Edit = EitherOf(&[
    &[Replace("enqueue", "DO NOTHING", "DO UPDATE SET state = 'PENDING'")],
    &[Replace("enqueue", ":enqueued);", ":enqueued) ON DUPLICATE KEY UPDATE state = 'PENDING';")],
]);

/// A guard that ends a lease one microsecond early.
pub(super) const EARLY: &str = "(claim_token IS NULL OR lease_until - 1 <= :now)";

/// A guard that lets a worker's own rows in again; a worker is its token when it has only one.
pub(super) const OWN_ROWS: &str =
    "(claim_token IS NULL OR lease_until <= :now OR claim_token = :token)";

/// Waits for what others hold, as `FOR UPDATE` alone does.
pub(super) const WAITS: Edit = EitherOf(&[
    &[
        Replace("claim_batch_lock", "FOR UPDATE SKIP LOCKED", "FOR UPDATE"),
        Replace("claim_batch", "FOR UPDATE SKIP LOCKED", "FOR UPDATE"),
    ],
    &[Replace("claim_batch_lock", "FOR UPDATE SKIP LOCKED", "FOR UPDATE")],
]);

/// Locks every row that it can before it takes the first ones.
pub(super) const LOCKS_A_BLOCK: Edit = EitherOf(&[
    &[
        Replace("claim_batch_lock", "FROM lease_event\n", BLOCK),
        Replace("claim_batch_lock", "LIMIT :limit\n   FOR UPDATE SKIP LOCKED", "LIMIT :limit"),
        Replace("claim_batch", "FROM lease_event\n", BLOCK),
        Replace("claim_batch", "LIMIT :limit\n       FOR UPDATE SKIP LOCKED", "LIMIT :limit"),
    ],
    &[
        Replace("claim_batch_lock", "FROM lease_event FORCE INDEX (lease_event_claim)\n", BLOCK),
        Replace("claim_batch_lock", "LIMIT :limit\n   FOR UPDATE SKIP LOCKED", "LIMIT :limit"),
    ],
]);

pub(super) const BLOCK: &str = "FROM (SELECT * FROM lease_event WHERE state = 'PENDING' LIMIT 999 \
                     FOR UPDATE SKIP LOCKED) AS locked\n";

/// Chooses the first free row before it looks whether that one is locked.
pub(super) const LIMIT_BELOW: Edit = EitherOf(&[
    &[ReplaceGuard("claim_batch_lock", "free", FIRST), ReplaceGuard("claim_batch", "free", FIRST)],
    &[ReplaceGuard("claim_batch_lock", "free", FIRST)],
]);

pub(super) const FIRST: &str =
    "event_id = (SELECT min(event_id) FROM lease_event WHERE claim_token IS NULL)";

pub(super) const NOT_ACCEPTED: Edit = EitherOf(&[
    &[
        Replace("claim_batch_lock", "SKIP LOCKED", "SKIP LOCKED ROWS"),
        Replace("claim_batch", "SKIP LOCKED", "SKIP LOCKED ROWS"),
    ],
    &[Replace("claim_batch_lock", "SKIP LOCKED", "SKIP LOCKED ROWS")],
]);

/// A guard that ends a lease one microsecond late.
pub(super) const LATE: &str = "(claim_token IS NULL OR lease_until < :now)";

/// A guard that never ends a lease.
pub(super) const NEVER: &str = "(claim_token IS NULL OR lease_until + 0 * :now IS NULL)";

/// A claim takes a lock of the session, and a release gives it up.
pub(super) const CLAIM_LOCKS: Edit = ReplaceGuardByDialect(
    "claim",
    "attempts",
    &[
        (Dialect::Postgres, "pg_try_advisory_lock(hashtext(event_id))"),
        (Dialect::InnoDb, "GET_LOCK(HEX(event_id), 0) = 1"),
    ],
);

pub(super) const RELEASE_UNLOCKS: Edit = ReplaceGuardByDialect(
    "release",
    "pending",
    &[
        (Dialect::Postgres, "pg_advisory_unlock(hashtext(event_id))"),
        (Dialect::InnoDb, "RELEASE_LOCK(HEX(event_id)) = 1"),
    ],
);

/// What one transaction leaves on its connection is looked for by a statement after it, as a prepared name is.
pub(super) const KEEPS_STATE: Edit = EitherOf(&[
    &[
        Replace("begin", "BEGIN;", "BEGIN; CREATE TEMPORARY TABLE IF NOT EXISTS kept (one int);"),
        KEPT,
    ],
    &[
        Replace(
            "begin",
            "START TRANSACTION;",
            "START TRANSACTION; CREATE TEMPORARY TABLE IF NOT EXISTS kept (one int);",
        ),
        KEPT,
    ],
]);

pub(super) const KEPT: Edit = ReplaceGuard("renew", "pending", "(SELECT count(*) FROM kept) = 0");

pub(super) const fn by_dialect(
    statement: &'static str,
    predicates: &'static [(Dialect, &'static str)],
) -> Edit {
    ReplaceGuardByDialect(statement, "token", predicates)
}

/// Text under the dialect's usual collation, which folds case and accents and may pad blanks or drop
/// a NUL; lower-cased text where the usual collation is exact.
pub(super) const COLLATED: &[(Dialect, &str)] = &[
    (Dialect::Postgres, "lower(encode(claim_token, 'escape')) = lower(encode(:token, 'escape'))"),
    (Dialect::Sqlite, "lower(CAST(claim_token AS TEXT)) = lower(CAST(:token AS TEXT))"),
    (Dialect::InnoDb, "CONVERT(claim_token USING utf8mb4) = CONVERT(:token USING utf8mb4)"),
];

/// Text whose trailing blanks do not count.
pub(super) const PADDED: &[(Dialect, &str)] = &[
    (
        Dialect::Postgres,
        "CAST(encode(claim_token, 'escape') AS char(300)) = CAST(encode(:token, 'escape') AS char(300))",
    ),
    (Dialect::Sqlite, "CAST(claim_token AS TEXT) = CAST(:token AS TEXT) COLLATE RTRIM"),
    (
        Dialect::InnoDb,
        "CONVERT(claim_token USING utf8mb4) COLLATE utf8mb4_bin = CONVERT(:token USING utf8mb4)",
    ),
];

/// Numbers, as after an implicit cast.
pub(super) const NUMERIC: &[(Dialect, &str)] = &[
    (
        Dialect::Postgres,
        "CAST(encode(claim_token, 'escape') AS numeric) = CAST(encode(:token, 'escape') AS numeric)",
    ),
    (
        Dialect::Sqlite,
        "CAST(CAST(claim_token AS TEXT) AS REAL) = CAST(CAST(:token AS TEXT) AS REAL)",
    ),
    (Dialect::InnoDb, "claim_token + 0 = :token + 0"),
];

/// Bytes without those that end a string in C.
pub(super) const WITHOUT_NUL: &[(Dialect, &str)] = &[
    (
        Dialect::Postgres,
        "replace(encode(claim_token, 'escape'), '\\000', '') = replace(encode(:token, 'escape'), '\\000', '')",
    ),
    (Dialect::Sqlite, "replace(hex(claim_token), '00', '') = replace(hex(:token), '00', '')"),
    (Dialect::InnoDb, "REPLACE(HEX(claim_token), '00', '') = REPLACE(HEX(:token), '00', '')"),
];

/// A search instead of a comparison.
pub(super) const PATTERN: &[(Dialect, &str)] = &[
    (Dialect::Postgres, "encode(claim_token, 'escape') LIKE encode(:token, 'escape')"),
    (Dialect::Sqlite, "CAST(claim_token AS TEXT) LIKE CAST(:token AS TEXT)"),
    (Dialect::InnoDb, "claim_token LIKE :token"),
];

/// A column that is shorter than the tokens.
pub(super) const CUT: &str = "SUBSTR(claim_token, 1, 32) = SUBSTR(:token, 1, 32)";

/// The collation that a team gets which does not ask for one, or asks for a friendly one.
pub(super) const FOLDING_LEDGER: Edit = EitherOf(&[
    &[Replace("schema", "utf8mb4_0900_bin", "utf8mb4_0900_ai_ci")],
    &[Replace("schema", "utf8mb4_nopad_bin", "utf8mb4_general_ci")],
    &[Replace("schema", "event_id TEXT NOT NULL,", "event_id TEXT COLLATE NOCASE NOT NULL,")],
    &[
        Replace(
            "schema",
            "    PRIMARY KEY (consumer, event_id)\n);",
            "    UNIQUE (consumer, event_id)\n);\nCREATE UNIQUE INDEX ON lease_reservation (consumer, lower(event_id));",
        ),
        Replace("reserve", "ON CONFLICT (consumer, event_id)", "ON CONFLICT"),
    ],
]);

/// `INSERT IGNORE`, or its like: what does not fit is cut, and reported as a duplicate later.
pub(super) const SHORTENING_LEDGER: Edit = EitherOf(&[
    &[
        Replace(
            "schema",
            "event_id VARCHAR(255) CHARACTER SET utf8mb4",
            "event_id VARCHAR(64) CHARACTER SET utf8mb4",
        ),
        Replace("reserve", "INSERT INTO", "INSERT IGNORE INTO"),
    ],
    &[of_reserve("VALUES (:consumer, substr(:event, 1, 64))")],
]);

pub(super) const fn of_reserve(values: &'static str) -> Edit {
    Replace("reserve", "VALUES (:consumer, :event)", values)
}

/// A collation that pads, or an id that is trimmed on its way.
pub(super) const PADDING_LEDGER: Edit = EitherOf(&[
    &[Replace("schema", "utf8mb4_0900_bin", "utf8mb4_bin")],
    &[Replace("schema", "utf8mb4_nopad_bin", "utf8mb4_bin")],
    &[of_reserve("VALUES (:consumer, rtrim(:event))")],
]);

/// A reclaim that looks for leases of first attempts only.
pub(super) const FIRST_ATTEMPTS: &str =
    "(claim_token IS NULL OR (lease_until <= :now AND attempt < 2))";

/// The schema refuses a token without a deadline; a team that has this fault does not have the check.
pub(super) const WITHOUT_CHECK: Edit =
    Replace("schema", "CHECK ((claim_token IS NULL) = (lease_until IS NULL))", "CHECK (1 = 1)");

/// A release that leaves the attempt counted.
pub(super) const USES_ATTEMPT: Edit = Replace("release", "attempt - 1", "attempt");

/// Two queries of which neither finds a row that was claimed and given back.
pub(super) const NEW_OR_EXPIRED: &str =
    "((claim_token IS NULL AND attempt = 0) OR lease_until <= :now)";

pub(super) const fn of_backlog(from: &'static str, to: &'static str) -> Edit {
    Replace("backlog", from, to)
}

pub(super) const FREE_AS_TEXT: &str =
    "(claim_token IS NULL OR CAST(lease_until AS CHAR(32)) <= CAST(:now AS CHAR(32)))";

pub(super) const DUE_AS_TEXT: &str = "CAST(due_at AS CHAR(32)) <= CAST(:now AS CHAR(32))";

/// Numbers of 64 bits of which 11 are spent on the exponent.
pub(super) const AS_FLOAT: &[(Dialect, &str)] = &[
    (Dialect::Postgres, "CAST(lease_until AS double precision) > CAST(:now AS double precision)"),
    (Dialect::Sqlite, "CAST(lease_until AS REAL) > CAST(:now AS REAL)"),
    (Dialect::InnoDb, "lease_until + 0e0 > :now + 0e0"),
];

/// Now, by the wall clock of the session.
pub(super) const FREE_BY_LOCAL_TIME: &[(Dialect, &str)] = &[
    (
        Dialect::Postgres,
        "(claim_token IS NULL OR lease_until <= :now + CAST(EXTRACT(TIMEZONE FROM now()) AS bigint) * 1000000)",
    ),
    (
        Dialect::InnoDb,
        "(claim_token IS NULL OR lease_until <= :now + TIMESTAMPDIFF(MICROSECOND, UTC_TIMESTAMP(6), NOW(6)))",
    ),
];

pub(super) const LIVE_BY_LOCAL_TIME: &[(Dialect, &str)] = &[
    (
        Dialect::Postgres,
        "lease_until > :now + CAST(EXTRACT(TIMEZONE FROM now()) AS bigint) * 1000000",
    ),
    (Dialect::InnoDb, "lease_until > :now + TIMESTAMPDIFF(MICROSECOND, UTC_TIMESTAMP(6), NOW(6))"),
];

/// Takes the key off the consumer's ledger, so that an event can be reserved twice.
pub(super) const WITHOUT_RESERVATION_KEY: Edit = EitherOf(&[
    &[
        Replace("schema", ",\n    PRIMARY KEY (consumer, event_id)\n", "\n"),
        Replace("schema", ", WITHOUT ROWID", ""),
        Replace("reserve", "ON CONFLICT (consumer, event_id) DO NOTHING", ""),
    ],
    &[
        Replace("schema", ",\n    PRIMARY KEY (consumer, event_id)\n", "\n"),
        Replace("reserve", "ON CONFLICT (consumer, event_id) DO NOTHING", ""),
    ],
    &[Replace("schema", "PRIMARY KEY (consumer, event_id)", "INDEX (consumer, event_id)")],
]);

/// Lets every statement of a transaction run in autocommit.
pub(super) const WITHOUT_TRANSACTION: Edit = EitherOf(&[&[
    Set("begin", "SELECT 1;"),
    Set("commit", "SELECT 1;"),
    Set("rollback", "SELECT 1;"),
]]);
