//! A session's connections as a pooler in transaction mode would hand them out.
//!
//! Such a pooler lends a server connection for one transaction, or for one statement outside of any,
//! and may lend another one for the next. What a statement leaves on its connection (a lock of the
//! session, a setting, a prepared name) is then somebody else's. Here the next one always is another.

use async_trait::async_trait;

use crate::driver::{Row, Value, Wire, WireError};
use crate::store::SessionOptions;

/// How many connections take turns.
pub(crate) const CONNECTIONS: usize = 2;

/// How many prepared statements a connection keeps by name: none behind a pooler, and otherwise what
/// the driver keeps by default.
pub(crate) fn statement_cache(options: &SessionOptions) -> usize {
    const DRIVER_DEFAULT: usize = 100;
    if options.pooled { 0 } else { DRIVER_DEFAULT }
}

/// Connections that take turns whenever no transaction is open.
pub(crate) struct PooledWire {
    connections: [Box<dyn Wire>; CONNECTIONS],
    lent: usize,
}

impl PooledWire {
    pub(crate) fn new(connections: [Box<dyn Wire>; CONNECTIONS]) -> Self {
        Self { connections, lent: 0 }
    }
}

#[async_trait]
impl Wire for PooledWire {
    async fn batch(&mut self, text: &str) -> Result<(), WireError> {
        self.connections[self.lent].batch(text).await
    }

    async fn execute(&mut self, text: &str, values: &[Value]) -> Result<u64, WireError> {
        self.connections[self.lent].execute(text, values).await
    }

    async fn fetch(&mut self, text: &str, values: &[Value]) -> Result<Vec<Row>, WireError> {
        self.connections[self.lent].fetch(text, values).await
    }

    fn unit_ended(&mut self) {
        self.lent = (self.lent + 1) % CONNECTIONS;
    }

    async fn close(self: Box<Self>) {
        for connection in self.connections {
            connection.close().await;
        }
    }
}
