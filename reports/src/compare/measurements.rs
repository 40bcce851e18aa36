//! What became of each metric of each cell, judged as one family.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use super::{
    Incomparable, Verdict,
    circumstances::{clients, providers, setup},
    engines::{Named, pairs},
    judge::{Gate, Judgement, judge},
    pairing::{Basis, is_turn_about},
    plans::{self, PlanChange},
};
use crate::{
    bench::{BenchCell, BenchRun, Metric, Nature, Observed},
    stats::{Difference, Estimate, holm},
};

/// How the measurements of two runs compare.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Measurements {
    /// How great a change must be to matter.
    pub gate: Gate,
    /// In how many groups both were measured turn about; absent when each was measured alone.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub groups: Option<usize>,
    /// How many cells are results in both runs.
    pub compared: usize,
    /// Statements that are executed differently.
    pub plans: Vec<PlanChange>,
    /// Cells that have no counterpart, or are no result.
    pub cells: Vec<CellChange>,
    /// Every metric of the cells that were compared, those that weigh most first.
    pub metrics: Vec<MetricChange>,
}

/// A cell that could not be compared.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct CellChange {
    /// The key of the cell.
    pub cell: String,
    /// What became of it, in words.
    pub change: String,
    /// What it does to the verdict.
    pub weighs: Verdict,
}

/// One metric of one cell in both runs.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct MetricChange {
    /// The key of the cell.
    pub cell: String,
    /// The name of the metric.
    pub metric: String,
    /// What can be said.
    pub judgement: Judgement,
    /// Why nothing can be said; empty when something can.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub reason: String,
    /// The mean in the base.
    pub base: Option<f64>,
    /// The mean in the head.
    pub head: Option<f64>,
    /// The numbers behind the judgement; absent when one side has none.
    #[serde(flatten, skip_serializing_if = "Option::is_none")]
    pub values: Option<Values>,
}

/// The numbers behind a judgement.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Values {
    /// The head divided by the base; absent when the base is 0.
    pub ratio: Option<f64>,
    /// The 95 % interval of the ratio.
    pub interval: Option<(f64, f64)>,
    /// The probability of so great a difference between equals, corrected for the family where the
    /// metric is judged.
    pub p: Option<f64>,
    /// The smallest change that these repeats would show, as a share.
    pub detectable: Option<f64>,
    /// How much the same thing differed from itself, as a share; of counted work it is not asked.
    pub floor: Option<f64>,
}

impl Measurements {
    /// What the changes amount to.
    #[must_use]
    pub fn verdict(&self) -> Verdict {
        let cells = self.cells.iter().map(|cell| cell.weighs);
        let metrics = self.metrics.iter().map(|metric| match metric.judgement {
            Judgement::Worse => Verdict::Worse,
            Judgement::Inconclusive => Verdict::Inconclusive,
            _ => Verdict::Fine,
        });
        let judged = self.metrics.len() > self.count(Judgement::Shown);
        let known = if judged { Verdict::Fine } else { Verdict::Inconclusive };
        cells.chain(metrics).fold(known, Verdict::max)
    }

    /// How many metrics were judged so.
    #[must_use]
    pub fn count(&self, judgement: Judgement) -> usize {
        self.metrics.iter().filter(|metric| metric.judgement == judgement).count()
    }
}

/// Why times of an engine cannot be judged, or anything of it.
#[derive(Default)]
struct Limits {
    /// Nothing of the engine can be.
    all: Option<String>,
    /// Only counted work can be.
    wall_clock: Option<String>,
}

/// A metric of a cell that is in both runs, before the family is known.
struct Pair {
    change: MetricChange,
    kind: Metric,
    /// How great a change of it counts.
    share: f64,
    /// Whether more is in it than the work of the cell.
    housekeeping: bool,
    difference: Option<Difference>,
    floor: Option<f64>,
}

pub(super) fn compare(
    base: &BenchRun,
    head: &BenchRun,
    gate: Gate,
    notes: &mut Vec<String>,
) -> Result<Measurements, Incomparable> {
    if base.profile != head.profile {
        let (base, head) = (base.profile.clone(), head.profile.clone());
        return Err(Incomparable::Profiles { base, head });
    }
    let engines = pairs(&named(base), &named(head))?;
    let clients = clients(base, head);
    let turn_about = is_turn_about(base, head);
    if let Some(reason) = &clients {
        notes.push(format!("{reason}; times are not judged"));
    }
    let mut limits: BTreeMap<&str, Limits> = BTreeMap::new();
    let mut plans = Vec::new();
    for (before, after) in &engines {
        let mut all = setup(base, head, [before, after], notes);
        plans.extend(plans::changes(base.engine(before), head.engine(after)));
        if turn_about {
            // What a version sets up differently is part of the upgrade that is judged.
            notes.extend(all.take());
        }
        let provider = providers(base, head, [before, after]);
        if let Some(reason) = &provider {
            notes.push(format!("{reason}; its times are not judged"));
        }
        limits.insert(before, Limits { all, wall_clock: clients.clone().or(provider) });
    }
    let mut measured = BTreeSet::new();
    let mut basis = Basis::new(base, head, &engines);
    let mut rest: BTreeMap<String, &BenchCell> =
        head.cells.iter().map(|cell| (cell.key(), cell)).collect();
    let (mut compared, mut cells, mut family) = (0, Vec::new(), Vec::new());
    for before in &base.cells {
        let after = rest.remove(&before.key_on(basis.in_head(&before.engine)));
        match (results(before, after), limits.get(before.engine.as_str())) {
            (Err(change), _) => cells.push(change),
            (Ok(_), Some(Limits { all: Some(reason), .. })) => {
                let change = format!("not comparable: {reason}");
                cells.push(cell_change(before, change, Verdict::Inconclusive));
            }
            (Ok(after), limits) => {
                compared += 1;
                measured.insert(before.engine.as_str());
                let wall_clock = limits.and_then(|limits| limits.wall_clock.as_deref());
                family.extend(metrics([before, after], gate, wall_clock, &mut basis));
            }
        }
    }
    let rest = head.cells.iter().filter(|cell| rest.contains_key(&cell.key()));
    cells.extend(rest.map(appeared));
    cells.extend(silent(&measured, &family));
    let groups = turn_about.then(|| groups(base));
    if let Some(few) = groups.filter(|groups| *groups < FEW_GROUPS) {
        notes.push(format!("{few} groups seldom decide on a time; take {FEW_GROUPS} or more"));
    }
    let found = Measurements { gate, groups, compared, plans, cells, metrics: judged(family) };
    if found.metrics.len() == found.count(Judgement::Shown) {
        notes.push("no metric of both runs could be judged".to_owned());
    }
    Ok(found)
}

/// What the measurements of a head amount to that has nothing beside it.
pub(super) fn alone(head: &BenchRun) -> Verdict {
    match head.cells.iter().any(|cell| cell.violated().is_some()) {
        true => Verdict::Worse,
        false => Verdict::Inconclusive,
    }
}

fn named(run: &BenchRun) -> Vec<Named<'_>> {
    let engines = run.engines.iter().map(|engine| {
        // What is measured is named like a selection: `postgres:18` is a version of `postgres`.
        let name = engine.name.split_once(':').map_or(engine.name.as_str(), |(name, _)| name);
        Named { label: &engine.name, name }
    });
    engines.collect()
}

/// Of the engines of which cells were compared, those of which nothing was judged: nothing is known of
/// them.
fn silent(engines: &BTreeSet<&str>, family: &[Pair]) -> Vec<CellChange> {
    let is_judged = |name: &&str| {
        let prefix = format!("{name}/");
        let mut own = family.iter().filter(|pair| pair.change.cell.starts_with(&prefix));
        own.any(|pair| pair.change.judgement != Judgement::Shown)
    };
    let change = |name: &&str| CellChange {
        cell: (*name).to_owned(),
        change: "no metric of it could be judged".to_owned(),
        weighs: Verdict::Inconclusive,
    };
    engines.iter().filter(|name| !is_judged(name)).map(change).collect()
}

/// The cell of the head, when both are results.
fn results<'run>(
    before: &BenchCell,
    after: Option<&'run BenchCell>,
) -> Result<&'run BenchCell, CellChange> {
    let change = |change: String, weighs| Err(cell_change(before, change, weighs));
    let Some(after) = after else {
        return change("vanished".to_owned(), Verdict::Inconclusive);
    };
    // What the engine did outweighs what could not be measured of it.
    let unmeasured = before.unmeasured().or(after.unmeasured());
    match (before.violated(), after.violated(), unmeasured) {
        (None, Some(violation), _) => change(format!("violated: {violation}"), Verdict::Worse),
        (Some(_), Some(violation), _) => {
            change(format!("still violated: {violation}"), Verdict::Fine)
        }
        (_, None, Some(reason)) => change(reason.to_owned(), Verdict::Inconclusive),
        (Some(_), None, None) => change("no longer violated".to_owned(), Verdict::Fine),
        (None, None, None) if before.repeats.is_empty() || after.repeats.is_empty() => {
            change("without repeats on one side".to_owned(), Verdict::Inconclusive)
        }
        (None, None, None) => Ok(after),
    }
}

/// A cell that only the head has.
fn appeared(cell: &BenchCell) -> CellChange {
    match (cell.violated(), cell.unmeasured()) {
        (Some(violation), _) => {
            cell_change(cell, format!("appeared violated: {violation}"), Verdict::Worse)
        }
        (None, Some(reason)) => cell_change(cell, reason.to_owned(), Verdict::Inconclusive),
        (None, None) => cell_change(cell, "appeared".to_owned(), Verdict::Fine),
    }
}

fn cell_change(cell: &BenchCell, change: String, weighs: Verdict) -> CellChange {
    CellChange { cell: cell.key(), change, weighs }
}

fn metrics(
    [before, after]: [&BenchCell; 2],
    gate: Gate,
    wall_clock: Option<&str>,
    basis: &mut Basis<'_>,
) -> Vec<Pair> {
    let contended = [before, after].iter().any(|cell| cell.workers().is_some_and(|all| all > 1));
    let (ours, mut theirs) = (before.metrics(), after.metrics());
    let counts_claims = ours.contains_key("claims_per_s");
    let mut found = Vec::new();
    for (name, base) in ours {
        let kind = Metric::of(&name);
        let head = theirs.remove(&name);
        if matches!(base, Observed::NotObservable(_)) {
            continue;
        }
        let mean =
            |observed: &Observed| observed.estimate().map(|estimate: Estimate| estimate.mean);
        let both = head.as_ref().map(|head| [&base, head]);
        let difference = both.and_then(|both| basis.difference([before, after], &name, both));
        let floor = basis.floor(kind, &before.engine, &name);
        let housekeeping = basis.has_housekeeping(&before.engine, &name);
        let share = gate.of(kind, contended || housekeeping);
        let thin = kind.nature == Nature::Tail && is_thin(&name, [before, after]);
        let (judgement, reason) = match share {
            None => (Judgement::Shown, String::new()),
            Some(_) if thin => (Judgement::Shown, THIN.to_owned()),
            // Two judgements of one change would only make the family of all tests larger.
            Some(_) if counts_claims && name == "rows_per_s" => {
                (Judgement::Shown, "it follows from the claims".to_owned())
            }
            Some(_) => (Judgement::Inconclusive, unjudged(head.as_ref(), kind, wall_clock)),
        };
        let change = MetricChange {
            cell: before.key(),
            judgement,
            reason,
            base: mean(&base),
            head: head.as_ref().and_then(mean),
            values: difference.map(|difference| Values {
                ratio: difference.ratio,
                interval: difference.interval,
                p: difference.p,
                detectable: difference.detectable,
                floor,
            }),
            metric: name.clone(),
        };
        let share = share.unwrap_or_default();
        found.push(Pair { change, kind, share, housekeeping, difference, floor });
    }
    found
}

/// Why a metric that gates cannot be judged before its numbers are looked at; empty when it can.
fn unjudged(head: Option<&Observed>, kind: Metric, wall_clock: Option<&str>) -> String {
    match head {
        None => "it was not measured in the head".to_owned(),
        Some(Observed::NotObservable(reason)) => format!("not observable in the head: {reason}"),
        Some(Observed::Values(_)) if kind.nature == Nature::Counter => String::new(),
        Some(Observed::Values(_)) => wall_clock.unwrap_or_default().to_owned(),
    }
}

/// Fewer groups than this seldom show a change of a tenth.
const FEW_GROUPS: usize = 10;
/// A percentile of fewer operations than this rests on a handful of them.
const TAIL_OPERATIONS: u64 = 1000;
const THIN: &str = "fewer than 1,000 operations in a repeat";

/// Whether a percentile rests on too few operations to be judged.
fn is_thin(metric: &str, cells: [&BenchCell; 2]) -> bool {
    let fewest = cells.iter().filter_map(|cell| cell.fewest_behind(metric)).min();
    fewest.is_some_and(|fewest| fewest < TAIL_OPERATIONS)
}

/// In how many groups a run was measured.
fn groups(run: &BenchRun) -> usize {
    let repeats = run.cells.iter().flat_map(|cell| &cell.repeats);
    let groups: BTreeSet<u32> = repeats.filter_map(|repeat| repeat.group).collect();
    groups.len()
}

/// Corrects the probabilities of all that is judged, and judges it.
fn judged(mut family: Vec<Pair>) -> Vec<MetricChange> {
    let is_judged =
        |pair: &Pair| pair.change.judgement != Judgement::Shown && pair.change.reason.is_empty();
    let members: Vec<usize> =
        (0..family.len()).filter(|place| is_judged(&family[*place])).collect();
    let p = |place: &usize| family[*place].difference.and_then(|difference| difference.p);
    let known: Vec<usize> = members.iter().copied().filter(|place| p(place).is_some()).collect();
    let raw: Vec<f64> = known.iter().filter_map(p).collect();
    let corrected: BTreeMap<usize, f64> = known.into_iter().zip(holm(&raw)).collect();
    for place in members {
        let pair = &mut family[place];
        let Some(difference) = pair.difference else {
            pair.change.reason = "no group has it on both sides".to_owned();
            continue;
        };
        let p = corrected.get(&place).copied();
        let (judgement, reason) = match pair.kind.nature {
            Nature::Throughput
                if pair.change.base == Some(0.0) && pair.change.head == Some(0.0) =>
            {
                (Judgement::Inconclusive, "there was nothing in either run".to_owned())
            }
            _ => judge(pair.kind, &difference, p, pair.share, pair.floor),
        };
        (pair.change.judgement, pair.change.reason) = match judgement {
            // What somebody else's work hides cannot fail a comparison; what it cannot hide does.
            Judgement::Inconclusive if pair.housekeeping => {
                (Judgement::Shown, "the server's housekeeping is in it".to_owned())
            }
            judgement => (judgement, reason),
        };
        if let Some(values) = &mut pair.change.values {
            values.p = p;
        }
    }
    // Metrics of equal weight keep the order of the run, and so those of a cell are together.
    family.sort_by_key(|pair| pair.change.judgement);
    family.into_iter().map(|pair| pair.change).collect()
}
