//! The load runner beside sysbench: the same transaction of a claim, statement by statement, on MySQL and
//! MariaDB.
//!
//! Both open the transaction and commit it in text, lock with one prepared statement, and mark each event with
//! another one. Neither encrypts, which sysbench 1.0 can only with files of keys; the runner's URL is
//! changed for that. Measured only when it is asked for.

use std::time::Duration;

use async_trait::async_trait;
use leaseproof_engines::lease::Strategy;
use leaseproof_engines::servers::{Address, Endpoint};
use leaseproof_engines::statement::{Placeholder, Statements, compile};
use leaseproof_engines::store::{Isolation, SessionOptions};
use leaseproof_engines::{Engine, EngineError};
use tempfile::NamedTempFile;
use tokio::process::Command;
use url::Url;

use crate::measured::Measured;
use crate::peer::{self, Peer, Plan, Side, failed};
use crate::profile::Profile;
use crate::scenario::{Scenario, Spec, Task};
use crate::server::{Bench, Filled};

/// The scenario's one instance.
pub static SCENARIO: PeerSysbench = PeerSysbench;

const WINDOW: Duration = Duration::from_secs(3);
/// A lost row version, a lock that was waited for too long, a deadlock: what the runner's session calls
/// retryable.
const RETRYABLE: &str = "1020,1205,1213";
/// What one claim is, behind its statements and values.
const CLAIM: &str = include_str!("peer_sysbench.lua");

/// The runner beside sysbench.
pub struct PeerSysbench;

#[async_trait]
impl Scenario for PeerSysbench {
    fn id(&self) -> &'static str {
        "peer-sysbench"
    }

    fn question(&self) -> &'static str {
        "Is the load runner as quick as sysbench with the same transaction?"
    }

    fn headline(&self) -> &'static [&'static str] {
        peer::HEADLINE
    }

    fn on_request(&self) -> bool {
        true
    }

    fn cells(&self, engine: &dyn Engine, _: &Profile) -> Vec<Spec> {
        if !engine.server().is_some_and(|server| server.schemes.contains(&"mysql")) {
            return Vec::new();
        }
        [(16, 10), (8, 1)].map(|(workers, batch)| peer::cell(workers, batch, WINDOW)).into()
    }

    async fn measure(&self, task: Task<'_>) -> Result<Measured, EngineError> {
        let Address::Server(url) = &task.bench.endpoint.address else {
            return Err(failed("the endpoint is not a server"));
        };
        let bench = unencrypted(task.bench, url);
        let (mut filled, statements) = peer::queue(&bench).await?;
        let measured = beside(task, url, &mut filled, &statements).await;
        filled.remove().await?;
        measured
    }
}

/// The same server, reached without encryption.
fn unencrypted(bench: &Bench, url: &Url) -> Bench {
    let mut url = url.clone();
    let kept: Vec<_> =
        url.query_pairs().into_owned().filter(|(name, _)| name != "ssl-mode").collect();
    url.query_pairs_mut().clear().extend_pairs(kept).append_pair("ssl-mode", "DISABLED");
    let endpoint = &bench.endpoint;
    let endpoint = Endpoint::server(endpoint.provider, url, endpoint.image.clone())
        .with_process(endpoint.process);
    bench.reached_by(endpoint)
}

async fn beside(
    task: Task<'_>,
    url: &Url,
    filled: &mut Filled,
    statements: &Statements,
) -> Result<Measured, EngineError> {
    let plan = Plan {
        workers: task.spec.get("workers"),
        batch: task.spec.get("batch"),
        strategy: Strategy::SkipLocked,
        window: WINDOW,
        server: task.bench.endpoint.process,
    };
    let mut sysbench = Sysbench {
        url: url.clone(),
        database: filled.store.name(),
        script: written(".lua", &script(statements, plan.batch)?)?,
        plan,
    };
    peer::compare(task, filled, plan, &mut sysbench).await
}

/// A file of its own that nobody else may read.
fn written(suffix: &str, text: &str) -> Result<NamedTempFile, EngineError> {
    let file = tempfile::Builder::new().suffix(suffix).tempfile().map_err(failed)?;
    std::fs::write(file.path(), text).map_err(failed)?;
    Ok(file)
}

/// The claim with the statements and the session that the runner has.
fn script(statements: &Statements, batch: u32) -> Result<String, EngineError> {
    let mut text = String::new();
    for (variable, name) in [("LOCK", "claim_batch_lock"), ("MARK", "claim_batch_mark")] {
        let changing = ["token", "event"];
        let statement = peer::compiled(statements, name, Placeholder::Question, &changing)?;
        let names: Vec<_> = statement.parameters.iter().map(|name| format!("\"{name}\"")).collect();
        text.push_str(&format!(
            "{variable} = {{ text = {}, names = {{ {} }} }}\n",
            quoted(&statement.text),
            names.join(", ")
        ));
    }
    for (variable, name) in [("BEGIN", "begin"), ("COMMIT", "commit"), ("ROLLBACK", "rollback")] {
        let frame = statements.get(name).ok_or_else(|| failed(format!("no statement `{name}`")))?;
        let frame = compile(frame, Placeholder::Question).text;
        text.push_str(&format!("{variable} = {}\n", quoted(&frame)));
    }
    let given = peer::given(batch).map(|(name, value)| format!("[\"{name}\"] = {value}"));
    text.push_str(&format!("GIVEN = {{ {} }}\n", given.join(", ")));
    let timeout = SessionOptions::default().lock_timeout.as_secs();
    let set_up = [
        "SET NAMES utf8mb4".to_owned(),
        format!("SET SESSION innodb_lock_wait_timeout = {timeout}, lock_wait_timeout = {timeout}"),
        format!("SET SESSION TRANSACTION ISOLATION LEVEL {}", Isolation::ReadCommitted.as_sql()),
    ];
    text.push_str(&format!("SET_UP = {{ {} }}\n", set_up.map(|text| quoted(&text)).join(", ")));
    text.push_str(CLAIM);
    Ok(text)
}

/// The text as Lua writes one of several lines.
fn quoted(text: &str) -> String {
    format!("[==[\n{text}]==]")
}

struct Sysbench {
    url: Url,
    database: String,
    script: NamedTempFile,
    plan: Plan,
}

/// What sysbench says of itself, in all and since its last checkpoint.
struct Told {
    claims: u64,
    claims_per_s: f64,
    retries: u64,
}

#[async_trait]
impl Peer for Sysbench {
    async fn turn(&mut self) -> Result<Side, EngineError> {
        // It takes whole seconds. A checkpoint sets its counters back, which ends the warm-up.
        let warm_up = peer::WARM_UP.as_secs_f64().ceil();
        let length = Duration::from_secs_f64(warm_up) + WINDOW;
        let url = &self.url;
        let password = peer::decoded(url.password().unwrap_or_default())?;
        // A command line is everybody's to read; a file of options is not.
        let options = written(".conf", &format!("mysql-password={password}\n"))?;
        let mut command = Command::new("sysbench");
        command
            .arg(format!("--config-file={}", options.path().display()))
            .args(["--db-driver=mysql", "--verbosity=2"])
            .arg(format!("--mysql-host={}", url.host_str().unwrap_or_default()))
            .arg(format!("--mysql-port={}", url.port().unwrap_or(3306)))
            .arg(format!("--mysql-user={}", peer::decoded(url.username())?))
            .arg(format!("--mysql-db={}", self.database))
            .arg(format!("--mysql-ignore-errors={RETRYABLE}"))
            .arg(format!("--threads={}", self.plan.workers))
            .arg(format!("--time={}", length.as_secs_f64()))
            .arg(format!("--report-checkpoints={warm_up}"))
            .arg(self.script.path())
            .arg("run");
        let (ended, cpu_s) = peer::watched(&mut command, length, WINDOW).await?;
        let text = String::from_utf8_lossy(&ended.stdout);
        match told(&text).filter(|_| ended.status.success()) {
            Some(Told { claims_per_s, claims, retries }) => {
                Ok(Side { claims_per_s, claims, retries, cpu_s, ..Side::default() })
            }
            None => {
                let words = String::from_utf8_lossy(&ended.stderr).into_owned();
                Err(failed(format!("`sysbench` failed: {} {}", text.trim(), words.trim())))
            }
        }
    }
}

/// The script's own reports: one at the checkpoint, if there is one, and the last one.
fn told(text: &str) -> Option<Told> {
    let reports: Vec<_> = text.lines().filter(|line| line.starts_with("claims=")).collect();
    let number = |report: &&str, name| peer::number_after(report, name);
    let claims: Option<Vec<f64>> = reports.iter().map(|line| number(line, "claims=")).collect();
    let (claims, last) = (claims?, reports.last()?);
    Some(Told {
        claims: claims.iter().sum::<f64>() as u64,
        claims_per_s: claims.last()? / number(last, "seconds=")?,
        retries: number(last, "retries=")? as u64,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_window_is_what_follows_the_checkpoint() {
        let text = "claims=100 seconds=1.0 retries=1\nnoise\nclaims=600 seconds=3.0 retries=2\n";
        let told = told(text).unwrap();
        assert_eq!((told.claims, told.claims_per_s, told.retries), (700, 200.0, 2));
        assert!(super::told("FATAL: no connection").is_none());
    }

    #[test]
    fn the_script_has_every_statement_of_both_engines() {
        for engine in [
            &leaseproof_engines::mysql::ENGINE as &dyn Engine,
            &leaseproof_engines::mariadb::ENGINE,
        ] {
            let text = script(&engine.statements(), 10).unwrap();
            assert!(text.contains("[\"limit\"] = 10") && text.contains("SKIP LOCKED"), "{text}");
        }
    }
}
