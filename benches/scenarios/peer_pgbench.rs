//! The load runner beside pgbench: the same statement, the same connections, turn and turn about.
//!
//! A generator that is slower than the engine measures itself. Measured only when it is asked for.

use std::process::Stdio;
use std::time::Duration;

use async_trait::async_trait;
use leaseproof_engines::lease::Strategy;
use leaseproof_engines::provider::Address;
use leaseproof_engines::requeue::claims_to_the_tail;
use leaseproof_engines::store::Isolation;
use leaseproof_engines::{Engine, EngineError, ErrorKind};
use nix::sys::resource::UsageWho;
use tokio::process::Command;
use url::Url;

use crate::claim_cycle::{Claimer, NOW, TALLIES, UNTIL};
use crate::load::{self, Load, Pace, cpu_s};
use crate::measured::Measured;
use crate::profile::Profile;
use crate::scenario::{Scenario, Spec, Task};
use crate::server::{Filled, Queue};

/// The scenario's one instance.
pub static SCENARIO: PeerPgbench = PeerPgbench;

/// Groups of four measurements each, in the order runner, peer, peer, runner, which cancels a drift.
const GROUPS: usize = 10;
const WINDOW: Duration = Duration::from_secs(3);
const WARM_UP: Duration = Duration::from_millis(500);
const DEPTH: u64 = 20_000;
/// Student's t for 95 % with one degree of freedom less than there are groups.
const T: f64 = 2.262;

/// The runner beside pgbench.
pub struct PeerPgbench;

#[async_trait]
impl Scenario for PeerPgbench {
    fn id(&self) -> &'static str {
        "peer-pgbench"
    }

    fn question(&self) -> &'static str {
        "Is the load runner as quick as pgbench with the same statement?"
    }

    fn headline(&self) -> &'static [&'static str] {
        &["ratio", "ratio_low", "ratio_high", "runner_cpu_us_per_claim", "peer_cpu_us_per_claim"]
    }

    fn on_request(&self) -> bool {
        true
    }

    fn cells(&self, engine: &dyn Engine, _: &Profile) -> Vec<Spec> {
        if !engine.server().is_some_and(|server| server.schemes.contains(&"postgresql")) {
            return Vec::new();
        }
        let one = (WINDOW + WARM_UP).as_secs_f64();
        let cell = |(workers, batch): (usize, u32)| {
            Spec::new(1, one * 4.0 * GROUPS as f64 + 3.0)
                .with("workers", workers)
                .with("batch", batch)
        };
        [(16, 10), (8, 1)].into_iter().map(cell).collect()
    }

    async fn measure(&self, task: Task<'_>) -> Result<Measured, EngineError> {
        let mut queue = Queue::new(task.bench.engine, DEPTH);
        queue.edit =
            |statements| claims_to_the_tail(statements.clone(), DEPTH).unwrap_or(statements);
        queue.telling = false;
        let mut filled = task.bench.queue(&queue).await?;
        let measured = groups(task, &mut filled, queue).await;
        filled.remove().await?;
        measured
    }
}

/// What one side did in one turn.
#[derive(Clone, Copy, Debug, Default)]
struct Side {
    claims_per_s: f64,
    cpu_us_per_claim: f64,
    cpu_s: f64,
}

/// How long pgbench runs.
#[derive(Clone, Copy, Debug)]
enum Length {
    /// One claim for each connection.
    Once,
    /// As long as the runner; so much processor time goes into connecting.
    Timed { connecting: f64 },
}

async fn groups(
    task: Task<'_>,
    filled: &mut Filled,
    queue: Queue,
) -> Result<Measured, EngineError> {
    let (workers, batch) = (task.spec.get("workers"), task.spec.get("batch"));
    let statements = (queue.edit)(task.bench.engine.statements());
    let script = tempfile_of(statements.get("claim_batch").unwrap_or_default())?;
    let Address::Server(url) = &task.bench.endpoint.address else {
        return Err(failed("the endpoint is not a server"));
    };
    let schema = filled.store.name();
    let (mut logs, mut runner, mut peer) = (Vec::new(), Vec::new(), Vec::new());
    // Each connection hashes a password, which is no part of a claim.
    let connecting =
        pgbench(url, &schema, script.path(), workers, batch, Length::Once).await?.cpu_s;
    let length = Length::Timed { connecting };
    for _ in 0..GROUPS {
        let first = run(filled, workers, batch).await?;
        let second = pgbench(url, &schema, script.path(), workers, batch, length).await?;
        let third = pgbench(url, &schema, script.path(), workers, batch, length).await?;
        let fourth = run(filled, workers, batch).await?;
        let ours = first.claims_per_s + fourth.claims_per_s;
        logs.push((ours / (second.claims_per_s + third.claims_per_s)).ln());
        runner.extend([first, fourth]);
        peer.extend([second, third]);
    }
    let count = logs.len() as f64;
    let mean = logs.iter().sum::<f64>() / count;
    let variance = logs.iter().map(|log| (log - mean).powi(2)).sum::<f64>() / (count - 1.0);
    let half = T * (variance / count).sqrt();
    let mut measured = Measured::default();
    measured.repeat.seconds = WINDOW.as_secs_f64() * 4.0 * count;
    measured.value("ratio", mean.exp());
    measured.value("ratio_low", (mean - half).exp());
    measured.value("ratio_high", (mean + half).exp());
    for (name, sides) in [("runner", &runner), ("peer", &peer)] {
        let of = |read: fn(&Side) -> f64| sides.iter().map(read).sum::<f64>() / sides.len() as f64;
        measured.value(&format!("{name}_claims_per_s"), of(|side| side.claims_per_s));
        measured.value(&format!("{name}_cpu_us_per_claim"), of(|side| side.cpu_us_per_claim));
    }
    Ok(measured)
}

fn failed(error: impl ToString) -> EngineError {
    EngineError::new("pgbench", "measure", ErrorKind::Fatal, error.to_string())
}

fn tempfile_of(statement: &str) -> Result<tempfile::NamedTempFile, EngineError> {
    let file = tempfile::NamedTempFile::new().map_err(failed)?;
    // Named parameters are written as pgbench writes variables.
    std::fs::write(file.path(), statement).map_err(failed)?;
    Ok(file)
}

/// The runner: claims only, for every claim sends its events to the tail itself.
async fn run(filled: &mut Filled, workers: usize, batch: u32) -> Result<Side, EngineError> {
    let sessions = filled.sessions(workers).await?;
    let mut claimers = Claimer::all(sessions, batch, Strategy::UpdateReturning);
    claimers.iter_mut().for_each(|claimer| claimer.keeps = true);
    let load = Load {
        warm_up: WARM_UP,
        window: WINDOW,
        pace: Pace::Closed,
        seed: 0,
        operations: 2,
        tallies: TALLIES,
    };
    let loaded = load::run(claimers, load).await?;
    for worker in loaded.workers {
        worker.session.close().await;
    }
    let claims = loaded.record.operations(0).window as f64;
    Ok(Side {
        claims_per_s: claims / loaded.seconds,
        cpu_us_per_claim: loaded.cpu_s * 1e6 / claims.max(1.0),
        cpu_s: loaded.cpu_s,
    })
}

async fn pgbench(
    url: &Url,
    schema: &str,
    script: &std::path::Path,
    workers: usize,
    batch: u32,
    length: Length,
) -> Result<Side, EngineError> {
    let isolation = Isolation::ReadCommitted.as_sql().to_lowercase().replace(' ', "\\ ");
    let options = format!("-c search_path={schema} -c default_transaction_isolation={isolation}");
    let threads = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let seconds = (WINDOW + WARM_UP).as_secs_f64().ceil();
    let (turns, connecting) = match length {
        Length::Once => (["-t".to_owned(), "1".to_owned()], 0.0),
        Length::Timed { connecting } => (["-T".to_owned(), seconds.to_string()], connecting),
    };
    let before = cpu_s(UsageWho::RUSAGE_CHILDREN);
    let ended = Command::new("pgbench")
        .env("PGPASSWORD", url.password().unwrap_or_default())
        .env("PGOPTIONS", options)
        .args(["-h", url.host_str().unwrap_or_default(), "-U", url.username()])
        .args(["-p", &url.port().unwrap_or(5432).to_string()])
        .args(["-n", "-M", "prepared"])
        .args(turns)
        .args(["-c", &workers.to_string(), "-j", &threads.min(workers).to_string()])
        .args(["-D", &format!("limit={batch}"), "-D", "token=peer"])
        .args(["-D", &format!("now={}", NOW.0), "-D", &format!("until={}", UNTIL.0), "-f"])
        .arg(script)
        .arg(url.path().trim_start_matches('/'))
        .stdin(Stdio::null())
        .output()
        .await
        .map_err(|error| failed(format!("`pgbench` cannot be run: {error}")))?;
    let cpu_s = cpu_s(UsageWho::RUSAGE_CHILDREN) - before - connecting;
    let text = String::from_utf8_lossy(&ended.stdout);
    let number = |before: &str| {
        let rest = text.split_once(before)?.1;
        rest.split(|letter: char| !(letter.is_ascii_digit() || letter == '.')).next()?.parse().ok()
    };
    let told: Option<(f64, f64)> =
        number("tps = ").zip(number("number of transactions actually processed: "));
    let Some((claims_per_s, claims)) = told.filter(|_| ended.status.success()) else {
        let words = String::from_utf8_lossy(&ended.stderr).into_owned();
        return Err(failed(format!("`pgbench` failed: {}", words.trim())));
    };
    Ok(Side { claims_per_s, cpu_us_per_claim: cpu_s * 1e6 / claims.max(1.0), cpu_s })
}
