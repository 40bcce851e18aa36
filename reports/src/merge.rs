//! The parts of a run that was split, joined into the run that it would have been in one piece.
//!
//! Invariants: pure; parts of different runs are refused, never mixed; a part that is absent is named,
//! and a run without it is marked; what only the whole can judge is judged here.

mod bench;
mod engines;
mod refused;

use std::collections::{BTreeMap, BTreeSet};

pub use bench::{BenchInput, merge_bench};
pub use refused::Refused;

use crate::{Case, Listed, Partial, Run, Shard, Summary};

/// One part, and what to call it in a message: the path that it was read from.
#[derive(Clone, Debug)]
pub struct Input {
    /// The name.
    pub name: String,
    /// The part.
    pub run: Run,
}

/// An input that is a part of a run.
#[derive(Clone, Copy)]
struct Part<'input> {
    name: &'input str,
    run: &'input Run,
    shard: &'input Shard,
}

/// Joins the parts of one run into a run with the id `id`, sealed.
///
/// The result is the run in one piece, but for ids and times: it began with the first part and ended
/// with the last, on the host of the first part. Histories keep the paths that they have in their parts.
/// With `partial`, parts may be absent or interrupted; then the run is marked, and known failures are
/// not judged, because what keeps an entry true may be in what is absent.
///
/// # Errors
/// [`Refused`], with the names of the inputs that do not fit.
pub fn merge(inputs: &[Input], id: &str, partial: bool) -> Result<Run, Refused> {
    let mut parts = inputs.iter().map(part).collect::<Result<Vec<Part<'_>>, Refused>>()?;
    parts.sort_by_key(|part| part.shard.index);
    let Some(first) = parts.first().copied() else { return Err(Refused::Nothing) };
    for part in &parts[1..] {
        same_run(first, *part)?;
    }
    for pair in parts.windows(2) {
        if pair[0].shard.index == pair[1].shard.index {
            let [one, other] = [pair[0].name, pair[1].name].map(str::to_owned);
            return Err(Refused::Doubled { index: first_index(pair), one, other });
        }
    }
    let lacking = lacking(&parts, partial)?;
    let engines = engines::join(&parts)?;
    let cases = cases(&parts, id)?;
    let mut run = Run {
        id: id.to_owned(),
        started: parts.iter().map(|part| part.run.started).min().unwrap_or(first.run.started),
        duration_ms: duration_ms(&parts),
        command: whole_command(&first.run.command),
        summary: Summary::of(&cases, &engines),
        rotten: Vec::new(),
        engines,
        cases,
        shard: None,
        partial: lacking,
        ..first.run.clone()
    };
    if run.partial.is_none() {
        let listed = listed(&parts, &run.cases)?;
        run.rotten = listed.iter().filter_map(Listed::rotten).collect();
    }
    run.seal();
    Ok(run)
}

fn part(input: &Input) -> Result<Part<'_>, Refused> {
    let Input { name, run } = input;
    match &run.shard {
        Some(shard) => Ok(Part { name, run, shard }),
        None => Err(Refused::NotAShard { name: name.clone() }),
    }
}

fn first_index(parts: &[Part<'_>]) -> u32 {
    parts.first().map_or(0, |part| part.shard.index)
}

/// Goes on when two parts were asked for in the same way.
fn same_run(one: Part<'_>, other: Part<'_>) -> Result<(), Refused> {
    let contracts = |run: &Run| {
        run.contracts.iter().map(|contract| contract.id.as_str()).collect::<Vec<_>>().join(", ")
    };
    let asked = |part: Part<'_>| {
        [
            ("the schema", part.run.schema.clone()),
            ("the tool", format!("{} {}", part.run.tool.name, part.run.tool.version)),
            ("the seed", part.run.seed.to_string()),
            ("the repeat", part.run.repeat.to_string()),
            ("the matrix", part.run.matrix_name.clone()),
            ("the number of shards", part.shard.count.to_string()),
            ("the selection of contracts", contracts(part.run)),
            ("the number of cases", part.shard.total.to_string()),
        ]
    };
    all_same([one.name, other.name], [asked(one), asked(other)])
}

/// Goes on when two parts state the same, fact by fact.
fn all_same<const N: usize>(
    [one, other]: [&str; 2],
    [of_one, of_other]: [[(&str, String); N]; 2],
) -> Result<(), Refused> {
    for ((what, of_one), (_, of_other)) in of_one.into_iter().zip(of_other) {
        same(what, (one, &of_one), (other, &of_other))?;
    }
    Ok(())
}

/// What two parts must say alike of a server. The image is not compared: one that is built on each machine
/// has another digest on each.
struct Server<'run> {
    label: &'run str,
    version: &'run str,
    isolation: &'run str,
    durability: &'run BTreeMap<String, String>,
    settings: &'run BTreeMap<String, String>,
}

impl Server<'_> {
    /// Goes on when the parts `one` and `other` say the same about it.
    fn same([one, other]: [&str; 2], [of_one, of_other]: [Self; 2]) -> Result<(), Refused> {
        let [version, isolation, durability, settings] =
            ["version", "isolation level", "durability", "settings"]
                .map(|what| format!("the {what} of {}", of_one.label));
        let pairs = |map: &BTreeMap<String, String>| {
            map.iter().map(|(name, value)| format!("{name}={value}")).collect::<Vec<_>>().join(", ")
        };
        let said = |server: Self| {
            [
                (version.as_str(), server.version.to_owned()),
                (isolation.as_str(), server.isolation.to_owned()),
                (durability.as_str(), pairs(server.durability)),
                (settings.as_str(), pairs(server.settings)),
            ]
        };
        all_same([one, other], [said(of_one), said(of_other)])
    }
}

fn same(what: &str, one: (&str, &str), other: (&str, &str)) -> Result<(), Refused> {
    if one.1 == other.1 {
        return Ok(());
    }
    let [one, of_one, other, of_other] = [one.0, one.1, other.0, other.1].map(str::to_owned);
    Err(Refused::Differ { what: what.to_owned(), one, of_one, other, of_other })
}

/// The parts that are absent or were interrupted, which are refused unless `partial`.
fn lacking(parts: &[Part<'_>], partial: bool) -> Result<Option<Partial>, Refused> {
    let count = parts.first().map_or(0, |part| part.shard.count);
    let present: BTreeSet<u32> = parts.iter().map(|part| part.shard.index).collect();
    // A report may state any count, so that only a few absent parts are named and none is a list of
    // four thousand million.
    let absent: Vec<u32> =
        (1..=count).filter(|index| !present.contains(index)).take(Refused::NAMED).collect();
    let number_absent = (count as usize).saturating_sub(present.len());
    if number_absent > 0 && !partial {
        return Err(Refused::Missing { missing: absent, number: number_absent, count });
    }
    let interrupted =
        parts.iter().filter(|part| part.shard.cases.len() < part.shard.planned as usize);
    let interrupted: Vec<&Part<'_>> = interrupted.collect();
    if let (Some(part), false) = (interrupted.first(), partial) {
        let (ran, planned) = (part.shard.cases.len(), part.shard.planned);
        return Err(Refused::Interrupted { name: part.name.to_owned(), ran, planned });
    }
    let mut missing = absent;
    missing.extend(interrupted.iter().map(|part| part.shard.index));
    missing.sort_unstable();
    Ok((!missing.is_empty()).then_some(Partial { count, missing }))
}

/// The cases of all parts, at their places.
fn cases(parts: &[Part<'_>], id: &str) -> Result<Vec<Case>, Refused> {
    let mut places: BTreeMap<u32, (&str, Case)> = BTreeMap::new();
    for part in parts {
        for (place, case) in part.shard.cases.iter().zip(&part.run.cases) {
            let mut case = case.clone();
            if case.replay.is_some() {
                case.replay = Some(format!("leaseproof replay {id} '{}'", case.key()));
            }
            let key = case.key();
            if let Some((earlier, _)) = places.insert(*place, (part.name, case)) {
                let [one, other] = [earlier, part.name].map(str::to_owned);
                return Err(Refused::Overlap { case: key, one, other });
            }
        }
    }
    Ok(places.into_values().map(|(_, case)| case).collect())
}

/// The entries of the known-failures file, with what became of their cases in all parts.
fn listed(parts: &[Part<'_>], cases: &[Case]) -> Result<Vec<Listed>, Refused> {
    let mut entries: BTreeMap<u32, (&str, Listed)> = BTreeMap::new();
    for part in parts {
        for entry in &part.shard.listed {
            let empty = || {
                let (kept, failing) = (Vec::new(), Vec::new());
                (part.name, Listed { kept, failing, ..entry.clone() })
            };
            let (name, joined) = entries.entry(entry.number).or_insert_with(empty);
            same("a known failure", (name, &joined.entry), (part.name, &entry.entry))?;
            joined.kept.extend(entry.kept.iter().cloned());
            joined.failing.extend(entry.failing.iter().cloned());
        }
    }
    let places: BTreeMap<String, usize> = cases.iter().map(Case::key).zip(0..).collect();
    let mut listed: Vec<Listed> = entries.into_values().map(|(_, entry)| entry).collect();
    for entry in &mut listed {
        entry.kept.sort_by_key(|key| places.get(key));
    }
    Ok(listed)
}

fn duration_ms(parts: &[Part<'_>]) -> u64 {
    let begins = parts.iter().map(|part| part.run.started.as_millisecond());
    let ends = parts.iter().map(|part| {
        let duration = i64::try_from(part.run.duration_ms).unwrap_or(i64::MAX);
        part.run.started.as_millisecond().saturating_add(duration)
    });
    let (begin, end) = (begins.min().unwrap_or(0), ends.max().unwrap_or(0));
    u64::try_from(end.saturating_sub(begin)).unwrap_or(0)
}

/// The command that makes the whole run: that of a part without its `--shard`.
fn whole_command(command: &[String]) -> Vec<String> {
    let mut words = command.iter();
    let mut whole = Vec::new();
    while let Some(word) = words.next() {
        if word == "--shard" {
            words.next();
        } else if !word.starts_with("--shard=") {
            whole.push(word.clone());
        }
    }
    whole
}

#[cfg(test)]
mod tests;
