//! Runs a selection of contracts on a selection of engines, engines side by side.
//!
//! It decides nothing about how a run is shown: whoever watches gets every [`Event`].

use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::time::Duration;

use futures::StreamExt;
use futures::future::join_all;
use futures::stream;
use leaseproof_engines::Identity;
use leaseproof_engines::lease::Clock;
use leaseproof_engines::servers::{
    Endpoint, Missing, Progress, ProvideOptions, ProviderKind, Selection, provide,
};
use leaseproof_reports::Outcome;
use leaseproof_reports::seed::derive;
use tokio::sync::Notify;

use crate::contract::Contract;
use crate::controls::Control;
use crate::harness::target::Target;
use crate::history::Recorder;
use crate::plan::shard::{Layout, Shard};
use crate::plan::variant::{Matrix, Variant};
use crate::run::facts;
use crate::run::probe::{Probed, probe};
use crate::run::runner::{self, CaseResult};

/// What is to be run.
pub struct Plan {
    /// The engines.
    pub selections: Vec<Selection>,
    /// The contracts.
    pub contracts: Vec<&'static Contract>,
    /// The seed from which every case's own is derived.
    pub seed: u64,
    /// How often every case is run.
    pub repeat: u32,
    /// How many variants are run.
    pub matrix: Matrix,
    /// How many cases run at once on each engine. They share nothing but the server: each has a
    /// store of its own. `None` is what suits the engine.
    pub jobs: Option<NonZeroUsize>,
    /// Whether the negative controls are run in place of the contracts themselves.
    pub controls: bool,
    /// Which part of the cases is run; `None` is all of them.
    pub shard: Option<Shard>,
}

/// One case of a plan.
#[derive(Clone, Copy)]
pub struct Job {
    /// The contract.
    pub contract: &'static Contract,
    /// In which variant.
    pub variant: Variant,
    /// On which sabotaged store, if it is a control.
    pub control: Option<&'static Control>,
    /// With which seed.
    pub seed: u64,
}

/// What a run tells whoever watches.
pub enum Event<'event> {
    /// A step on the way to a server.
    Providing(&'event Progress),
    /// A server is up; so many cases will run on it.
    Ready {
        /// The selection, such as `postgres:18`.
        label: &'event str,
        /// Who provides it.
        provider: ProviderKind,
        /// What the server says about itself.
        identity: &'event Identity,
        /// How many cases will run on it.
        cases: usize,
    },
    /// No server is to be had.
    Missing(&'event Missing),
    /// A case begins.
    Started {
        /// The selection.
        label: &'event str,
        /// The case.
        job: &'event Job,
    },
    /// A case has ended.
    Finished {
        /// The selection.
        label: &'event str,
        /// The case.
        job: &'event Job,
        /// How it ended.
        result: &'event CaseResult,
    },
}

/// Who watches a run.
pub type Watch<'watch> = &'watch (dyn Fn(Event<'_>) + Send + Sync);

/// One engine's part of a run.
pub struct Part {
    /// Its place among the selections of the plan.
    pub place: usize,
    /// What was selected.
    pub selection: Selection,
    /// The server, or why there is none.
    pub server: Result<(Endpoint, Identity), Missing>,
    /// What became of the engine's capabilities.
    pub probes: Vec<Probed>,
    /// What was measured in which engines differ and none is wrong.
    pub facts: BTreeMap<String, String>,
    /// The cases in the order in which they ran.
    pub cases: Vec<(Job, CaseResult)>,
}

impl Part {
    /// Whether the user gave a server by URL and it could not be used: as good as named.
    #[must_use]
    pub fn given_in_vain(&self) -> bool {
        let Err(missing) = &self.server else { return false };
        matches!(&missing.attempts[..], [only] if only.provider == ProviderKind::Url)
    }
}

/// Tells running cases to end early and leave nothing behind.
#[derive(Default)]
pub struct Interrupt {
    asked: AtomicBool,
    notify: Notify,
}

impl Interrupt {
    /// Asks every running case to end.
    pub fn ask(&self) {
        self.asked.store(true, Ordering::SeqCst);
        self.notify.notify_waiters();
    }

    /// Whether it was asked.
    #[must_use]
    pub fn was_asked(&self) -> bool {
        self.asked.load(Ordering::SeqCst)
    }

    /// Completes once it was asked.
    pub async fn asked(&self) {
        let notified = self.notify.notified();
        if !self.was_asked() {
            notified.await;
        }
    }
}

/// Runs a plan: servers of different engines start side by side, and so do an engine's cases, up to
/// [`Plan::jobs`] at once.
pub async fn run(
    plan: &Plan,
    options: &ProvideOptions,
    interrupt: &Interrupt,
    watch: Watch<'_>,
) -> Vec<Part> {
    let layout = Layout::of(plan);
    // A server that has nothing to do in this part of the run is not even started.
    let busy = (0..plan.selections.len()).filter(|place| layout.concerns(plan, *place));
    let parts = busy.map(|place| one_engine(plan, &layout, place, options, interrupt, watch));
    join_all(parts).await
}

async fn one_engine(
    plan: &Plan,
    layout: &Layout,
    place: usize,
    options: &ProvideOptions,
    interrupt: &Interrupt,
    watch: Watch<'_>,
) -> Part {
    let selection = &plan.selections[place];
    let mut part = Part {
        place,
        selection: selection.clone(),
        server: ready(selection, options, interrupt, watch).await,
        probes: Vec::new(),
        facts: BTreeMap::new(),
        cases: Vec::new(),
    };
    if let Ok((endpoint, identity)) = &part.server {
        part.selection = selection.named_after(endpoint.provider, &identity.version);
    }
    let label = part.selection.label();
    let (endpoint, identity) = match &part.server {
        Ok(server) => server,
        Err(missing) => {
            watch(Event::Missing(missing));
            return part;
        }
    };
    let mut jobs = jobs(plan, &part.selection);
    jobs.retain(|job| layout.has(plan, place, job.contract.id, job.variant));
    watch(Event::Ready { label: &label, provider: endpoint.provider, identity, cases: jobs.len() });
    let target = Target { engine: selection.engine, endpoint: endpoint.clone() };
    if !plan.controls && !interrupt.was_asked() {
        part.probes = probe(&target).await;
        if plan.matrix == Matrix::Full {
            part.facts = facts::measure(&target).await;
        }
    }
    let lost = AtomicU32::new(0);
    let run_one = async |(number, job): (usize, Job)| {
        let result = one_case(selection, &target, &job, &lost, interrupt, &label, watch).await;
        result.map(|result| (number, job, result))
    };
    let mut queue: Vec<_> = jobs.into_iter().enumerate().collect();
    // Those that wait for the engine's own clock take longest: they begin first, so that no run ends
    // with one of them alone.
    queue.sort_by_key(|(_, job)| job.variant.clock == Clock::Logical);
    let running = stream::iter(queue).map(run_one);
    let at_once = plan.jobs.map_or(default_jobs(selection), NonZeroUsize::get);
    let ended = running.buffer_unordered(at_once).filter_map(async |result| result);
    let mut ended: Vec<_> = ended.collect().await;
    // In the order of the registry, whichever ended first, so that reports do not vary.
    ended.sort_by_key(|(number, _, _)| *number);
    part.cases = ended.into_iter().map(|(_, job, result)| (job, result)).collect();
    part
}

/// How many cases run at once where nobody says: more on an embedded engine, whose stores share nothing
/// but the disk.
fn default_jobs(selection: &Selection) -> usize {
    match selection.engine.server() {
        Some(_) => 4,
        None => 8,
    }
}

/// Runs one case, or `None` when the run was interrupted before it began.
async fn one_case(
    selection: &Selection,
    target: &Target,
    job: &Job,
    lost: &AtomicU32,
    interrupt: &Interrupt,
    label: &str,
    watch: Watch<'_>,
) -> Option<CaseResult> {
    if interrupt.was_asked() {
        return None;
    }
    watch(Event::Started { label, job });
    let Job { contract, variant, control, seed } = *job;
    // A server that has stopped answering would let every case run into its bound.
    let mut result = match lost.load(Ordering::SeqCst) >= LOST {
        true => gone(),
        false => {
            let asked = interrupt.asked();
            runner::run_until(contract, target, variant, seed, control, asked).await
        }
    };
    if result.outcome == Outcome::Errored && lost.load(Ordering::SeqCst) < LOST {
        match selection.engine.identify(&target.endpoint).await {
            Ok(_) => lost.store(0, Ordering::SeqCst),
            Err(_) => _ = lost.fetch_add(1, Ordering::SeqCst),
        }
    }
    watch(Event::Finished { label, job, result: &result });
    if result.outcome == Outcome::Kept {
        // Nobody reads the history of a kept case, and a thousand repetitions would pile up.
        result.recorder = Recorder::default();
    }
    Some(result)
}

/// How often a server must be found gone after an errored case before the rest is not tried.
const LOST: u32 = 2;

/// What is said of a case that was not tried because its server is gone.
fn gone() -> CaseResult {
    CaseResult {
        outcome: Outcome::Errored,
        detail: "the server no longer answers; this case was not tried".to_owned(),
        evidence: Vec::new(),
        observations: BTreeMap::new(),
        duration: Duration::ZERO,
        recorder: Recorder::default(),
    }
}

async fn ready(
    selection: &Selection,
    options: &ProvideOptions,
    interrupt: &Interrupt,
    watch: Watch<'_>,
) -> Result<(Endpoint, Identity), Missing> {
    let missing = |reason: String, remedy: &str| Missing {
        label: selection.label(),
        attempts: vec![leaseproof_engines::servers::Attempt {
            provider: ProviderKind::Container,
            reason,
            remedy: remedy.to_owned(),
        }],
    };
    let progress = |step: Progress| watch(Event::Providing(&step));
    let endpoint = tokio::select! {
        provided = provide(selection, options, &progress) => provided?,
        () = interrupt.asked() => return Err(missing("interrupted".to_owned(), "")),
    };
    match selection.engine.identify(&endpoint).await {
        Ok(identity) => Ok((endpoint, identity)),
        Err(error) => Err(missing(error.to_string(), "run `leaseproof doctor`")),
    }
}

/// The cases of one engine, in registry order, all repetitions of a case together.
fn jobs(plan: &Plan, selection: &Selection) -> Vec<Job> {
    let mut jobs = Vec::new();
    for contract in &plan.contracts {
        let controls: Vec<Option<&'static Control>> = match plan.controls {
            false => vec![None],
            true => {
                let concerned =
                    |control: &&'static Control| control.concerns(selection.engine.capabilities());
                contract.controls.iter().filter(concerned).map(Some).collect()
            }
        };
        for control in controls {
            for variant in Variant::of(contract, selection.engine, plan.matrix) {
                for repetition in 0..plan.repeat {
                    let seed =
                        case_seed(plan.seed, contract.id, &selection.label(), variant, repetition);
                    jobs.push(Job { contract, variant, control, seed });
                }
            }
        }
    }
    jobs
}

/// A case's own seed: the same for the same run seed, whatever else is selected.
fn case_seed(seed: u64, contract: &str, label: &str, variant: Variant, repetition: u32) -> u64 {
    if repetition == 0 {
        // The first repetition runs with the seed itself, so that `--seed` alone repeats a case.
        return seed;
    }
    derive(seed, &[contract, label, &variant.label(), &repetition.to_string()])
}
