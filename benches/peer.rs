//! The load runner beside another generator of the same claims: turn and turn about on one queue.
//!
//! A generator that is slower than the engine measures itself, so it is held against one that others
//! trust. Invariants: both sides send the same statements on as many connections; after each turn the
//! table itself must account for the claims, because a side that claims nothing is very fast; a
//! parameter that a peer is not given is an error, because a driver may send NULL for it, and no row
//! is below NULL.

use std::process::{Output, Stdio};
use std::time::Duration;

use async_trait::async_trait;
use leaseproof_engines::bench_statements::claims_to_the_tail;
use leaseproof_engines::lease::Strategy;
use leaseproof_engines::servers::{ProcessId, cpu_of_tree};
use leaseproof_engines::statement::{Compiled, Placeholder, Statements, compile};
use leaseproof_engines::store::StoreOptions;
use leaseproof_engines::{EngineError, ErrorKind};
use leaseproof_reports::stats::Estimate;
use tokio::process::Command;

use crate::claim_cycle::{Claimer, NOW, RETRIES, TALLIES, UNTIL};
use crate::load::{self, Load, Pace};
use crate::measured::Measured;
use crate::recorder::SECOND;
use crate::scenario::{Spec, Task};
use crate::server::{Bench, Filled, Queue};

/// How often the order of turns is gone through.
const GROUPS: usize = 6;
/// Whose turn it is, the runner's or not. It cancels what changes steadily, and what bends: a table fills
/// with dead rows fast at first, and whoever had the two ends of four turns would be favoured.
const ORDER: [bool; 8] = [true, false, false, true, false, true, true, false];
/// How long each turn runs before anything counts.
pub const WARM_UP: Duration = Duration::from_millis(500);
/// How many events the queue holds.
const DEPTH: u64 = 20_000;
/// The share of a batch that may be missing, as of claims that found fewer events than they asked for.
const SHORT: f64 = 0.05;
/// The share by which the events per claim of the two sides may differ.
const APART: f64 = 0.03;
/// The readings that answer such a question.
pub const HEADLINE: &[&str] =
    &["ratio", "ratio_low", "ratio_high", "runner_cpu_us_per_claim", "peer_cpu_us_per_claim"];

/// What one side did in one turn.
#[derive(Clone, Copy, Debug, Default)]
pub struct Side {
    /// Claims in a second of the window.
    pub claims_per_s: f64,
    /// Processor time of this side inside the window, where it can be read.
    pub cpu_s: Option<f64>,
    /// Claims in all, also outside of the window.
    pub claims: u64,
    /// Errors after which a claim was made again, inside the window.
    pub retries: u64,
    /// Processor time of the server for the whole turn, where it can be read.
    pub server_cpu_s: Option<f64>,
}

/// Another generator of the same claims.
#[async_trait]
pub trait Peer: Send {
    /// Claims for as long as the runner does.
    ///
    /// # Errors
    /// When it cannot be run, or fails.
    async fn turn(&mut self) -> Result<Side, EngineError>;
}

/// How both sides claim.
#[derive(Clone, Copy, Debug)]
pub struct Plan {
    /// Connections, each with one claim at a time.
    pub workers: usize,
    /// Events that a claim asks for.
    pub batch: u32,
    /// The strategy of the runner.
    pub strategy: Strategy,
    /// What is measured of each turn.
    pub window: Duration,
    /// The server's first process, where its processor time can be read.
    pub server: Option<ProcessId>,
}

/// A failure of the comparison.
pub fn failed(error: impl ToString) -> EngineError {
    EngineError::new("peer", "compare", ErrorKind::Fatal, error.to_string())
}

/// A user or a password as it was before it became part of a URL.
///
/// # Errors
/// When it is no text.
pub fn decoded(part: &str) -> Result<String, EngineError> {
    let text = percent_encoding::percent_decode_str(part).decode_utf8();
    text.map(std::borrow::Cow::into_owned).map_err(failed)
}

/// The number behind the first occurrence of `label`.
#[must_use]
pub fn number_after(text: &str, label: &str) -> Option<f64> {
    let rest = text.split_once(label)?.1;
    rest.split(|letter: char| !(letter.is_ascii_digit() || letter == '.')).next()?.parse().ok()
}

/// A cell of such a comparison.
#[must_use]
pub fn cell(workers: usize, batch: u32, window: Duration) -> Spec {
    let turns = (ORDER.len() * GROUPS) as f64;
    let seconds = (window + WARM_UP).as_secs_f64() * turns + 3.0;
    Spec::new(1, seconds).with("workers", workers).with("batch", batch)
}

/// A queue whose claims send their events to the tail, and the statements it is claimed by.
///
/// # Errors
/// When the engine refuses, or has no such claim.
pub async fn queue(bench: &Bench) -> Result<(Filled, Statements), EngineError> {
    let statements = claims_to_the_tail(bench.engine.statements(), DEPTH).map_err(failed)?;
    let mut queue = Queue::new(bench.engine, DEPTH);
    // What could be edited above can be edited here, where only other statements have changed.
    queue.edit = |statements| claims_to_the_tail(statements.clone(), DEPTH).unwrap_or(statements);
    queue.telling = false;
    Ok((bench.queue(&queue).await?, statements))
}

/// The parameters that are the same in every claim, by their names. An event is claimed far less often
/// than a store allows by default, so no turn runs into that limit.
#[must_use]
pub fn given(batch: u32) -> [(&'static str, i64); 4] {
    let max_attempts = i64::from(StoreOptions::default().max_attempts);
    [("limit", batch.into()), ("max_attempts", max_attempts), ("now", NOW.0), ("until", UNTIL.0)]
}

/// A statement as a peer prepares it, whose parameters are all in [`given`] or `changing`.
///
/// # Errors
/// When there is no such statement, or one of its parameters would not be given.
pub fn compiled(
    statements: &Statements,
    name: &str,
    placeholder: Placeholder,
    changing: &[&str],
) -> Result<Compiled, EngineError> {
    let text = statements.get(name).ok_or_else(|| failed(format!("no statement `{name}`")))?;
    let statement = compile(text, placeholder);
    let is_given = |wanted: &str| {
        changing.contains(&wanted) || given(1).iter().any(|(known, _)| *known == wanted)
    };
    match statement.parameters.iter().find(|wanted| !is_given(wanted)) {
        Some(wanted) => Err(failed(format!("`{name}` wants `:{wanted}`, which no peer is given"))),
        None => Ok(statement),
    }
}

/// Runs another generator, which takes `length` after it has connected, and reads the processor time that
/// it uses in a part of that as long as `window`: connecting costs a password's hash for each connection,
/// which is no part of a claim.
///
/// # Errors
/// When it cannot be run.
pub async fn watched(
    command: &mut Command,
    length: Duration,
    window: Duration,
) -> Result<(Output, Option<f64>), EngineError> {
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).kill_on_drop(true);
    let child = command.spawn().map_err(|error| {
        let program = command.as_std().get_program().to_string_lossy().into_owned();
        failed(format!("`{program}` cannot be run: {error}"))
    })?;
    let process = child.id().and_then(|pid| ProcessId::of(i32::try_from(pid).ok()?));
    let used = used_in(process, length.saturating_sub(window), window);
    let (ended, used) = futures::future::join(child.wait_with_output(), used).await;
    Ok((ended.map_err(failed)?, used))
}

/// The processor time that a process uses in a window; `None` when it ends before that does.
#[expect(clippy::disallowed_methods, reason = "the window is time itself")]
async fn used_in(process: Option<ProcessId>, before: Duration, window: Duration) -> Option<f64> {
    tokio::time::sleep(before).await;
    let start = cpu_of_tree(process?)?;
    tokio::time::sleep(window).await;
    Some(cpu_of_tree(process?)?.saturating_sub(start).as_secs_f64())
}

/// Measures the runner and the peer in groups of turns, and their ratio with its interval.
///
/// # Errors
/// When a side fails, or the table does not account for what it claims to have done.
pub async fn compare(
    task: Task<'_>,
    filled: &mut Filled,
    plan: Plan,
    peer: &mut dyn Peer,
) -> Result<Measured, EngineError> {
    let (mut ratios, mut ours, mut theirs) = (Vec::new(), Turns::new(), Turns::new());
    for _ in 0..GROUPS {
        let mut speeds = [0.0, 0.0];
        for (turn, is_ours) in ORDER.into_iter().enumerate() {
            if (task.stop)() {
                return Err(failed("it was interrupted"));
            }
            if turn % 4 == 0 {
                // What gathers in the table in four turns is gathered anew in the next four.
                filled.instruments.settle().await?;
            }
            let before = filled.instruments.audit().await?.attempts;
            let cpu = plan.server.and_then(cpu_of_tree);
            let mut side = if is_ours { runner(filled, plan).await? } else { peer.turn().await? };
            let used = plan.server.and_then(cpu_of_tree).zip(cpu);
            side.server_cpu_s = used.map(|(after, before)| (after - before).as_secs_f64());
            let rows = filled.instruments.audit().await?.attempts - before;
            let (turns, name) =
                if is_ours { (&mut ours, "the runner") } else { (&mut theirs, "the peer") };
            turns.add(side, rows, plan.batch).map_err(|why| failed(format!("{name} {why}")))?;
            speeds[usize::from(!is_ours)] += side.claims_per_s;
        }
        ratios.push(speeds[0] / speeds[1]);
    }
    if let Some(why) = ours.apart_from(&theirs) {
        return Err(failed(why));
    }
    let mut measured = Measured::default();
    measured.repeat.seconds = plan.window.as_secs_f64() * (ORDER.len() * GROUPS) as f64;
    // Ratios are positive, so this is the mean of their logarithms.
    let ratio = Estimate::of(&ratios).ok_or_else(|| failed("no group was measured"))?;
    measured.value("ratio", ratio.mean);
    measured.value("ratio_low", ratio.low.unwrap_or(ratio.mean));
    measured.value("ratio_high", ratio.high.unwrap_or(ratio.mean));
    for (name, turns) in [("runner", &ours), ("peer", &theirs)] {
        let mut value = |reading: &str, value| measured.value(&format!("{name}_{reading}"), value);
        value("claims_per_s", turns.mean(|side| side.claims_per_s));
        if let Some(cpu_s) = turns.sum(|side| side.cpu_s) {
            let seconds = plan.window.as_secs_f64() * turns.0.len() as f64;
            let claims = turns.mean(|side| side.claims_per_s) * seconds;
            value("cpu_us_per_claim", cpu_s * 1e6 / claims);
        }
        value("mean_batch", turns.rows_per_claim());
        if let Some(cpu_s) = turns.sum(|side| side.server_cpu_s) {
            value("server_cpu_us_per_claim", cpu_s * 1e6 / turns.claims() as f64);
        }
        value("retries", turns.0.iter().map(|(side, _)| side.retries as f64).sum());
    }
    Ok(measured)
}

/// The runner: claims only, for every claim sends its events to the tail itself.
async fn runner(filled: &mut Filled, plan: Plan) -> Result<Side, EngineError> {
    let sessions = filled.sessions(plan.workers).await?;
    let mut claimers = Claimer::all(sessions, plan.batch, plan.strategy);
    claimers.iter_mut().for_each(|claimer| claimer.keeps = true);
    let load = Load {
        part: SECOND,
        warm_up: WARM_UP,
        window: plan.window,
        pace: Pace::Closed,
        seed: 0,
        operations: 2,
        tallies: TALLIES,
        server: None,
    };
    let loaded = load::run(claimers, load).await?;
    for worker in loaded.workers {
        worker.session.close().await;
    }
    let claims = loaded.record.operations(0);
    Ok(Side {
        claims_per_s: claims.window as f64 / loaded.seconds,
        cpu_s: Some(loaded.cpu_s),
        claims: claims.all,
        retries: loaded.record.tally(RETRIES).window,
        server_cpu_s: None,
    })
}

/// The turns of one side, with the acquisitions that the table counted in each.
struct Turns(Vec<(Side, i64)>);

impl Turns {
    fn new() -> Self {
        Self(Vec::new())
    }

    /// Adds a turn, unless the table contradicts it.
    fn add(&mut self, side: Side, rows: i64, batch: u32) -> Result<(), String> {
        let Side { claims, .. } = side;
        if claims == 0 || rows == 0 {
            return Err(format!("claimed nothing: {claims} claims took {rows} events"));
        }
        let share = rows as f64 / (claims as f64 * f64::from(batch));
        if (share - 1.0).abs() > SHORT {
            let text = format!("took {rows} events in {claims} claims of a batch of {batch}");
            return Err(text);
        }
        self.0.push((side, rows));
        Ok(())
    }

    fn mean(&self, read: fn(&Side) -> f64) -> f64 {
        self.0.iter().map(|(side, _)| read(side)).sum::<f64>() / self.0.len() as f64
    }

    fn claims(&self) -> u64 {
        self.0.iter().map(|(side, _)| side.claims).sum()
    }

    fn rows_per_claim(&self) -> f64 {
        let rows: i64 = self.0.iter().map(|(_, rows)| rows).sum();
        rows as f64 / self.claims() as f64
    }

    fn sum(&self, read: fn(&Side) -> Option<f64>) -> Option<f64> {
        self.0.iter().map(|(side, _)| read(side)).sum()
    }

    /// Why the claims of both sides are not the same work, if they are not.
    fn apart_from(&self, other: &Self) -> Option<String> {
        let (left, right) = (self.rows_per_claim(), other.rows_per_claim());
        let apart = (left / right - 1.0).abs() > APART;
        apart.then(|| format!("the runner took {left:.3} events in a claim, the peer {right:.3}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn claims(claims: u64) -> Side {
        Side { claims, ..Side::default() }
    }

    #[test]
    fn a_side_that_claims_nothing_is_no_result() {
        let mut turns = Turns::new();
        assert!(turns.add(claims(5400), 0, 10).is_err());
        assert!(turns.add(claims(0), 0, 10).is_err());
        assert!(turns.add(claims(100), 900, 10).is_err());
        assert!(turns.add(claims(100), 1100, 10).is_err());
        assert!(turns.add(claims(100), 990, 10).is_ok());
    }

    #[test]
    fn sides_that_claim_differently_are_not_compared() {
        let turns = |rows| Turns(vec![(claims(100), rows)]);
        assert_eq!(turns(1000).apart_from(&turns(980)), None);
        assert!(turns(1000).apart_from(&turns(960)).is_some());
    }

    #[test]
    fn a_number_ends_where_its_digits_do() {
        let told = "transactions: 16/16\ntps = 812.5 (without)";
        assert_eq!(number_after(told, "transactions: "), Some(16.0));
        assert_eq!(number_after(told, "tps = "), Some(812.5));
        assert_eq!(number_after(told, "seconds="), None);
    }

    #[test]
    fn a_parameter_that_is_not_given_is_an_error() {
        let text = "UPDATE lease SET token = :token WHERE attempt < :max_attempts AND at < :at";
        let statements = Statements::new(&[("claim", text)]);
        let compiled = |changing: &[&str]| {
            compiled(&statements, "claim", Placeholder::Dollar, changing)
                .map_err(|error| error.to_string())
        };
        assert!(compiled(&["token"]).unwrap_err().contains("`:at`"));
        assert_eq!(compiled(&["token", "at"]).unwrap().parameters.len(), 3);
    }
}
