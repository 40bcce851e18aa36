//! MariaDB.

use async_trait::async_trait;

use crate::capability::Capability;
use crate::driver::Codes;
use crate::engine::{DatabaseClock, Dialect, Engine, Identity, Setup};
use crate::innodb;
use crate::instruments::{Counter, Look, Wait};
use crate::lease::Strategy;
use crate::mysql_protocol::instruments::Place;
use crate::mysql_protocol::{self, Flavour, Link};
use crate::servers::{Endpoint, NativeSpec, Recipe, ServerSpec};
use crate::session::Compilation;
use crate::statement::Statements;
use crate::store::{Isolation, Result, SessionId, Store, StoreOptions, Waiting};

mod instruments;

/// The engine's one instance.
pub static ENGINE: MariaDb = MariaDb;

/// MariaDB 10.6 and later; not a MySQL with another name.
pub struct MariaDb;

/// Error numbers by class, from the server error reference.
static CODES: Codes = Codes {
    engine: "mariadb",
    retryable: &["1020", "1205", "1213"],
    fenced: &["1290", "1792", "1836"],
    unavailable: &[
        "1040", "1053", "1080", "1152", "1158", "1159", "1160", "1161", "1317", "1927", "1969",
    ],
    duplicate: &["1062"],
    aborts_on_any_error: false,
};

/// The isolation levels beside the default, and what else changes what a claim sees.
const SETUPS: &[Setup] = &[
    Setup::isolated("read-committed", Isolation::ReadCommitted),
    Setup::isolated("serializable", Isolation::Serializable),
    Setup {
        name: "snapshot-isolation-off",
        session: "SET SESSION innodb_snapshot_isolation = OFF;",
        ..Setup::isolated("", Isolation::RepeatableRead)
    },
    Setup {
        name: "snapshot-isolation-on",
        session: "SET SESSION innodb_snapshot_isolation = ON;",
        ..Setup::isolated("", Isolation::RepeatableRead)
    },
];

/// How its server is provided.
static SERVER: ServerSpec = ServerSpec {
    url_variable: "LEASEPROOF_MARIADB_URL",
    schemes: &["mariadb", "mysql"],
    image: "mariadb",
    port: 3306,
    user: "root",
    database: "leaseproof",
    environment: &[("MARIADB_ROOT_PASSWORD", "{password}"), ("MARIADB_DATABASE", "{database}")],
    recipe: Recipe {
        suites: &[("10.5", "bullseye"), ("10.11", "bookworm"), ("11.8", "trixie")],
        script: include_str!("../images/mariadb/recipe.sh"),
        entrypoint: include_str!("../images/mariadb/entrypoint.sh"),
    },
    native: NativeSpec {
        places: &[
            "/usr/sbin",
            "/usr/libexec",
            "/usr/local/mysql/bin",
            "/opt/homebrew/opt/mariadb*/bin",
            "/usr/local/opt/mariadb*/bin",
        ],
        server: &["mariadbd", "mysqld"],
        answers: "mariadb",
        initializer: &["mariadb-install-db", "mysql_install_db"],
        initialize: &[
            "--no-defaults",
            "--basedir={prefix}",
            "--datadir={data}",
            "--auth-root-authentication-method=normal",
            "--skip-test-db",
            "--force",
        ],
        serve: &[
            "--no-defaults",
            "--basedir={prefix}",
            "--datadir={data}",
            "--port={port}",
            "--bind-address=127.0.0.1",
            "--socket={run}/mysqld.sock",
            "--pid-file={run}/mysqld.pid",
            "--skip-name-resolve",
            "--init-file={init}",
        ],
        init_sql: "CREATE USER IF NOT EXISTS 'root'@'%' IDENTIFIED BY '{password}';\n\
                   GRANT ALL PRIVILEGES ON *.* TO 'root'@'%' WITH GRANT OPTION;\n\
                   DROP USER IF EXISTS 'root'@'127.0.0.1', 'root'@'::1';\n\
                   ALTER USER 'root'@'localhost' IDENTIFIED BY '{password}';\n\
                   CREATE DATABASE IF NOT EXISTS {database};\n",
        accounts: &["mysql", "nobody"],
        install: "mariadb-server-core",
    },
};

#[async_trait]
impl Engine for MariaDb {
    fn name(&self) -> &'static str {
        "mariadb"
    }

    fn title(&self) -> &'static str {
        "MariaDB"
    }

    fn default_version(&self) -> &'static str {
        "11.8"
    }

    fn dialect(&self) -> Dialect {
        Dialect::InnoDb
    }

    fn server(&self) -> Option<&'static ServerSpec> {
        Some(&SERVER)
    }

    fn capabilities(&self) -> &'static [Capability] {
        &[
            Capability::ConcurrentWriters,
            Capability::NoWait,
            Capability::SessionTimeZone,
            Capability::SkipLocked,
            Capability::SubSecondInstants,
            Capability::Terminate,
            Capability::WaitObservation,
        ]
    }

    fn strategies(&self) -> &'static [Strategy] {
        &[Strategy::ConditionalUpdate, Strategy::SkipLocked]
    }

    fn setups(&self) -> &'static [Setup] {
        SETUPS
    }

    fn statements(&self) -> Statements {
        innodb::statements("utf8mb4_nopad_bin")
    }

    fn database_clock(&self) -> DatabaseClock {
        innodb::database_clock()
    }

    async fn identify(&self, endpoint: &Endpoint) -> Result<Identity> {
        mysql_protocol::identify(self, endpoint).await
    }

    async fn open(&self, endpoint: &Endpoint, options: StoreOptions) -> Result<Box<dyn Store>> {
        mysql_protocol::open(self, &ENGINE, endpoint, options).await
    }

    fn attach(
        &self,
        endpoint: &Endpoint,
        name: &str,
        options: StoreOptions,
    ) -> Result<Box<dyn Store>> {
        mysql_protocol::attach(self, &ENGINE, endpoint, name, &options)
    }
}

#[async_trait]
impl Flavour for MariaDb {
    fn codes(&self) -> &'static Codes {
        &CODES
    }

    fn isolation_variable(&self) -> &'static str {
        "tx_isolation"
    }

    fn durability(&self) -> &'static [&'static str] {
        &[
            "innodb_doublewrite",
            "innodb_flush_log_at_trx_commit",
            "innodb_flush_method",
            "sync_binlog",
        ]
    }

    fn settings(&self) -> &'static [&'static str] {
        &[
            "innodb_deadlock_detect",
            "innodb_lock_wait_timeout",
            "innodb_rollback_on_timeout",
            "innodb_snapshot_isolation",
            "log_bin",
            "max_connections",
            "sql_mode",
        ]
    }

    fn metrics_query(&self) -> &'static str {
        instruments::METRICS
    }

    fn places(&self) -> &'static [(Counter, Place)] {
        instruments::PLACES
    }

    async fn waits(
        &self,
        link: &mut Link,
        statements: &Compilation,
        look: Look,
    ) -> Result<Vec<Wait>> {
        instruments::waits(link, statements, look).await
    }

    async fn explain(&self, link: &mut Link, text: &str) -> Result<(String, String)> {
        instruments::explain(link, text).await
    }

    async fn waiting(&self, link: &mut Link, session: SessionId) -> Result<Waiting> {
        // Not INNODB_TRX: its rows are cached for as long as somebody reads them within 100 ms.
        let row = link.one("observe a wait", "SHOW ENGINE INNODB STATUS", &[]).await?;
        let status = link.cells("observe a wait", &row).text(2)?;
        Ok(match waits(&status, session) {
            true => Waiting::Waiting,
            false => Waiting::NotWaiting,
        })
    }
}

/// Whether the monitor's text shows the connection's transaction in a lock wait.
fn waits(status: &str, session: SessionId) -> bool {
    let thread = format!("MariaDB thread id {session},");
    status
        .split("---TRANSACTION ")
        .any(|transaction| transaction.contains(&thread) && transaction.contains("LOCK WAIT"))
}

#[cfg(test)]
mod tests {
    use super::waits;

    const STATUS: &str = "TRANSACTIONS
---TRANSACTION 31, ACTIVE 2 sec starting index read
mysql tables in use 1, locked 1
LOCK WAIT 2 lock struct(s), heap size 1128, 1 row lock(s)
MariaDB thread id 12, OS thread handle 1, query id 5 localhost root Updating
---TRANSACTION 30, ACTIVE 3 sec
2 lock struct(s), heap size 1128, 1 row lock(s)
MariaDB thread id 1, OS thread handle 2, query id 4 localhost root
";

    #[test]
    fn only_the_waiting_connection_is_seen_waiting() {
        assert!(waits(STATUS, 12));
        assert!(!waits(STATUS, 1));
        assert!(!waits(STATUS, 2));
    }
}
