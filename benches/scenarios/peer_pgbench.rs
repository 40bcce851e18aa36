//! The load runner beside pgbench: the same statement, the same connections, turn and turn about.
//!
//! Measured only when it is asked for.

use std::time::Duration;

use async_trait::async_trait;
use leaseproof_engines::lease::Strategy;
use leaseproof_engines::servers::Address;
use leaseproof_engines::statement::{Placeholder, Statements};
use leaseproof_engines::store::Isolation;
use leaseproof_engines::{Engine, EngineError};
use tempfile::NamedTempFile;
use tokio::process::Command;
use url::Url;

use crate::measured::Measured;
use crate::peer::{self, Peer, Plan, Side, failed};
use crate::profile::Profile;
use crate::scenario::{Scenario, Spec, Task};
use crate::server::Filled;

/// What cleans the table up is the comparison itself, between its groups.
const NO_AUTOVACUUM: &str = "ALTER TABLE lease_event SET (autovacuum_enabled = off)";

/// The scenario's one instance.
pub static SCENARIO: PeerPgbench = PeerPgbench;

const WINDOW: Duration = Duration::from_secs(3);

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
        peer::HEADLINE
    }

    fn on_request(&self) -> bool {
        true
    }

    fn cells(&self, engine: &dyn Engine, _: &Profile) -> Vec<Spec> {
        if !engine.server().is_some_and(|server| server.schemes.contains(&"postgresql")) {
            return Vec::new();
        }
        [(16, 10), (8, 1)].map(|(workers, batch)| peer::cell(workers, batch, WINDOW)).into()
    }

    async fn measure(&self, task: Task<'_>) -> Result<Measured, EngineError> {
        let (mut filled, statements) = peer::queue(task.bench).await?;
        // It would come during some turn and not during the others.
        filled.instruments.alter(NO_AUTOVACUUM).await?;
        let measured = beside(task, &mut filled, &statements).await;
        filled.remove().await?;
        measured
    }
}

async fn beside(
    task: Task<'_>,
    filled: &mut Filled,
    statements: &Statements,
) -> Result<Measured, EngineError> {
    let Address::Server(url) = &task.bench.endpoint.address else {
        return Err(failed("the endpoint is not a server"));
    };
    let plan = Plan {
        workers: task.spec.get("workers"),
        batch: task.spec.get("batch"),
        strategy: Strategy::UpdateReturning,
        window: WINDOW,
        server: task.bench.endpoint.process,
    };
    let mut pgbench = Pgbench {
        url: url.clone(),
        schema: filled.store.name(),
        script: script(statements)?,
        plan,
    };
    peer::compare(task, filled, plan, &mut pgbench).await
}

/// The claim as it stands: named parameters are written as pgbench writes variables.
fn script(statements: &Statements) -> Result<NamedTempFile, EngineError> {
    peer::compiled(statements, "claim_batch", Placeholder::Dollar, &["token"])?;
    let file = NamedTempFile::new().map_err(failed)?;
    let text = statements.get("claim_batch").unwrap_or_default();
    std::fs::write(file.path(), text).map_err(failed)?;
    Ok(file)
}

struct Pgbench {
    url: Url,
    schema: String,
    script: NamedTempFile,
    plan: Plan,
}

#[async_trait]
impl Peer for Pgbench {
    async fn turn(&mut self) -> Result<Side, EngineError> {
        let Self { url, plan, .. } = &*self;
        // It takes whole seconds, and has no warm-up.
        let seconds = (WINDOW + peer::WARM_UP).as_secs_f64().ceil();
        let isolation = Isolation::ReadCommitted.as_sql().to_lowercase().replace(' ', "\\ ");
        let options =
            format!("-c search_path={} -c default_transaction_isolation={isolation}", self.schema);
        let threads = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
        let given = peer::given(plan.batch).map(|(name, value)| format!("-D{name}={value}"));
        let mut command = Command::new("pgbench");
        command
            .env("PGPASSWORD", peer::decoded(url.password().unwrap_or_default())?)
            .env("PGOPTIONS", options)
            .args(["-h", url.host_str().unwrap_or_default()])
            .args(["-U", &peer::decoded(url.username())?])
            .args(["-p", &url.port().unwrap_or(5432).to_string()])
            .args(["-n", "-M", "prepared"])
            .args(["-T", &seconds.to_string()])
            .args(["-c", &plan.workers.to_string(), "-j", &threads.min(plan.workers).to_string()])
            .args(given)
            .args(["-D", "token=peer", "-f"])
            .arg(self.script.path())
            .arg(url.path().trim_start_matches('/'));
        let length = Duration::from_secs_f64(seconds);
        let (ended, cpu_s) = peer::watched(&mut command, length, WINDOW).await?;
        let text = String::from_utf8_lossy(&ended.stdout);
        let claims_per_s = peer::number_after(&text, "tps = ");
        let claims = peer::number_after(&text, "number of transactions actually processed: ");
        let told = claims_per_s.zip(claims).filter(|_| ended.status.success());
        let Some((claims_per_s, claims)) = told else {
            let words = String::from_utf8_lossy(&ended.stderr).into_owned();
            return Err(failed(format!("`pgbench` failed: {}", words.trim())));
        };
        Ok(Side { claims_per_s, claims: claims as u64, cpu_s, ..Side::default() })
    }
}
