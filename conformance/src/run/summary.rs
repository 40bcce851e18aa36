//! Turns what a suite saw into the run that reports are made of.

use std::collections::BTreeMap;
use std::time::Duration;

use jiff::Timestamp;
use leaseproof_engines::servers::ImageInfo;
use leaseproof_reports as reports;
use leaseproof_reports::history::words;
use leaseproof_reports::{
    CapabilityState, Case, ContractInfo, EngineRun, EngineStatus, Host, Listed, Outcome, Run,
    SCHEMA, Summary, Tool, merge_repeats,
};

use crate::contract::Contract;
use crate::plan::shard::Layout;
use crate::run::known_failures::KnownFailures;
use crate::run::probe::Probed;
use crate::run::runner::CaseResult;
use crate::run::suite::{Job, Part, Plan};

/// What identifies a run beside its cases.
pub struct Frame {
    /// The run's id, `<time>-<short id>`.
    pub id: String,
    /// When it began.
    pub started: Timestamp,
    /// How long it took.
    pub duration: Duration,
    /// The command line, without secrets.
    pub command: Vec<String>,
    /// What `leaseproof replay` needs to find the run beside its id; empty for the default directory.
    pub replay_options: String,
}

/// Saves a history and returns its path in the run directory.
pub type SaveHistory<'save, E> = &'save mut dyn FnMut(&str, Vec<u8>) -> Result<String, E>;

/// The run of a plan's parts. Histories of cases that are not kept go through `save`.
///
/// # Errors
/// What `save` fails with.
pub fn run_of<E>(
    plan: &Plan,
    parts: &[Part],
    known: &KnownFailures,
    frame: Frame,
    save: SaveHistory<'_, E>,
) -> Result<Run, E> {
    let engines: Vec<EngineRun> = parts.iter().map(engine_of).collect();
    let mut cases = Vec::new();
    for part in parts {
        for (job, result) in &part.cases {
            cases.push(case_of(&frame, part, job, result, save)?);
        }
    }
    let mut cases = merge_repeats(cases);
    let listed = known.apply(&engines, &mut cases);
    let (rotten, shard) = match plan.shard {
        None => (listed.iter().filter_map(Listed::rotten).collect(), None),
        Some(_) => (Vec::new(), Layout::of(plan).report(plan, parts, listed)),
    };
    let summary = Summary::of(&cases, &engines);
    let mut run = Run {
        schema: SCHEMA.to_owned(),
        tool: Tool { name: "leaseproof".to_owned(), version: env!("CARGO_PKG_VERSION").to_owned() },
        id: frame.id,
        started: frame.started,
        duration_ms: millis(frame.duration),
        command: frame.command,
        seed: plan.seed,
        repeat: plan.repeat,
        matrix_name: plan.matrix.as_str().to_owned(),
        host: host(),
        engines,
        contracts: plan.contracts.iter().map(|contract| info_of(contract)).collect(),
        cases,
        rotten,
        summary,
        shard,
        partial: None,
        digest: None,
    };
    run.seal();
    Ok(run)
}

fn info_of(contract: &Contract) -> ContractInfo {
    ContractInfo {
        id: contract.id.to_owned(),
        promise: contract.promise.to_owned(),
        level: contract.level,
        source: contract.source.to_owned(),
    }
}

fn engine_of(part: &Part) -> EngineRun {
    let engine = part.selection.engine;
    let mut run = EngineRun {
        label: part.selection.label(),
        name: engine.name().to_owned(),
        requested: part.selection.version.clone(),
        version: String::new(),
        status: EngineStatus::Ready,
        reason: None,
        remedy: None,
        provider: String::new(),
        image: None,
        isolation: String::new(),
        clock: "logical".to_owned(),
        tls: None,
        durability: BTreeMap::new(),
        settings: BTreeMap::new(),
        capabilities: part.probes.iter().map(capability_of).collect(),
        facts: part.facts.clone(),
    };
    match &part.server {
        Ok((endpoint, identity)) => {
            run.version.clone_from(&identity.version);
            run.provider = endpoint.provider.as_str().to_owned();
            run.image = endpoint.image.as_ref().map(image_of);
            run.isolation.clone_from(&identity.isolation);
            run.tls = identity.tls;
            run.durability.clone_from(&identity.durability);
            run.settings.clone_from(&identity.settings);
        }
        Err(missing) => {
            run.status = EngineStatus::Missing;
            let reasons: Vec<_> = missing.attempts.iter().map(ToString::to_string).collect();
            run.reason = Some(reasons.join("; "));
            run.remedy = Some(missing.remedies().join(", or "));
        }
    }
    run
}

fn capability_of(probed: &Probed) -> (String, CapabilityState) {
    let name = probed.capability.to_string();
    let state = match probed.found {
        Some(found) => CapabilityState::probed(probed.declared, found, probed.detail.clone()),
        None => CapabilityState::unprobed(probed.declared),
    };
    (name, state)
}

fn image_of(image: &ImageInfo) -> reports::ImageInfo {
    reports::ImageInfo {
        name: image.name.clone(),
        digest: image.digest.clone(),
        suite: image.suite.clone(),
        packages: image.packages.clone(),
    }
}

fn case_of<E>(
    frame: &Frame,
    part: &Part,
    job: &Job,
    result: &CaseResult,
    save: SaveHistory<'_, E>,
) -> Result<Case, E> {
    let mut case = Case {
        id: job.contract.id.to_owned(),
        engine: part.selection.label(),
        level: job.contract.level,
        variant: job.variant.label(),
        outcome: result.outcome,
        duration_ms: millis(result.duration),
        detail: result.detail.clone(),
        seed: job.seed,
        repeats: BTreeMap::from([(result.outcome, 1)]),
        evidence: match result.outcome {
            Outcome::Broken => result.recorder.excerpt(words::line),
            _ => result.evidence.clone(),
        },
        history: None,
        replay: None,
        known: None,
        observations: result.observations.clone(),
    };
    if !matches!(result.outcome, Outcome::Kept | Outcome::Unsupported) {
        case.replay = Some(format!(
            "leaseproof replay {} '{}'{}",
            frame.id,
            case.key(),
            frame.replay_options
        ));
        // A history that was lost says so in the file: the verdict stands without it.
        let lines =
            result.recorder.to_json_lines().unwrap_or_else(|error| error.to_string().into_bytes());
        case.history = Some(save(&case.key(), lines)?);
    }
    Ok(case)
}

pub(crate) fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

pub(crate) fn host() -> Host {
    let kernel =
        nix::sys::utsname::uname().map(|name| name.release().to_string_lossy().into_owned());
    Host {
        os: std::env::consts::OS.to_owned(),
        arch: std::env::consts::ARCH.to_owned(),
        kernel: kernel.unwrap_or_default(),
        cpus: std::thread::available_parallelism()
            .map_or(0, |count| u32::try_from(count.get()).unwrap_or(u32::MAX)),
        memory_mib: memory_mib(),
    }
}

/// The machine's memory, or 0 where the system does not tell.
fn memory_mib() -> u64 {
    let text = std::fs::read_to_string("/proc/meminfo").unwrap_or_default();
    kib_of(&text, "MemTotal:") / 1024
}

/// The most memory this process has had in use, in MiB; 0 where the system does not tell.
///
/// Not `getrusage`: there a process starts with the peak of the one that started it.
#[must_use]
pub fn peak_memory_mib() -> u64 {
    let text = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    kib_of(&text, "VmHWM:") / 1024
}

/// The value of a line such as `MemTotal:  24576 kB`.
fn kib_of(text: &str, name: &str) -> u64 {
    let value = text.lines().find_map(|line| line.strip_prefix(name));
    value.and_then(|value| value.trim().trim_end_matches(" kB").parse().ok()).unwrap_or(0)
}
