//! What PostgreSQL tells of its costs.
//!
//! Statistics views are flushed by each backend when it ends, so totals are read after the sessions
//! were closed. Row locks are kept in the rows themselves and counted nowhere.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use serde_json::Value as Json;
use sqlx::Row as _;
use sqlx::postgres::PgConnection;

use super::lock_log::{self, Told};
use super::{CODES, cells, one};
use crate::driver::{Wire, WireError};
use crate::error::{EngineError, ErrorKind};
use crate::instruments::{
    Audit, Counter, Counters, Effects, Instruments, Look, Observed, PLANNED, StatementPlan, Wait,
    name_of, with_literals,
};
use crate::sandbox::Roster;
use crate::session::Compilation;
use crate::store::{Result, SessionId};

/// How often, and how many times, the server is asked whether closed sessions are gone: 5 s in all.
const LOOK_EVERY: Duration = Duration::from_millis(2);
const LOOKS: usize = 2500;

const COUNTERS: &str = "SELECT
    (SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()),
    CAST(pg_current_wal_insert_lsn() - '0/0' AS bigint),
    tab.n_dead_tup,
    CAST(coalesce(tab.seq_tup_read, 0) + (SELECT coalesce(sum(idx_tup_read), 0)
        FROM pg_stat_user_indexes AS idx WHERE idx.relid = tab.relid) AS bigint),
    CAST(io.heap_blks_hit + io.heap_blks_read
        + coalesce(io.idx_blks_hit + io.idx_blks_read, 0) AS bigint)
  FROM pg_stat_user_tables AS tab JOIN pg_statio_user_tables AS io USING (relid)
 WHERE tab.relid = CAST('lease_event' AS regclass)";

/// Who blocks is asked only for sessions that wait: it takes the lock manager's own locks.
const WAITS: &str = "SELECT waiting.pid, waiting.query, blocker.query,
       CAST(coalesce((SELECT extract(epoch FROM clock_timestamp() - min(lock.waitstart)) * 1000000
          FROM pg_locks AS lock WHERE lock.pid = waiting.pid AND NOT lock.granted), -1) AS bigint)
  FROM pg_stat_activity AS waiting
  LEFT JOIN LATERAL unnest(pg_blocking_pids(waiting.pid)) AS by (pid) ON true
  LEFT JOIN pg_stat_activity AS blocker ON blocker.pid = by.pid
 WHERE waiting.wait_event_type = 'Lock' AND waiting.application_name = 'leaseproof'";

pub(super) struct PostgresInstruments {
    pub(super) connection: PgConnection,
    pub(super) statements: Compilation,
    pub(super) roster: Arc<Roster>,
    /// Whether the store's sessions ask the server to tell of their waits.
    pub(super) tells: bool,
}

impl PostgresInstruments {
    async fn batch(&mut self, operation: &'static str, text: &str) -> Result<()> {
        let outcome = self.connection.batch(text).await;
        outcome.map_err(|error| CODES.classify(operation, error))
    }

    /// Hands in what this session itself has done. Left to itself the server waits for up to a minute, and
    /// the filling of a table would be counted among the claims on it.
    async fn flush(&mut self) -> Result<()> {
        match self.batch("read counters", "SELECT pg_stat_force_next_flush()").await {
            // Before version 15 sessions hand in their statistics sooner, and there is no such function.
            Err(error) if error.code.as_deref() != Some("42883") => Err(error),
            _ => Ok(()),
        }
    }

    /// The first column of every row, over the protocol that binds nothing.
    async fn column(&mut self, operation: &'static str, text: String) -> Result<Vec<String>> {
        let query = sqlx::raw_sql(sqlx::AssertSqlSafe(text));
        let rows = sqlx::Executor::fetch_all(&mut self.connection, query).await;
        let rows = rows.map_err(|error| {
            let code = error.as_database_error().and_then(|error| error.code());
            let code = code.map(|code| code.into_owned());
            CODES.classify(operation, WireError::from_sqlx(&error, code))
        })?;
        let cell = |row: &sqlx::postgres::PgRow| row.try_get_unchecked::<String, _>(0).ok();
        Ok(rows.iter().filter_map(cell).collect())
    }
}

#[async_trait]
impl Instruments for PostgresInstruments {
    async fn fill(&mut self, events: u64) -> Result<()> {
        let text = format!(
            "INSERT INTO lease_event (event_id, due_at, enqueued_at)
             SELECT 'event-' || lpad(CAST(n AS text), 8, '0'), n, 0 FROM generate_series(0, {events} - 1) AS n"
        );
        self.batch("fill", &text).await
    }

    async fn alter(&mut self, statement: &str) -> Result<()> {
        self.batch("alter", statement).await
    }

    async fn settle(&mut self) -> Result<()> {
        self.batch("settle", "VACUUM ANALYZE lease_event").await?;
        match self.batch("settle", "CHECKPOINT").await {
            // A user without the right has only a noisier log.
            Err(error) if !error.is_no_right() => Err(error),
            _ => Ok(()),
        }
    }

    async fn await_closed(&mut self, open: i64) -> Result<()> {
        let pids: Vec<String> = self.roster.all().iter().map(ToString::to_string).collect();
        let text = format!(
            "SELECT count(*) FROM pg_stat_activity WHERE pid IN ({}) AND application_name = 'leaseproof'",
            if pids.is_empty() { "NULL".to_owned() } else { pids.join(",") }
        );
        let mut interval = tokio::time::interval(LOOK_EVERY);
        for _ in 0..LOOKS {
            interval.tick().await;
            let row = one(&mut self.connection, "await sessions", &text, &[]).await?;
            if cells("await sessions", &row).int(0)? <= open {
                return Ok(());
            }
        }
        let message = "closed sessions are still there";
        Err(EngineError::new("postgres", "await sessions", ErrorKind::Unavailable, message))
    }

    async fn counters(&mut self) -> Result<Counters> {
        self.flush().await?;
        let row = one(&mut self.connection, "read counters", COUNTERS, &[]).await?;
        let cells = cells("read counters", &row);
        let value = |index| cells.int(index).map(|value| Observed::Value(value as f64));
        let told = lock_log::told(&self.roster.all());
        let wait = |read: fn(Told) -> f64| match told {
            _ if !self.tells => {
                Observed::hidden("the sessions do not ask the server to tell of waits")
            }
            Some(told) => Observed::Value(read(told)),
            None => Observed::hidden("nobody listens to what the server tells of its waits"),
        };
        Ok(Counters(BTreeMap::from([
            (Counter::LockWaits, wait(|told| told.waits as f64)),
            (Counter::LockWaitMs, wait(|told| told.total_ms)),
            (Counter::LockWaitMaxMs, wait(|told| told.longest_ms)),
            (Counter::Deadlocks, value(0)?),
            (Counter::LockRequests, Observed::hidden("row locks are in the rows, not counted")),
            (
                Counter::SkippedRows,
                Observed::hidden("no counter; seen in a probe by `EXPLAIN ANALYZE` only"),
            ),
            (Counter::WalBytes, value(1)?),
            (Counter::DeadRows, value(2)?),
            (Counter::RowsRead, value(3)?),
            (Counter::PagesTouched, value(4)?),
            (
                Counter::HistoryLength,
                Observed::hidden("old versions are in the table: `dead_rows`"),
            ),
            (Counter::VmSteps, Observed::hidden("not SQLite")),
        ])))
    }

    async fn waits(&mut self, _: Look) -> Result<Vec<Wait>> {
        let rows = self.connection.fetch(WAITS, &[]).await;
        let rows = rows.map_err(|error| CODES.classify("observe waits", error))?;
        let wait = |row| {
            let cells = cells("observe waits", row);
            let blocker = cells.bytes_or_null(2)?;
            let name = |text: &str| name_of(self.statements.iter(), text);
            let waited = cells.int(3)?;
            Ok(Wait {
                session: cells.int(0)?,
                waiter: name(&cells.text(1)?),
                blocker: blocker.map(|text| name(&String::from_utf8_lossy(&text))),
                // It is set just after the wait has begun.
                waited_ms: (waited >= 0).then_some(waited as f64 / 1000.0),
            })
        };
        rows.iter().map(wait).collect()
    }

    async fn locks_held(&mut self, _: SessionId) -> Result<Observed> {
        Ok(Observed::hidden("row locks are in the rows, not counted"))
    }

    async fn skips_of_one_claim(&mut self, limit: u32) -> Result<Observed> {
        let Some(statement) = self.statements.get("claim_batch_lock") else {
            return Ok(Observed::hidden("no claim steps over rows"));
        };
        let text = with_literals(statement, "'\\x00'");
        let text = text.replace("LIMIT 10", &format!("LIMIT {limit}"));
        self.batch("probe skips", "BEGIN").await?;
        let explain = format!("EXPLAIN (ANALYZE, TIMING OFF, FORMAT JSON) {text}");
        let explained = self.column("probe skips", explain).await;
        self.batch("probe skips", "ROLLBACK").await?;
        let plan: Json = serde_json::from_str(&explained?.concat()).unwrap_or_default();
        Ok(match skipped(&plan[0]["Plan"]) {
            Some(rows) => Observed::Value(rows),
            None => Observed::hidden("the plan has no `LockRows`"),
        })
    }

    async fn plans(&mut self) -> Result<Vec<StatementPlan>> {
        let mut plans = Vec::new();
        for name in PLANNED {
            let Some(statement) = self.statements.get(name).cloned() else { continue };
            // With values, as every version can: the generic plan is to be had since 16 only, differs
            // where it does not know the limit, and would make versions seem to differ.
            let text = with_literals(&statement, "'\\x00'");
            let lines = self.column("explain", format!("EXPLAIN (COSTS OFF) {text}")).await?;
            let node = |line: &&String| line.contains("->") || !line.starts_with(' ');
            let fingerprint: Vec<_> = lines
                .iter()
                .filter(node)
                .map(|line| line.trim().trim_start_matches("->").trim())
                .collect();
            plans.push(StatementPlan {
                statement: name.to_owned(),
                sql: statement.text.trim().to_owned(),
                fingerprint: fingerprint.join(" > "),
                plan: lines.join("\n"),
            });
        }
        Ok(plans)
    }

    async fn audit(&mut self) -> Result<Audit> {
        let text = Audit::QUERY.replace("{int}", "bigint");
        let row = one(&mut self.connection, "audit", &text, &[]).await?;
        let cells = cells("audit", &row);
        Ok(Audit {
            events: cells.int(0)?,
            attempts: cells.int(1)?,
            held: cells.int(2)?,
            done: cells.int(3)?,
        })
    }

    async fn effects(&mut self) -> Result<Effects> {
        let text = Effects::QUERY.replace("{int}", "bigint");
        let row = one(&mut self.connection, "audit", &text, &[]).await?;
        let cells = cells("audit", &row);
        Ok(Effects { applied: cells.int(0)?, events: cells.int(1)? })
    }

    async fn drop_claim_index(&mut self) -> Result<()> {
        self.batch("drop the index", "DROP INDEX lease_event_claim").await
    }

    fn with_housekeeping(&self) -> &'static [Counter] {
        &[Counter::WalBytes]
    }

    async fn close(self: Box<Self>) {
        Box::new(self.connection).close().await;
    }
}

/// Rows that went into `LockRows` less those that came out.
fn skipped(node: &Json) -> Option<f64> {
    let children = node["Plans"].as_array().map(Vec::as_slice).unwrap_or_default();
    if node["Node Type"] == "LockRows" {
        let went_in = children.first()?["Actual Rows"].as_f64()?;
        return Some(went_in - node["Actual Rows"].as_f64()?);
    }
    children.iter().find_map(skipped)
}
