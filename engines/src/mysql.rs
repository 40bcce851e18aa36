//! MySQL.

use async_trait::async_trait;

use crate::capability::Capability;
use crate::driver::{Codes, Value};
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
pub static ENGINE: MySql = MySql;

/// MySQL 8.0 and later.
pub struct MySql;

/// Error numbers by class, from the server error reference.
static CODES: Codes = Codes {
    engine: "mysql",
    retryable: &["1205", "1213", "3572"],
    fenced: &["1290", "1792", "1836"],
    unavailable: &[
        "1040", "1053", "1080", "1152", "1158", "1159", "1160", "1161", "1317", "3032", "4031",
    ],
    duplicate: &["1062"],
    aborts_on_any_error: false,
};

/// The isolation levels beside the default, and what else changes what a claim sees.
const SETUPS: &[Setup] = &[
    Setup::isolated("read-committed", Isolation::ReadCommitted),
    Setup::isolated("serializable", Isolation::Serializable),
];

/// How its server is provided.
static SERVER: ServerSpec = ServerSpec {
    url_variable: "LEASEPROOF_MYSQL_URL",
    schemes: &["mysql"],
    image: "mysql",
    port: 3306,
    user: "root",
    database: "leaseproof",
    environment: &[("MYSQL_ROOT_PASSWORD", "{password}"), ("MYSQL_DATABASE", "{database}")],
    recipe: Recipe {
        suites: &[("9.7", "sid")],
        script: include_str!("../images/mysql/recipe.sh"),
        entrypoint: include_str!("../images/mysql/entrypoint.sh"),
    },
    native: NativeSpec {
        places: &[
            "/usr/sbin",
            "/usr/libexec",
            "/usr/local/mysql/bin",
            "/opt/homebrew/opt/mysql*/bin",
            "/usr/local/opt/mysql*/bin",
        ],
        server: &["mysqld"],
        answers: "mysql",
        initializer: &["mysqld"],
        initialize: &["--no-defaults", "--initialize-insecure", "--datadir={data}"],
        serve: &[
            "--no-defaults",
            "--datadir={data}",
            "--port={port}",
            "--bind-address=127.0.0.1",
            "--mysqlx=OFF",
            "--socket={run}/mysqld.sock",
            "--pid-file={run}/mysqld.pid",
            "--secure-file-priv=",
            "--skip-name-resolve",
            "--init-file={init}",
        ],
        init_sql: "CREATE USER IF NOT EXISTS 'root'@'%' IDENTIFIED BY '{password}';\n\
                   GRANT ALL PRIVILEGES ON *.* TO 'root'@'%' WITH GRANT OPTION;\n\
                   ALTER USER 'root'@'localhost' IDENTIFIED BY '{password}';\n\
                   CREATE DATABASE IF NOT EXISTS {database};\n",
        accounts: &["mysql", "nobody"],
        install: "mysql-server-core",
    },
};

#[async_trait]
impl Engine for MySql {
    fn name(&self) -> &'static str {
        "mysql"
    }

    fn title(&self) -> &'static str {
        "MySQL"
    }

    fn default_version(&self) -> &'static str {
        "9.7"
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
        innodb::statements("utf8mb4_0900_bin")
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
impl Flavour for MySql {
    fn codes(&self) -> &'static Codes {
        &CODES
    }

    fn isolation_variable(&self) -> &'static str {
        "transaction_isolation"
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
        let text = "SELECT COUNT(*) FROM performance_schema.data_lock_waits AS waits
            JOIN performance_schema.threads AS thread ON thread.THREAD_ID = waits.REQUESTING_THREAD_ID
            WHERE thread.PROCESSLIST_ID = ?";
        let row = link.one("observe a wait", text, &[Value::Int(session)]).await?;
        Ok(match link.cells("observe a wait", &row).int(0)? {
            0 => Waiting::NotWaiting,
            _ => Waiting::Waiting,
        })
    }
}
