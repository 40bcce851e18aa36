//! The load runner beside a plain loop on SQLite's C API: the same claim on one connection.
//!
//! The loop calls the library that is linked into this program, so that both sides have the same
//! version, compiled in the same way, and nobody needs a C compiler. It is what a C program would do:
//! prepare once, then bind, step and reset. What the runner is slower by is its driver, whose statements
//! run on a thread of their own. Measured only when it is asked for.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use async_trait::async_trait;
use leaseproof_engines::lease::{ClaimBatch, FencingToken, Strategy};
use leaseproof_engines::sqlite::plain::PlainClaims;
use leaseproof_engines::statement::{Compiled, Placeholder, Statements};
use leaseproof_engines::store::StoreOptions;
use leaseproof_engines::{Engine, EngineError};
use nix::sys::resource::UsageWho;

use crate::claim_cycle::{NOW, UNTIL};
use crate::load::cpu_s;
use crate::measured::Measured;
use crate::peer::{self, Peer, Plan, Side, failed};
use crate::profile::Profile;
use crate::scenario::{Scenario, Spec, Task};
use crate::server::Filled;

/// The scenario's one instance.
pub static SCENARIO: PeerSqliteC = PeerSqliteC;

const WINDOW: Duration = Duration::from_secs(2);

/// The runner beside a plain loop.
pub struct PeerSqliteC;

#[async_trait]
impl Scenario for PeerSqliteC {
    fn id(&self) -> &'static str {
        "peer-sqlite-c"
    }

    fn question(&self) -> &'static str {
        "How close is the load runner to a plain loop on SQLite's C API?"
    }

    fn headline(&self) -> &'static [&'static str] {
        peer::HEADLINE
    }

    fn on_request(&self) -> bool {
        true
    }

    fn cells(&self, engine: &dyn Engine, _: &Profile) -> Vec<Spec> {
        if engine.name() != leaseproof_engines::sqlite::ENGINE.name() {
            return Vec::new();
        }
        [10, 1].map(|batch| peer::cell(1, batch, WINDOW)).into()
    }

    async fn measure(&self, task: Task<'_>) -> Result<Measured, EngineError> {
        let (mut filled, statements) = peer::queue(task.bench).await?;
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
    let plan = Plan {
        workers: task.spec.get("workers"),
        batch: task.spec.get("batch"),
        strategy: Strategy::UpdateReturning,
        window: WINDOW,
        server: task.bench.endpoint.process,
    };
    let mut plain = Loop {
        file: PathBuf::from(filled.store.name()),
        claim: peer::compiled(statements, "claim_batch", Placeholder::Numbered, &["token"])?,
        batch: plan.batch,
    };
    peer::compare(task, filled, plan, &mut plain).await
}

/// The loop, with a connection of its own in each turn, as the runner has one.
#[derive(Clone)]
struct Loop {
    file: PathBuf,
    claim: Compiled,
    batch: u32,
}

#[async_trait]
impl Peer for Loop {
    async fn turn(&mut self) -> Result<Side, EngineError> {
        let this = self.clone();
        // Nothing else of this program runs meanwhile, so the processor time is the loop's.
        tokio::task::spawn_blocking(move || this.run()).await.map_err(failed)?
    }
}

impl Loop {
    fn run(&self) -> Result<Side, EngineError> {
        let mut claims = PlainClaims::open(&self.file, &self.claim)?;
        let start = Instant::now();
        let warm_up = self.claim_until(&mut claims, start + peer::WARM_UP, 0)?;
        let (start, before) = (Instant::now(), cpu_s(UsageWho::RUSAGE_SELF));
        let all = self.claim_until(&mut claims, start + WINDOW, warm_up)?;
        let (seconds, used) =
            (start.elapsed().as_secs_f64(), cpu_s(UsageWho::RUSAGE_SELF) - before);
        let inside = (all - warm_up) as f64;
        Ok(Side {
            claims_per_s: inside / seconds,
            cpu_s: Some(used),
            claims: all,
            ..Side::default()
        })
    }

    /// Claims until `end`, and returns the number of the next claim.
    fn claim_until(
        &self,
        claims: &mut PlainClaims,
        end: Instant,
        first: u64,
    ) -> Result<u64, EngineError> {
        let max_attempts = StoreOptions::default().max_attempts;
        let mut number = first;
        while Instant::now() < end {
            let batch = ClaimBatch {
                limit: self.batch,
                token: FencingToken::new(format!("worker-0-{number}")),
                now: NOW,
                until: UNTIL,
                strategy: Strategy::UpdateReturning,
            };
            std::hint::black_box(claims.claim(&batch, max_attempts)?);
            number += 1;
        }
        Ok(number)
    }
}
