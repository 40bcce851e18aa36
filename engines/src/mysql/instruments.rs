//! Where MySQL keeps its counters, and how it shows waits and plans.

use crate::instruments::{Counter, Look, Wait, name_of};
use crate::mysql_protocol::Link;
use crate::mysql_protocol::instruments::{Place, explain_json, fetch};
use crate::session::Compilation;
use crate::store::Result;

pub(super) const METRICS: &str =
    "SELECT NAME, COUNT FROM information_schema.INNODB_METRICS WHERE STATUS = 'enabled'";

pub(super) const PLACES: &[(Counter, Place)] = &[
    (Counter::LockWaits, Place::Status("Innodb_row_lock_waits")),
    (Counter::LockWaitMs, Place::Status("Innodb_row_lock_time")),
    (Counter::LockWaitMaxMs, Place::Status("Innodb_row_lock_time_max")),
    (Counter::Deadlocks, Place::Metric("lock_deadlocks")),
    (Counter::LockRequests, Place::Metric("lock_rec_lock_requests")),
    (
        Counter::SkippedRows,
        Place::Hidden("a row that is stepped over makes no lock, and nothing else counts it"),
    ),
    (Counter::RowsRead, Place::Status("Innodb_rows_read")),
    (Counter::PagesTouched, Place::Status("Innodb_buffer_pool_read_requests")),
    (Counter::WalBytes, Place::Status("Innodb_redo_log_current_lsn")),
    (Counter::DeadRows, Place::Hidden("old versions are in the undo log: `history_length`")),
    (Counter::HistoryLength, Place::Metric("trx_rseg_history_len")),
    (Counter::VmSteps, Place::Hidden("not SQLite")),
];

/// Reading `data_locks` while others are timed can freeze InnoDB, so that then only those who wait
/// are asked for, and not whom they wait for.
pub(super) async fn waits(
    link: &mut Link,
    statements: &Compilation,
    look: Look,
) -> Result<Vec<Wait>> {
    let text = match look {
        Look::Timed => {
            "SELECT trx_mysql_thread_id, trx_query, NULL FROM information_schema.INNODB_TRX
              WHERE trx_state = 'LOCK WAIT'"
        }
        Look::Probe => {
            "SELECT waiter.PROCESSLIST_ID, waiter.PROCESSLIST_INFO,
                    (SELECT last.SQL_TEXT FROM performance_schema.events_statements_current AS last
                      WHERE last.THREAD_ID = waits.BLOCKING_THREAD_ID LIMIT 1)
               FROM performance_schema.data_lock_waits AS waits
               JOIN performance_schema.threads AS waiter
                 ON waiter.THREAD_ID = waits.REQUESTING_THREAD_ID"
        }
    };
    let rows = fetch(link, "observe waits", text).await?;
    let mut waits = Vec::new();
    for row in &rows {
        let cells = link.cells("observe waits", row);
        let name = |text: Option<Vec<u8>>| {
            text.map(|text| name_of(statements.iter(), &String::from_utf8_lossy(&text)))
        };
        waits.push(Wait {
            session: cells.int(0)?,
            waiter: name(cells.bytes_or_null(1)?).unwrap_or_else(|| "idle".to_owned()),
            blocker: name(cells.bytes_or_null(2)?),
            // The server keeps the beginning of a wait in whole seconds.
            waited_ms: None,
        });
    }
    Ok(waits)
}

/// The plan as a tree, and its node types and indexes.
pub(super) async fn explain(link: &mut Link, text: &str) -> Result<(String, String)> {
    let rows = fetch(link, "explain", &format!("EXPLAIN FORMAT=TREE {text}")).await?;
    let plan = match rows.first() {
        Some(row) => link.cells("explain", row).text(0)?,
        None => String::new(),
    };
    if plan.contains("not executable") {
        // An update has no tree.
        return explain_json(link, text).await;
    }
    let node = |line: &str| {
        let line = line.trim().trim_start_matches("->").trim();
        let end = line.find("  (cost").unwrap_or(line.len());
        // Conditions hold literals; the access and the index are before them.
        let end = line[..end].find(['(', ':']).map_or(end, |at| at.min(end));
        line[..end].trim().to_owned()
    };
    let nodes: Vec<String> = plan.lines().map(node).filter(|node| !node.is_empty()).collect();
    Ok((plan.trim().to_owned(), nodes.join(" > ")))
}
