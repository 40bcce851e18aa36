//! What MySQL and MariaDB tell of their costs: InnoDB's counters, by the places each keeps them in.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use serde_json::Value as Json;

use super::{Flavour, Link};
use crate::driver::{Row, Value, Wire};
use crate::error::{EngineError, ErrorKind};
use crate::instruments::{
    Audit, Counter, Counters, Effects, Instruments, Look, Observed, PLANNED, StatementPlan, Wait,
    with_literals,
};
use crate::sandbox::Roster;
use crate::session::Compilation;
use crate::store::{Result, SessionId};

/// How often, and how many times, the server is asked whether closed sessions are gone: 5 s in all.
const LOOK_EVERY: Duration = Duration::from_millis(2);
const LOOKS: usize = 2500;

/// `INNODB_TRX` and what belongs to it are answered from a copy that is not renewed before nobody has
/// read it for 100 ms.
const COPY_RENEWED: Duration = Duration::from_millis(110);

const STATUS: &str =
    "SHOW GLOBAL STATUS WHERE Variable_name LIKE 'Innodb%' OR Variable_name = 'Rows_read'";

/// Where a counter is kept.
pub(crate) enum Place {
    /// A global status variable.
    Status(&'static str),
    /// A row of `INNODB_METRICS`.
    Metric(&'static str),
    /// One row of `INNODB_METRICS` less a status variable.
    MetricLessStatus(&'static str, &'static str),
    /// Nowhere; why.
    Hidden(&'static str),
}

pub(crate) struct InnodbInstruments {
    pub(super) flavour: &'static dyn Flavour,
    pub(super) link: Link,
    pub(super) statements: Compilation,
    pub(super) roster: Arc<Roster>,
}

impl InnodbInstruments {
    /// Turns on the counters that are off by default; they are the server's, so they stay on. Where the user
    /// may not, those that are off are not observable.
    pub(super) async fn enable(&mut self) -> Result<()> {
        let text = "SET GLOBAL innodb_monitor_enable = 'module_lock'";
        match self.link.batch("open instruments", text).await {
            Err(error) if !error.is_no_right() => Err(error),
            _ => Ok(()),
        }
    }

    /// The counters of InnoDB, of which a user without the right sees none.
    async fn metrics(&mut self) -> Result<BTreeMap<String, f64>> {
        match self.pairs(self.flavour.metrics_query()).await {
            Err(error) if error.is_no_right() => Ok(BTreeMap::new()),
            metrics => metrics,
        }
    }

    async fn pairs(&mut self, text: &str) -> Result<BTreeMap<String, f64>> {
        let rows = fetch(&mut self.link, "read counters", text).await?;
        let pair = |row: &Row| {
            let cells = self.link.cells("read counters", row);
            let value = match row.get(1) {
                Some(Value::Int(value)) => *value as f64,
                _ => cells.text(1).ok()?.parse().ok()?,
            };
            Some((cells.text(0).ok()?.to_lowercase(), value))
        };
        Ok(rows.iter().filter_map(pair).collect())
    }
}

/// Every row of a query.
pub(crate) async fn fetch(
    link: &mut Link,
    operation: &'static str,
    text: &str,
) -> Result<Vec<Row>> {
    let rows = link.connection.fetch(text, &[]).await;
    rows.map_err(|error| link.codes.classify(operation, error))
}

#[async_trait]
impl Instruments for InnodbInstruments {
    async fn fill(&mut self, events: u64) -> Result<()> {
        // Digits in place of a recursion, whose depth each of the two limits in a way of its own.
        let digit = "(SELECT 0 AS n UNION ALL SELECT 1 UNION ALL SELECT 2 UNION ALL SELECT 3
            UNION ALL SELECT 4 UNION ALL SELECT 5 UNION ALL SELECT 6 UNION ALL SELECT 7
            UNION ALL SELECT 8 UNION ALL SELECT 9)";
        let places = events.saturating_sub(1).max(1).ilog10() + 1;
        let number: Vec<String> =
            (0..places).map(|place| format!("d{place}.n * {}", 10_u64.pow(place))).collect();
        let digits: Vec<String> = (0..places).map(|place| format!("{digit} AS d{place}")).collect();
        let text = format!(
            "INSERT INTO lease_event (event_id, due_at, enqueued_at)
             SELECT CONCAT('event-', LPAD(number, 8, '0')), number, 0
             FROM (SELECT {} AS number FROM {}) AS numbers WHERE number < {events} ORDER BY number",
            number.join(" + "),
            digits.join(" CROSS JOIN ")
        );
        self.link.batch("fill", &text).await
    }

    async fn alter(&mut self, statement: &str) -> Result<()> {
        self.link.batch("alter", statement).await
    }

    async fn settle(&mut self) -> Result<()> {
        self.link.batch("settle", "ANALYZE TABLE lease_event").await
    }

    async fn await_closed(&mut self, open: i64) -> Result<()> {
        let ids: Vec<String> = self.roster.all().iter().map(ToString::to_string).collect();
        let text = format!(
            "SELECT COUNT(*) FROM information_schema.PROCESSLIST WHERE ID IN ({})",
            if ids.is_empty() { "NULL".to_owned() } else { ids.join(",") }
        );
        let mut interval = tokio::time::interval(LOOK_EVERY);
        for _ in 0..LOOKS {
            interval.tick().await;
            let row = self.link.one("await sessions", &text, &[]).await?;
            if self.link.cells("await sessions", &row).int(0)? <= open {
                return Ok(());
            }
        }
        let message = "closed sessions are still there";
        let engine = self.link.codes.engine;
        Err(EngineError::new(engine, "await sessions", ErrorKind::Unavailable, message))
    }

    async fn counters(&mut self) -> Result<Counters> {
        let status = self.pairs(STATUS).await?;
        let metrics = self.metrics().await?;
        let get = |map: &BTreeMap<String, f64>, name: &str| match map.get(&name.to_lowercase()) {
            Some(value) => Observed::Value(*value),
            None => Observed::NotObservable(
                format!("this server has no `{name}`, or does not show it to this user").into(),
            ),
        };
        let read = |place: &Place| match place {
            Place::Status(name) => get(&status, name),
            Place::Metric(name) => get(&metrics, name),
            Place::MetricLessStatus(metric, less) => {
                match (get(&metrics, metric), get(&status, less)) {
                    (Observed::Value(metric), Observed::Value(less)) => {
                        Observed::Value(metric - less)
                    }
                    (hidden @ Observed::NotObservable(_), _) | (_, hidden) => hidden,
                }
            }
            Place::Hidden(reason) => Observed::hidden(reason),
        };
        Ok(Counters(
            self.flavour.places().iter().map(|(counter, place)| (*counter, read(place))).collect(),
        ))
    }

    fn shortest_interval(&self) -> Duration {
        COPY_RENEWED
    }

    async fn waits(&mut self, look: Look) -> Result<Vec<Wait>> {
        self.flavour.waits(&mut self.link, &self.statements, look).await
    }

    async fn locks_held(&mut self, session: SessionId) -> Result<Observed> {
        let mut interval = tokio::time::interval(COPY_RENEWED);
        interval.tick().await;
        interval.tick().await;
        let text = "SELECT CAST(trx_rows_locked AS SIGNED) FROM information_schema.INNODB_TRX WHERE trx_mysql_thread_id = ?";
        let row = match self.link.one("count locks", text, &[Value::Int(session)]).await {
            Err(error) if error.is_no_right() => {
                return Ok(Observed::hidden("this user may not see the locks of sessions"));
            }
            row => row?,
        };
        if row.is_empty() {
            return Ok(Observed::hidden("the session has no open transaction"));
        }
        Ok(Observed::Value(self.link.cells("count locks", &row).int(0)? as f64))
    }

    async fn skips_of_one_claim(&mut self, limit: u32) -> Result<Observed> {
        let before = self.counters().await?;
        let Some(statement) = self.statements.get("claim_batch_lock") else {
            return Ok(Observed::hidden("no claim steps over rows"));
        };
        let text = with_literals(statement, "'t'").replace("LIMIT 10", &format!("LIMIT {limit}"));
        self.link.batch("probe skips", "START TRANSACTION").await?;
        let claimed = fetch(&mut self.link, "probe skips", &text).await;
        self.link.batch("probe skips", "ROLLBACK").await?;
        claimed?;
        let change = self.counters().await?.since(&before);
        let skipped = change.0.get(&Counter::SkippedRows).cloned();
        Ok(skipped.unwrap_or(Observed::hidden("not counted")))
    }

    async fn plans(&mut self) -> Result<Vec<StatementPlan>> {
        let mut plans = Vec::new();
        for name in PLANNED {
            let Some(statement) = self.statements.get(name).cloned() else { continue };
            let text = with_literals(&statement, "'t'");
            let (plan, fingerprint) = self.flavour.explain(&mut self.link, &text).await?;
            plans.push(StatementPlan {
                statement: name.to_owned(),
                sql: statement.text.trim().to_owned(),
                plan,
                fingerprint,
            });
        }
        Ok(plans)
    }

    async fn audit(&mut self) -> Result<Audit> {
        let text = Audit::QUERY.replace("{int}", "SIGNED");
        let row = self.link.one("audit", &text, &[]).await?;
        let cells = self.link.cells("audit", &row);
        Ok(Audit {
            events: cells.int(0)?,
            attempts: cells.int(1)?,
            held: cells.int(2)?,
            done: cells.int(3)?,
        })
    }

    async fn effects(&mut self) -> Result<Effects> {
        let text = Effects::QUERY.replace("{int}", "SIGNED");
        let row = self.link.one("audit", &text, &[]).await?;
        let cells = self.link.cells("audit", &row);
        Ok(Effects { applied: cells.int(0)?, events: cells.int(1)? })
    }

    async fn drop_claim_index(&mut self) -> Result<()> {
        self.link.batch("drop the index", "DROP INDEX lease_event_claim ON lease_event").await
    }

    fn with_housekeeping(&self) -> &'static [Counter] {
        // Until purge has come, a claim locks the index entries of earlier leases on its way.
        &[Counter::LockRequests, Counter::PagesTouched, Counter::WalBytes]
    }

    async fn close(self: Box<Self>) {
        self.link.close().await;
    }
}

/// The plan as JSON, and its accesses and indexes in order.
pub(crate) async fn explain_json(link: &mut Link, text: &str) -> Result<(String, String)> {
    let rows = fetch(link, "explain", &format!("EXPLAIN FORMAT=JSON {text}")).await?;
    let plan = match rows.first() {
        Some(row) => link.cells("explain", row).text(0)?,
        None => String::new(),
    };
    let mut nodes = Vec::new();
    walk(&serde_json::from_str(&plan).unwrap_or_default(), &mut nodes);
    Ok((plan, nodes.join(" > ")))
}

fn walk(node: &Json, nodes: &mut Vec<String>) {
    match node {
        Json::Object(fields) => {
            for (name, value) in fields {
                match name.as_str() {
                    "filesort" | "temporary_table" => nodes.push(name.clone()),
                    "access_type" => {
                        let text = |name: &str| fields.get(name).and_then(Json::as_str);
                        let access = value.as_str().unwrap_or_default();
                        let index = text("key").map(|key| format!(" by {key}"));
                        let table = text("table_name").unwrap_or_default();
                        nodes.push(format!("{access} {table}{}", index.unwrap_or_default()));
                    }
                    _ => {}
                }
                walk(value, nodes);
            }
        }
        Json::Array(items) => items.iter().for_each(|item| walk(item, nodes)),
        _ => {}
    }
}
