//! A SQLite connection whose waits and work are observed, and who observes them.

use async_trait::async_trait;
use sqlx::sqlite::SqliteConnection;

use super::instruments::Works;
use super::{CODES, Waits};
use crate::busy::{self, Installed};
use crate::driver::{Row, Value, Wire, WireError};
use crate::error::{EngineError, ErrorKind};
use crate::session::Compilation;
use crate::store::{Observer, Result, SessionId, Waiting};
use crate::vm_steps;

/// A connection whose waits are observed.
pub(super) struct ObservedWire {
    pub(super) connection: Box<SqliteConnection>,
    pub(super) installed: Installed,
    pub(super) works: Works,
}

#[async_trait]
impl Wire for ObservedWire {
    async fn batch(&mut self, text: &str) -> std::result::Result<(), WireError> {
        let outcome = self.connection.batch(text).await;
        self.installed.busy().settle();
        outcome
    }

    async fn execute(
        &mut self,
        text: &str,
        values: &[Value],
    ) -> std::result::Result<u64, WireError> {
        let outcome = self.connection.execute(text, values).await;
        self.installed.busy().settle();
        outcome
    }

    async fn fetch(
        &mut self,
        text: &str,
        values: &[Value],
    ) -> std::result::Result<Vec<Row>, WireError> {
        let outcome = self.connection.fetch(text, values).await;
        self.installed.busy().settle();
        outcome
    }

    async fn close(mut self: Box<Self>) {
        // A connection whose worker is gone has lost its account; nothing depends on it but a measurement.
        if let Ok(work) = vm_steps::work(&mut self.connection).await {
            self.works.lock().expect("nobody panics while holding the works").add(work);
        }
        self.connection.close().await;
        busy::reclaim(self.installed);
    }
}

/// Tells from the busy handlers of a store's sessions which of them wait.
pub(super) struct SqliteObserver {
    pub(super) connection: SqliteConnection,
    pub(super) waits: Waits,
    pub(super) statements: Compilation,
}

#[async_trait]
impl Observer for SqliteObserver {
    async fn waiting(&mut self, session: SessionId) -> Result<Waiting> {
        let waits = self.waits.lock().expect("nobody panics while holding the waits");
        Ok(match waits.get(&session) {
            Some(busy) if busy.is_waiting() => Waiting::Waiting,
            _ => Waiting::NotWaiting,
        })
    }

    async fn terminate(&mut self, _session: SessionId) -> Result<()> {
        let message = "an embedded connection cannot be ended from outside";
        Err(EngineError::new("sqlite", "end a session", ErrorKind::Fatal, message))
    }

    async fn mislead_planner(&mut self) -> Result<()> {
        let text = self.statements.get("mislead_planner").map(|statement| statement.text.clone());
        let outcome = self.connection.batch(&text.unwrap_or_default()).await;
        outcome.map_err(|error| CODES.classify("mislead the planner", error))
    }
}
