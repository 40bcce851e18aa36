//! A worker in a process of its own: how SQLite is used by several programs, and what can be killed.
//!
//! The parent sends one line of JSON with everything the worker needs, waits for `ready` from all, and
//! says `go`; the worker ends with one line of JSON. Nothing secret is on its command line.

use std::process::{ExitCode, Stdio};
use std::sync::Arc;
use std::time::Duration;

use leaseproof_engines::bench_statements::to_the_tail;
use leaseproof_engines::instruments::Counter;
use leaseproof_engines::lease::Strategy;
use leaseproof_engines::servers::{Address, Endpoint};
use leaseproof_engines::store::{Isolation, Store, StoreOptions};
use leaseproof_engines::{EngineError, ErrorKind, REGISTRY};
use serde::{Deserialize, Serialize};
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, Lines};
use tokio::process::{Child, ChildStdin, ChildStdout, Command};

use crate::server::Bench;

/// The hidden command by which this program is a worker.
pub const COMMAND: &str = "bench-worker";

/// What a worker is told.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Order {
    /// The engine's stable name.
    pub engine: String,
    /// Where it is reached: a URL, or a directory for an embedded engine.
    pub address: String,
    /// The store, by the name that its engine gave it.
    pub store: String,
    /// The worker's own name.
    pub name: usize,
    /// How many events the queue holds.
    pub depth: u64,
    /// How many events it claims at once.
    pub batch: u32,
    /// By which strategy.
    pub strategy: Strategy,
    /// What it does.
    pub task: Task,
}

/// What a worker does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Task {
    /// Claims and releases for a while.
    Cycle {
        /// Milliseconds before anything counts.
        warm_up_ms: u64,
        /// Milliseconds that are measured.
        window_ms: u64,
        /// Whether each claim is a transaction that reads first, and says beforehand that it will write.
        unit: Unit,
        /// When a commit is told to be done.
        synchronous: Synchronous,
    },
    /// Claims, applies an effect and acks, until every event is done.
    Drain {
        /// How long a lease is, in milliseconds of the wall clock.
        lease_ms: u64,
    },
}

/// The transaction around a claim.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Unit {
    /// None: the claim's own statements.
    None,
    /// One that declares its intent to write where the engine wants that.
    Immediate,
    /// One that does not.
    Deferred,
}

/// SQLite's `synchronous` in WAL mode: whether a commit waits for the disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Synchronous {
    /// It does, which is the default of SQLite.
    Full,
    /// It does not: a loss of power may undo the last ones.
    Normal,
}

impl Synchronous {
    fn as_sql(self) -> &'static str {
        match self {
            Self::Full => "PRAGMA synchronous = FULL;",
            Self::Normal => "PRAGMA synchronous = NORMAL;",
        }
    }
}

/// What a worker found.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Answer {
    /// Claims inside the window.
    pub claims: u64,
    /// Events it claimed in all.
    pub rows: u64,
    /// Events that were taken from it while its lease was live.
    pub refused: u64,
    /// Acks that were accepted.
    pub acked: u64,
    /// Errors inside the window by code.
    pub errors: Vec<(String, u64)>,
    /// The latencies of its claims.
    pub latency: Option<leaseproof_reports::bench::Latency>,
    /// Claims that the end of the window cut off.
    pub unfinished: u64,
    /// How long the longest of them took, in milliseconds.
    pub unfinished_ms: f64,
    /// Its counters, by name, for those that belong to a process.
    pub counters: Vec<(String, f64)>,
    /// Why it failed, if it did.
    pub failure: Option<String>,
}

/// A worker that runs.
pub struct Running {
    /// The process.
    pub child: Child,
    stdin: ChildStdin,
    stdout: Lines<BufReader<ChildStdout>>,
}

fn failed(error: impl ToString) -> EngineError {
    EngineError::new("worker", "run a process", ErrorKind::Fatal, error.to_string())
}

impl Running {
    /// Starts a worker and waits until it is ready.
    ///
    /// # Errors
    /// When there can be no process, or it fails before it is ready.
    pub async fn start(order: &Order) -> Result<Self, EngineError> {
        let program = std::env::current_exe().map_err(failed)?;
        let mut command = Command::new(program);
        command.arg(COMMAND).stdin(Stdio::piped()).stdout(Stdio::piped()).kill_on_drop(true);
        let mut child = command.spawn().map_err(failed)?;
        let stdin = child.stdin.take().expect("its input is a pipe");
        let stdout = child.stdout.take().expect("its output is a pipe");
        let mut running = Self { child, stdin, stdout: BufReader::new(stdout).lines() };
        let order = serde_json::to_string(order).map_err(failed)?;
        running.say(&order).await?;
        match running.stdout.next_line().await.map_err(failed)? {
            Some(line) if line == "ready" => Ok(running),
            other => Err(failed(format!("a worker said {other:?} where it should be ready"))),
        }
    }

    async fn say(&mut self, line: &str) -> Result<(), EngineError> {
        self.stdin.write_all(format!("{line}\n").as_bytes()).await.map_err(failed)?;
        self.stdin.flush().await.map_err(failed)
    }

    /// Lets it begin.
    ///
    /// # Errors
    /// When it is gone.
    pub async fn go(&mut self) -> Result<(), EngineError> {
        self.say("go").await
    }

    /// Waits for what it found.
    ///
    /// # Errors
    /// When it ended without, or says that it failed.
    pub async fn answer(mut self) -> Result<Answer, EngineError> {
        let line = self.stdout.next_line().await.map_err(failed)?;
        let line = line.ok_or_else(|| failed("a worker ended without an answer"))?;
        let answer: Answer = serde_json::from_str(&line).map_err(failed)?;
        match answer.failure {
            Some(failure) => Err(failed(failure)),
            None => Ok(answer),
        }
    }
}

/// The order for a worker on a store of that server.
#[must_use]
pub fn order(bench: &Bench, store: &dyn Store, depth: u64, task: Task) -> Order {
    Order {
        engine: bench.engine.name().to_owned(),
        address: match &bench.endpoint.address {
            Address::Server(url) => url.to_string(),
            Address::Directory(path) => path.display().to_string(),
        },
        store: store.name(),
        name: 0,
        depth,
        batch: 10,
        strategy: bench.best_strategy(),
        task,
    }
}

/// A worker's whole life. `run` does what the order says on a store that is attached.
#[must_use]
pub fn main() -> ExitCode {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let Ok(runtime) = runtime else {
        return ExitCode::FAILURE;
    };
    runtime.block_on(async {
        let answer = match live().await {
            Ok(answer) => answer,
            Err(error) => Answer { failure: Some(error.to_string()), ..Answer::default() },
        };
        let answer = serde_json::to_string(&answer).expect("an answer is numbers and names");
        println!("{answer}");
    });
    ExitCode::SUCCESS
}

/// The parent's next line. Nothing else is to be done until it comes, so that it may block.
fn line() -> Result<String, EngineError> {
    let mut line = String::new();
    std::io::stdin().read_line(&mut line).map_err(failed)?;
    Ok(line)
}

async fn live() -> Result<Answer, EngineError> {
    let order: Order = serde_json::from_str(&line()?).map_err(failed)?;
    let engine = REGISTRY.iter().find(|engine| engine.name() == order.engine);
    let engine = engine.ok_or_else(|| failed("no such engine"))?;
    let endpoint = match engine.server() {
        Some(_) => {
            let url = url::Url::parse(&order.address).map_err(failed)?;
            Endpoint::server(leaseproof_engines::servers::ProviderKind::Url, url, None)
        }
        None => Endpoint::directory(order.address.clone().into()),
    };
    let mut statements = to_the_tail(engine.statements(), order.depth).map_err(failed)?;
    if let Task::Cycle { unit: Unit::Deferred, .. } = order.task {
        statements.set("begin", "BEGIN;").map_err(failed)?;
    }
    let isolation = engine.server().map(|_| Isolation::ReadCommitted);
    let session = match order.task {
        Task::Cycle { synchronous, .. } => synchronous.as_sql(),
        Task::Drain { .. } => "",
    };
    let statements = Some(statements);
    let options = StoreOptions { statements, isolation, session, ..StoreOptions::default() };
    let store: Arc<dyn Store> = Arc::from(engine.attach(&endpoint, &order.store, options)?);
    let mut session = store.session(&Default::default()).await?;
    // A connection that has read nothing has not opened the file yet.
    session.candidates(1, crate::claim_cycle::NOW).await?;
    println!("ready");
    line()?;
    match order.task {
        Task::Cycle { warm_up_ms, window_ms, unit, .. } => {
            let window = (Duration::from_millis(warm_up_ms), Duration::from_millis(window_ms));
            let mut answer = crate::process_work::cycle(session, &order, window, unit).await?;
            let mut instruments = store.instruments().await?;
            let counters = instruments.counters().await?;
            for counter in [Counter::LockWaits, Counter::LockWaitMs, Counter::LockWaitMaxMs] {
                if let Some(value) = counters.value(counter) {
                    answer.counters.push((counter.as_str().to_owned(), value));
                }
            }
            instruments.close().await;
            Ok(answer)
        }
        Task::Drain { lease_ms } => {
            crate::process_work::drain(session, &order, Duration::from_millis(lease_ms)).await
        }
    }
}
