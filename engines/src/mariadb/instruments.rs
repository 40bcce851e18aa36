//! Where MariaDB keeps its counters, and how it shows waits and plans.

use crate::instruments::{Counter, Look, Wait, name_of};
use crate::mysql_protocol::Link;
use crate::mysql_protocol::instruments::{Place, explain_json, fetch};
use crate::session::Compilation;
use crate::store::Result;

pub(super) const METRICS: &str =
    "SELECT NAME, COUNT FROM information_schema.INNODB_METRICS WHERE ENABLED = 1";

/// `lock_rec_lock_waits` is one too many for what it says: MariaDB makes, and takes back, a waiting
/// lock for every row that a claim steps over.
pub(super) const PLACES: &[(Counter, Place)] = &[
    (Counter::LockWaits, Place::Status("Innodb_row_lock_waits")),
    (Counter::LockWaitMs, Place::Status("Innodb_row_lock_time")),
    (Counter::LockWaitMaxMs, Place::Status("Innodb_row_lock_time_max")),
    (Counter::Deadlocks, Place::Status("Innodb_deadlocks")),
    (Counter::LockRequests, Place::Metric("lock_rec_lock_requests")),
    (Counter::SkippedRows, Place::MetricLessStatus("lock_rec_lock_waits", "Innodb_row_lock_waits")),
    (Counter::RowsRead, Place::Status("Rows_read")),
    (Counter::PagesTouched, Place::Status("Innodb_buffer_pool_read_requests")),
    (Counter::WalBytes, Place::Status("Innodb_lsn_current")),
    (Counter::DeadRows, Place::Hidden("old versions are in the undo log: `history_length`")),
    (Counter::HistoryLength, Place::Metric("trx_rseg_history_len")),
    (Counter::VmSteps, Place::Hidden("not SQLite")),
];

pub(super) async fn waits(
    link: &mut Link,
    statements: &Compilation,
    look: Look,
) -> Result<Vec<Wait>> {
    if look == Look::Probe {
        let row = link.one("observe waits", "SHOW ENGINE INNODB STATUS", &[]).await?;
        let status = link.cells("observe waits", &row).text(2)?;
        return Ok(waits_in(&status, statements));
    }
    let text = "SELECT waiter.trx_mysql_thread_id, waiter.trx_query, blocker.trx_query
          FROM information_schema.INNODB_LOCK_WAITS AS waits
          JOIN information_schema.INNODB_TRX AS waiter ON waiter.trx_id = waits.requesting_trx_id
          LEFT JOIN information_schema.INNODB_TRX AS blocker ON blocker.trx_id = waits.blocking_trx_id";
    let rows = fetch(link, "observe waits", text).await?;
    let mut waits = Vec::new();
    for row in &rows {
        let cells = link.cells("observe waits", row);
        let name = |text: Option<Vec<u8>>| match text {
            Some(text) => name_of(statements.iter(), &String::from_utf8_lossy(&text)),
            // Between two statements a transaction shows no query.
            None => "idle unit".to_owned(),
        };
        waits.push(Wait {
            session: cells.int(0)?,
            waiter: name(cells.bytes_or_null(1)?),
            blocker: Some(name(cells.bytes_or_null(2)?)),
            // The server keeps the beginning of a wait in whole seconds.
            waited_ms: None,
        });
    }
    Ok(waits)
}

/// The waits in the monitor's text, which is current, unlike the tables.
fn waits_in(status: &str, statements: &Compilation) -> Vec<Wait> {
    let waiting = status.split("---TRANSACTION ").filter(|text| text.contains("LOCK WAIT"));
    let wait = |text: &str| {
        let (_, rest) = text.split_once("MariaDB thread id ")?;
        let session = rest.split_once(',')?.0.parse().ok()?;
        // The statement is on the lines between that of the thread and that of the wait.
        let (head, told) = rest.split_once("------- TRX HAS BEEN WAITING ")?;
        let running = head.split_once('\n').map_or("", |(_, running)| running);
        let (number, unit) = told.split_once(' ')?;
        let number: f64 = number.parse().ok()?;
        let waited_ms = unit.starts_with("us").then_some(number / 1000.0);
        let waiter = name_of(statements.iter(), running);
        Some(Wait { session, waiter, blocker: None, waited_ms })
    };
    waiting.filter_map(wait).collect()
}

/// The plan as JSON, and its accesses and indexes in order.
pub(super) async fn explain(link: &mut Link, text: &str) -> Result<(String, String)> {
    explain_json(link, text).await
}
