//! What SQLite tells of its costs: there is no server, so each connection accounts for itself.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use sqlx::sqlite::SqliteConnection;

use super::{CODES, Waits};
use crate::busy::Waited;
use crate::driver::{Cells, Row, Value, Wire};
use crate::instruments::{
    Audit, Counter, Counters, Effects, Instruments, Look, Observed, PLANNED, StatementPlan, Wait,
    with_literals,
};
use crate::session::Compilation;
use crate::store::{Result, SessionId};
use crate::vm_steps::Work;

/// What precedes each page in the write-ahead log.
const FRAME_HEADER_BYTES: u64 = 24;

/// The work of the sessions that were closed.
pub(super) type Works = Arc<Mutex<Work>>;

pub(super) struct SqliteInstruments {
    pub(super) connection: SqliteConnection,
    pub(super) statements: Compilation,
    pub(super) waits: Waits,
    pub(super) works: Works,
}

impl SqliteInstruments {
    async fn batch(&mut self, operation: &'static str, text: &str) -> Result<()> {
        let outcome = self.connection.batch(text).await;
        outcome.map_err(|error| CODES.classify(operation, error))
    }

    async fn fetch(&mut self, operation: &'static str, text: &str) -> Result<Vec<Row>> {
        let rows = self.connection.fetch(text, &[]).await;
        rows.map_err(|error| CODES.classify(operation, error))
    }

    fn waited(&self) -> Waited {
        let waits = self.waits.lock().expect("nobody panics while holding the waits");
        waits.values().fold(Waited::default(), |sum, busy| {
            let one = busy.waited();
            Waited {
                waits: sum.waits + one.waits,
                total_ns: sum.total_ns + one.total_ns,
                longest_ns: sum.longest_ns.max(one.longest_ns),
            }
        })
    }
}

#[async_trait]
impl Instruments for SqliteInstruments {
    async fn fill(&mut self, events: u64) -> Result<()> {
        let text = format!(
            "INSERT INTO lease_event (event_id, due_at, enqueued_at)
             WITH RECURSIVE series (n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM series WHERE n < {events} - 1)
             SELECT printf('event-%08d', n), n, 0 FROM series"
        );
        self.batch("fill", &text).await
    }

    async fn alter(&mut self, statement: &str) -> Result<()> {
        self.batch("alter", statement).await
    }

    async fn settle(&mut self) -> Result<()> {
        self.batch("settle", "ANALYZE; PRAGMA wal_checkpoint(TRUNCATE);").await
    }

    async fn await_closed(&mut self, _: i64) -> Result<()> {
        // A session has put down its account before its `close` returns.
        Ok(())
    }

    async fn counters(&mut self) -> Result<Counters> {
        let rows = self.fetch("read counters", "PRAGMA page_size").await?;
        let page_bytes = match rows.first().and_then(|row| row.first()) {
            Some(Value::Int(bytes)) => u64::try_from(*bytes).unwrap_or(0),
            _ => 0,
        };
        let waited = self.waited();
        let work = *self.works.lock().expect("nobody panics while holding the works");
        let ms = |ns: u64| Observed::Value(ns as f64 / 1e6);
        let count = |count: u64| Observed::Value(count as f64);
        const NO_ROW_LOCKS: Observed = Observed::hidden("the file is locked, not its rows");
        Ok(Counters(BTreeMap::from([
            (Counter::LockWaits, count(waited.waits)),
            (Counter::LockWaitMs, ms(waited.total_ns)),
            (Counter::LockWaitMaxMs, ms(waited.longest_ns)),
            (
                Counter::Deadlocks,
                Observed::hidden("one writer at a time: what would deadlock is refused as busy"),
            ),
            (Counter::LockRequests, NO_ROW_LOCKS),
            (Counter::SkippedRows, NO_ROW_LOCKS),
            (Counter::RowsRead, Observed::hidden("not counted; `vm_steps` shows the work")),
            (Counter::PagesTouched, count(work.pages)),
            (Counter::WalBytes, count(work.written_pages * (page_bytes + FRAME_HEADER_BYTES))),
            (Counter::DeadRows, Observed::hidden("a row is changed in place")),
            (
                Counter::HistoryLength,
                Observed::hidden("old pages are in the log until a checkpoint"),
            ),
            (Counter::VmSteps, count(work.steps)),
        ])))
    }

    async fn waits(&mut self, _: Look) -> Result<Vec<Wait>> {
        let waits = self.waits.lock().expect("nobody panics while holding the waits");
        let waiting = waits.iter().filter(|(_, busy)| busy.is_waiting());
        Ok(waiting
            .map(|(session, busy)| Wait {
                session: *session,
                waiter: "writer".to_owned(),
                // Whoever it is, it writes: readers block nobody in a write-ahead log.
                blocker: Some("writer".to_owned()),
                waited_ms: Some(busy.current_ns() as f64 / 1e6),
            })
            .collect())
    }

    fn look_after_ms(&self, ms: u64) -> u64 {
        crate::busy::look_after_ms(ms)
    }

    async fn locks_held(&mut self, _: SessionId) -> Result<Observed> {
        Ok(Observed::hidden("the file is locked, not its rows"))
    }

    async fn skips_of_one_claim(&mut self, _: u32) -> Result<Observed> {
        Ok(Observed::hidden("the file is locked, not its rows"))
    }

    async fn plans(&mut self) -> Result<Vec<StatementPlan>> {
        let mut plans = Vec::new();
        for name in PLANNED {
            let Some(statement) = self.statements.get(name).cloned() else { continue };
            let text = with_literals(&statement, "x'00'");
            let rows = self.fetch("explain", &format!("EXPLAIN QUERY PLAN {text}")).await?;
            let detail = |row: &Row| match row.get(3) {
                Some(Value::Text(detail)) => Some(detail.clone()),
                _ => None,
            };
            let lines: Vec<String> = rows.iter().filter_map(detail).collect();
            plans.push(StatementPlan {
                statement: name.to_owned(),
                sql: statement.text.trim().to_owned(),
                plan: lines.join("\n"),
                // Its plans hold no costs.
                fingerprint: lines.join(" > "),
            });
        }
        Ok(plans)
    }

    async fn audit(&mut self) -> Result<Audit> {
        let rows = self.fetch("audit", &Audit::QUERY.replace("{int}", "INTEGER")).await?;
        let row = rows.into_iter().next().unwrap_or_default();
        let cells = Cells { engine: CODES.engine, operation: "audit", row: &row };
        Ok(Audit {
            events: cells.int(0)?,
            attempts: cells.int(1)?,
            held: cells.int(2)?,
            done: cells.int(3)?,
        })
    }

    async fn effects(&mut self) -> Result<Effects> {
        let rows = self.fetch("audit", &Effects::QUERY.replace("{int}", "INTEGER")).await?;
        let row = rows.into_iter().next().unwrap_or_default();
        let cells = Cells { engine: CODES.engine, operation: "audit", row: &row };
        Ok(Effects { applied: cells.int(0)?, events: cells.int(1)? })
    }

    async fn drop_claim_index(&mut self) -> Result<()> {
        self.batch("drop the index", "DROP INDEX lease_event_claim").await
    }

    fn with_housekeeping(&self) -> &'static [Counter] {
        &[]
    }

    async fn close(self: Box<Self>) {
        Box::new(self.connection).close().await;
    }
}
