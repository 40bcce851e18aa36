//! The parts of a run of benches, joined.

use std::collections::{BTreeMap, BTreeSet};

use super::{Refused, Server, all_same, whole_command};
use crate::{
    Partial,
    bench::{BenchCell, BenchEngine, BenchRun, BenchShard, Conditions, SEVERAL},
};

/// One part, and what to call it in a message: the path that it was read from.
#[derive(Clone, Debug)]
pub struct BenchInput {
    /// The name.
    pub name: String,
    /// The part.
    pub run: BenchRun,
}

/// Joins the parts of one run of benches into a run with the id `id`.
///
/// The result is the run in one piece, but for ids, times and the machine, which is that of the first
/// part. With `partial`, parts may be absent or interrupted; then the run is marked.
///
/// # Errors
/// [`Refused`], with the names of the inputs that do not fit.
pub fn merge_bench(inputs: &[BenchInput], id: &str, partial: bool) -> Result<BenchRun, Refused> {
    let mut parts = inputs.iter().map(part).collect::<Result<Vec<_>, Refused>>()?;
    parts.sort_by_key(|(_, shard)| shard.index);
    let Some((first, shard)) = parts.first().copied() else { return Err(Refused::Nothing) };
    for (other, _) in &parts[1..] {
        same_run(first, other)?;
    }
    for pair in parts.windows(2) {
        if pair[0].1.index == pair[1].1.index {
            let [one, other] = [pair[0].0, pair[1].0].map(|input| input.name.clone());
            return Err(Refused::Doubled { index: pair[0].1.index, one, other });
        }
    }
    let present: BTreeSet<u32> = parts.iter().map(|(_, shard)| shard.index).collect();
    let absent = (1..=shard.count).filter(|index| !present.contains(index));
    let missing: Vec<u32> = absent.take(Refused::NAMED).collect();
    let count = shard.count;
    if !missing.is_empty() && !partial {
        let number = (count as usize).saturating_sub(present.len());
        return Err(Refused::Missing { missing, number, count });
    }
    let interrupted = parts.iter().find(|(input, _)| input.run.left > 0 && !partial);
    if let Some((input, _)) = interrupted {
        return Err(Refused::Unmeasured { name: input.name.clone(), left: input.run.left });
    }
    let run = |input: &BenchInput| input.run.duration_ms;
    Ok(BenchRun {
        id: id.to_owned(),
        started: inputs.iter().map(|input| input.run.started).min().unwrap_or(first.run.started),
        duration_ms: inputs.iter().map(run).max().unwrap_or(0),
        command: whole_command(&first.run.command),
        conditions: conditions(&parts),
        engines: engines(&parts)?,
        cells: cells(&parts)?,
        shard: None,
        left: inputs.iter().map(|input| input.run.left).sum(),
        partial: (!missing.is_empty()).then_some(Partial { count, missing }),
        ..first.run.clone()
    })
}

fn part(input: &BenchInput) -> Result<(&BenchInput, &BenchShard), Refused> {
    match &input.run.shard {
        Some(shard) => Ok((input, shard)),
        None => Err(Refused::NotAShard { name: input.name.clone() }),
    }
}

/// Goes on when two parts were asked for in the same way.
fn same_run(one: &BenchInput, other: &BenchInput) -> Result<(), Refused> {
    let asked = |input: &BenchInput| {
        let run = &input.run;
        let shard = run.shard.clone().unwrap_or_default();
        [
            ("the schema", run.schema.clone()),
            ("the tool", format!("{} {}", run.tool.name, run.tool.version)),
            ("the seed", run.seed.to_string()),
            ("the profile", run.profile.clone()),
            ("the number of shards", shard.count.to_string()),
            ("the number of cells", shard.total.to_string()),
        ]
    };
    all_same([&one.name, &other.name], [asked(one), asked(other)])
}

/// The machine of the first part; where another part was measured on another one it says so, and nobody
/// takes the run for one that was measured on one machine.
fn conditions(parts: &[(&BenchInput, &BenchShard)]) -> Conditions {
    let first = &parts[0].0.run;
    let facts = |run: &BenchRun| {
        let conditions = &run.conditions;
        (
            conditions.cpu.clone(),
            conditions.file_system.clone(),
            run.host.kernel.clone(),
            run.host.cpus,
        )
    };
    let mut conditions = first.conditions.clone();
    let others = parts.iter().map(|(input, _)| &input.run);
    if let Some(other) = others.into_iter().find(|run| facts(run) != facts(first)) {
        conditions.cpu = format!("{}{SEVERAL}{}", conditions.cpu, other.conditions.cpu);
    }
    conditions
}

/// The engines of all parts, each once, in the order of the cells.
fn engines(parts: &[(&BenchInput, &BenchShard)]) -> Result<Vec<BenchEngine>, Refused> {
    let mut first: BTreeMap<&str, (u32, &BenchEngine)> = BTreeMap::new();
    let mut names: BTreeMap<&str, &str> = BTreeMap::new();
    for (input, shard) in parts {
        for engine in &input.run.engines {
            let of_engine = input.run.cells.iter().zip(&shard.cells);
            let place = of_engine.filter(|(cell, _)| cell.engine == engine.name);
            let place = place.map(|(_, place)| *place).min().unwrap_or(u32::MAX);
            let known = first.entry(&engine.name).or_insert((place, engine));
            known.0 = known.0.min(place);
            let name = names.entry(&engine.name).or_insert(&input.name);
            Server::same([name, &input.name], [known.1, engine].map(server))?;
        }
    }
    let mut engines: Vec<_> = first.into_values().collect();
    engines.sort_by_key(|(place, _)| *place);
    Ok(engines.into_iter().map(|(_, engine)| engine.clone()).collect())
}

fn server(engine: &BenchEngine) -> Server<'_> {
    let BenchEngine { name, version, isolation, durability, settings, .. } = engine;
    Server { label: name, version, isolation, durability, settings }
}

/// The cells of all parts, at their places.
fn cells(parts: &[(&BenchInput, &BenchShard)]) -> Result<Vec<BenchCell>, Refused> {
    let mut places: BTreeMap<u32, (&str, &BenchCell)> = BTreeMap::new();
    for (input, shard) in parts {
        for (place, cell) in shard.cells.iter().zip(&input.run.cells) {
            if let Some((earlier, _)) = places.insert(*place, (&input.name, cell)) {
                let [one, other] = [earlier, &input.name].map(str::to_owned);
                return Err(Refused::Overlap { case: cell.key(), one, other });
            }
        }
    }
    Ok(places.into_values().map(|(_, cell)| cell.clone()).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample;

    /// A run, cut at every second cell.
    fn parts() -> (BenchRun, Vec<BenchInput>) {
        let mut whole = sample::bench();
        whole.command = ["leaseproof", "bench"].map(str::to_owned).to_vec();
        let total = u32::try_from(whole.cells.len()).unwrap();
        let part = |index: u32| {
            let places: Vec<u32> = (0..total).filter(|place| place % 2 == index - 1).collect();
            let mut run = whole.clone();
            run.cells = places.iter().map(|place| whole.cells[*place as usize].clone()).collect();
            run.command.extend(["--shard".to_owned(), format!("{index}/2")]);
            run.shard = Some(BenchShard { index, count: 2, total, cells: places });
            BenchInput { name: format!("part {index}"), run }
        };
        let parts = vec![part(2), part(1)];
        (whole, parts)
    }

    #[test]
    fn the_parts_are_the_whole() {
        let (whole, parts) = parts();
        assert_eq!(merge_bench(&parts, &whole.id, false).unwrap(), whole);
    }

    #[test]
    fn parts_that_do_not_fit_are_refused() {
        let (whole, parts) = parts();
        let refused = |inputs: &[BenchInput]| merge_bench(inputs, "x", false).unwrap_err();
        assert!(matches!(refused(&parts[..1]), Refused::Missing { .. }));
        let partial = merge_bench(&parts[..1], "x", true).unwrap();
        assert_eq!(partial.partial.as_ref().unwrap().missing, [1]);
        assert!(partial.verdict().contains("partial"), "{}", partial.verdict());
        let twice = [parts[0].clone(), parts[0].clone()];
        assert!(matches!(refused(&twice), Refused::Doubled { .. }));
        let mut other = parts.clone();
        other[1].run.seed += 1;
        assert!(refused(&other).to_string().contains("the seed"));
        let alone = BenchInput { name: "whole".to_owned(), run: whole };
        assert!(matches!(refused(&[alone]), Refused::NotAShard { .. }));
    }
}
