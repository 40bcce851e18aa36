//! PostgreSQL.

use std::collections::BTreeMap;
use std::sync::Arc;

use async_trait::async_trait;
use sqlx::ConnectOptions;
use sqlx::postgres::{PgConnectOptions, PgConnection};

use crate::capability::Capability;
use crate::driver::{Cells, Codes, Value, Wire};
use crate::engine::{DatabaseClock, Dialect, Engine, Identity, Setup};
use crate::error::{EngineError, ErrorKind};
use crate::lease::{Clock, Strategy};
use crate::sandbox::{Roster, sandbox_name};
use crate::servers::{Address, Endpoint, NativeSpec, Recipe, ServerSpec};
use crate::session::compile_all;
use crate::statement::{Placeholder, Statements};
use crate::store::{Isolation, Result, Store, StoreOptions};

use self::store::PostgresStore;

mod instruments;
mod lock_log;
mod store;

pub use self::lock_log::LockLog;

/// The engine's one instance.
pub static ENGINE: Postgres = Postgres;

/// PostgreSQL 13 and later.
pub struct Postgres;

/// SQLSTATEs by class, from the manual's appendix of error codes.
static CODES: Codes = Codes {
    engine: "postgres",
    retryable: &["40001", "40P01", "55P03"],
    fenced: &["25006"],
    // Connection exceptions, too many connections, shutdowns, cancelled, and the timeouts of an idle or
    // long transaction, which end the connection
    unavailable: &[
        "08000", "08001", "08003", "08004", "08006", "08007", "25P03", "25P04", "53300", "57014",
        "57P01", "57P02", "57P03", "57P05",
    ],
    duplicate: &["23505"],
    aborts_on_any_error: true,
};

/// What decides whether a commit survives a crash.
const DURABILITY: &[&str] = &["fsync", "full_page_writes", "synchronous_commit", "wal_sync_method"];

/// What else changes how leases behave, or what they cost.
const SETTINGS: &[&str] = &[
    "data_checksums",
    "deadlock_timeout",
    "lock_timeout",
    "max_connections",
    "TimeZone",
    "wal_log_hints",
];

/// The isolation levels beside the default, and what else changes what a claim sees.
const SETUPS: &[Setup] = &[
    Setup::isolated("repeatable-read", Isolation::RepeatableRead),
    Setup::isolated("serializable", Isolation::Serializable),
];

/// How its server is provided.
static SERVER: ServerSpec = ServerSpec {
    url_variable: "LEASEPROOF_POSTGRES_URL",
    schemes: &["postgres", "postgresql"],
    image: "postgres",
    port: 5432,
    user: "postgres",
    // The one that every PostgreSQL has: installed programs make no other.
    database: "postgres",
    environment: &[
        ("POSTGRES_USER", "{user}"),
        ("POSTGRES_PASSWORD", "{password}"),
        ("POSTGRES_DB", "{database}"),
    ],
    recipe: Recipe {
        suites: &[
            ("13", "bullseye"),
            ("15", "bookworm"),
            ("17", "trixie"),
            ("18", "sid"),
            ("19", "experimental"),
        ],
        script: include_str!("../images/postgres/recipe.sh"),
        entrypoint: include_str!("../images/postgres/entrypoint.sh"),
    },
    native: NativeSpec {
        places: &[
            "/usr/lib/postgresql/*/bin",
            "/usr/pgsql-*/bin",
            "/usr/local/pgsql/bin",
            "/opt/homebrew/opt/postgresql@*/bin",
            "/usr/local/opt/postgresql@*/bin",
        ],
        server: &["postgres"],
        answers: "postgresql",
        initializer: &["initdb"],
        initialize: &[
            "--pgdata={data}",
            "--username={user}",
            "--pwfile={password_file}",
            "--auth=scram-sha-256",
            "--encoding=UTF8",
            "--locale=C",
            "--no-sync",
        ],
        serve: &[
            "-D",
            "{data}",
            "-p",
            "{port}",
            "-c",
            "listen_addresses=127.0.0.1",
            "-c",
            "unix_socket_directories={run}",
        ],
        init_sql: "",
        accounts: &["postgres", "nobody"],
        install: "postgresql",
    },
};

#[async_trait]
impl Engine for Postgres {
    fn name(&self) -> &'static str {
        "postgres"
    }

    fn title(&self) -> &'static str {
        "PostgreSQL"
    }

    fn default_version(&self) -> &'static str {
        "18"
    }

    fn dialect(&self) -> Dialect {
        Dialect::Postgres
    }

    fn server(&self) -> Option<&'static ServerSpec> {
        Some(&SERVER)
    }

    fn capabilities(&self) -> &'static [Capability] {
        &[
            Capability::ConcurrentWriters,
            Capability::NoWait,
            Capability::Returning,
            Capability::Serializable,
            Capability::SessionTimeZone,
            Capability::SkipLocked,
            Capability::SubSecondInstants,
            Capability::Terminate,
            Capability::TransactionalDdl,
            Capability::UnlocksPassedRows,
            Capability::WaitObservation,
        ]
    }

    fn strategies(&self) -> &'static [Strategy] {
        &Strategy::ALL
    }

    fn setups(&self) -> &'static [Setup] {
        SETUPS
    }

    fn statements(&self) -> Statements {
        crate::statements!(
            "postgres",
            ack,
            acked_by,
            apply_effect,
            backlog,
            begin,
            begin_snapshot,
            dead_letter,
            candidates,
            claim,
            claim_batch,
            claim_batch_lock,
            claim_batch_mark,
            commit,
            confirm,
            effects,
            enqueue,
            event,
            exhausted,
            lock,
            lock_nowait,
            mislead_planner,
            release,
            renew,
            reserve,
            rollback,
            schema,
        )
    }

    fn database_clock(&self) -> DatabaseClock {
        DatabaseClock {
            statements: crate::statements!(
                "postgres/database_clock",
                ack,
                backlog,
                dead_letter,
                candidates,
                claim,
                claim_batch,
                claim_batch_lock,
                claim_batch_mark,
                confirm,
                enqueue,
                exhausted,
                renew,
            ),
            readings: &[
                "CAST(extract(epoch FROM clock_timestamp()) * 1000000 AS bigint)",
                "CAST(extract(epoch FROM statement_timestamp()) * 1000000 AS bigint)",
            ],
        }
    }

    fn telling_session(&self) -> &'static str {
        lock_log::TELLING
    }

    fn keeps_dead_rows(&self) -> bool {
        true
    }

    async fn identify(&self, endpoint: &Endpoint) -> Result<Identity> {
        let mut connection = connect(&connect_options(endpoint)?).await?;
        let mut identity = Identity {
            version: setting(&mut connection, "server_version").await?,
            isolation: setting(&mut connection, "default_transaction_isolation").await?,
            tls: Some(uses_tls(&mut connection).await?),
            durability: BTreeMap::new(),
            settings: BTreeMap::new(),
        };
        for name in DURABILITY {
            let value = setting(&mut connection, name).await?;
            identity.durability.insert((*name).to_owned(), value);
        }
        for name in SETTINGS {
            let value = setting(&mut connection, name).await?;
            identity.settings.insert((*name).to_owned(), value);
        }
        Box::new(connection).close().await;
        Ok(identity)
    }

    async fn open(&self, endpoint: &Endpoint, options: StoreOptions) -> Result<Box<dyn Store>> {
        let connect_options = connect_options(endpoint)?;
        let mut connection = connect(&connect_options).await?;
        let epoch = match options.clock {
            Clock::Logical => 0,
            Clock::Database => {
                let row =
                    one(&mut connection, "read the clock", &self.database_clock().query(), &[])
                        .await?;
                cells("read the clock", &row).int(0)?
            }
        };
        let store = PostgresStore {
            connect: connect_options,
            epoch,
            schema: sandbox_name(),
            isolation: options.isolation,
            session: options.session,
            statements: compile_all(self, &options, Placeholder::Dollar),
            roster: Arc::new(Roster::default()),
        };
        let create = format!("CREATE SCHEMA {0}; SET search_path TO {0};", store.schema);
        connection
            .batch(&create)
            .await
            .map_err(|error| cannot_create(CODES.classify("create a schema", error)))?;
        let schema = store.statements.get("schema").map(|schema| schema.text.clone());
        let created = connection.batch(&schema.unwrap_or_default()).await;
        Box::new(connection).close().await;
        if let Err(error) = created {
            store.close().await?;
            return Err(CODES.classify("create the tables", error));
        }
        Ok(Box::new(store))
    }

    fn attach(
        &self,
        endpoint: &Endpoint,
        name: &str,
        options: StoreOptions,
    ) -> Result<Box<dyn Store>> {
        Ok(Box::new(PostgresStore {
            connect: connect_options(endpoint)?,
            epoch: 0,
            schema: name.to_owned(),
            isolation: options.isolation,
            session: options.session,
            statements: compile_all(self, &options, Placeholder::Dollar),
            roster: Arc::new(Roster::default()),
        }))
    }
}

/// Adds the remedy to the refusal of a right.
fn cannot_create(mut error: EngineError) -> EngineError {
    if error.code.as_deref() == Some("42501") {
        error.message.push_str(
            "; grant the user `CREATE` on the database, since every case runs in a schema of its own",
        );
    }
    error
}

fn connect_options(endpoint: &Endpoint) -> Result<PgConnectOptions> {
    let Address::Server(url) = &endpoint.address else {
        let message = "the endpoint is not a server";
        return Err(EngineError::new("postgres", "connect", ErrorKind::Fatal, message));
    };
    let options = PgConnectOptions::from_url(url).map_err(|error| {
        EngineError::new("postgres", "connect", ErrorKind::Fatal, error.to_string())
    })?;
    Ok(options.application_name("leaseproof").disable_statement_logging())
}

async fn connect(options: &PgConnectOptions) -> Result<PgConnection> {
    options.connect().await.map_err(|error| {
        let code = error.as_database_error().and_then(|error| error.code());
        let code = code.map(|code| code.into_owned());
        CODES.classify("connect", crate::driver::WireError::from_sqlx(&error, code))
    })
}

async fn one(
    connection: &mut PgConnection,
    operation: &'static str,
    text: &str,
    values: &[Value],
) -> Result<Vec<Value>> {
    let rows = connection.fetch(text, values).await;
    let rows = rows.map_err(|error| CODES.classify(operation, error))?;
    Ok(rows.into_iter().next().unwrap_or_default())
}

async fn setting(connection: &mut PgConnection, name: &str) -> Result<String> {
    let parameter = [Value::Text(name.to_owned())];
    let row = one(connection, "read a setting", "SELECT current_setting($1)", &parameter).await?;
    cells("read a setting", &row).text(0)
}

async fn uses_tls(connection: &mut PgConnection) -> Result<bool> {
    let text = "SELECT coalesce((SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()), false)";
    let row = one(connection, "read a setting", text, &[]).await?;
    Ok(cells("read a setting", &row).int(0)? != 0)
}

fn cells<'row>(operation: &'static str, row: &'row Vec<Value>) -> Cells<'row> {
    Cells { engine: CODES.engine, operation, row }
}
