//! The joining of parts, on runs that were split by hand.

use super::{Input, Refused, merge};
use crate::{EngineStatus, Listed, Outcome, Run, Shard, Summary, sample};

/// The whole run and its parts: the case at place `p` is in part `p % count + 1`.
fn split(count: u32) -> (Run, Vec<Input>) {
    let mut whole = sample::kept();
    whole.cases[5].outcome = Outcome::Broken;
    whole.cases[5].replay = Some("leaseproof replay whole 'x'".to_owned());
    whole.summary = Summary::of(&whole.cases, &whole.engines);
    let parts = (1..=count).map(|index| {
        let mut run = whole.clone();
        run.id = format!("part-{index}");
        run.command.push(format!("--shard={index}/{count}"));
        let mine = |place: &u32| place % count + 1 == index;
        let cases: Vec<u32> = (0..12).filter(mine).collect();
        run.cases = cases.iter().map(|place| whole.cases[*place as usize].clone()).collect();
        run.summary = Summary::of(&run.cases, &run.engines);
        let (engines, planned) = ((0..4).collect(), cases.len() as u32);
        let listed = Vec::new();
        run.shard = Some(Shard { index, count, total: 12, planned, engines, cases, listed });
        run.validate().unwrap();
        Input { name: run.id.clone(), run }
    });
    let parts = parts.collect();
    (whole, parts)
}

fn shard(input: &mut Input) -> &mut Shard {
    input.run.shard.as_mut().unwrap()
}

#[test]
fn the_joined_parts_are_the_whole() {
    let (mut whole, mut parts) = split(5);
    parts.reverse();
    let joined = merge(&parts, "joined", false).unwrap();
    joined.validate().unwrap();
    whole.id = "joined".to_owned();
    whole.cases[5].replay = Some(format!("leaseproof replay joined '{}'", whole.cases[5].key()));
    whole.seal();
    assert_eq!(joined, whole);
}

#[test]
fn a_missing_part_is_named_and_a_run_without_it_is_marked() {
    let (_, mut parts) = split(3);
    parts.remove(1);
    let refused = merge(&parts, "joined", false).unwrap_err();
    assert_eq!(refused.to_string(), "shard 2 of 3 is missing");
    let joined = merge(&parts, "joined", true).unwrap();
    assert_eq!(joined.partial.as_ref().unwrap().missing, [2]);
    assert!(
        joined.verdict().ends_with("; partial: shard 2 of 3 is missing"),
        "{}",
        joined.verdict()
    );
    let (_, mut parts) = split(3);
    for part in &mut parts {
        shard(part).count = 4_000_000_000;
    }
    let refused = merge(&parts, "joined", false).unwrap_err().to_string();
    assert!(refused.contains(" more of 4000000000 are missing"), "{refused}");
    assert!(matches!(merge(&[], "joined", false), Err(Refused::Nothing)));
}

#[test]
fn what_is_not_of_one_run_is_refused() {
    let refused = |change: fn(&mut Vec<Input>), words: &str| {
        let (_, mut parts) = split(3);
        change(&mut parts);
        let refused = merge(&parts, "joined", false).unwrap_err().to_string();
        assert!(refused.contains(words), "{refused}");
    };
    refused(|parts| parts[1].run.seed = 8, "the seed is `7` in `part-1` and `8` in `part-2`");
    refused(|parts| parts[2].run.matrix_name = "full".to_owned(), "the matrix is `default`");
    refused(|parts| parts[2].run.repeat = 5, "the repeat");
    refused(|parts| parts[2].run.tool.version = "9".to_owned(), "the tool is `leaseproof 0.1.0`");
    refused(|parts| parts[2].run.schema = "1.9".to_owned(), "the schema");
    refused(|parts| _ = parts[2].run.contracts.pop(), "the selection of contracts");
    refused(|parts| shard(&mut parts[2]).total = 13, "the number of cases");
    refused(
        |parts| parts[2].run.engines[0].version = "PostgreSQL 17".to_owned(),
        "the version of postgres:18 is `PostgreSQL 18.1` in `part-1`",
    );
    refused(
        |parts| _ = parts[2].run.engines[1].durability.insert("fsync".to_owned(), "off".to_owned()),
        "the durability of mysql:9.7",
    );
    refused(|parts| parts[1].run.engines[0].label = "x".to_owned(), "an engine is");
    refused(
        |parts| {
            let again = parts[1].clone();
            parts.push(again);
        },
        "shard 2 was given twice: `part-2` and `part-2`",
    );
    refused(|parts| parts[1].run.shard = None, "`part-2` is no shard");
    refused(|parts| shard(&mut parts[1]).cases[0] = 0, "is in `part-1` and in `part-2`");
    refused(
        |parts| shard(&mut parts[0]).planned = 5,
        "`part-1` was interrupted: it ran 4 of its 5",
    );
}

#[test]
fn known_failures_are_judged_on_the_whole() {
    let (_, mut parts) = split(2);
    let entry = |kept: &[usize], failing: &[usize]| {
        let (whole, _) = split(2);
        let keys = |places: &[usize]| places.iter().map(|at| whole.cases[*at].key()).collect();
        let (entry, reason) = ("claim/*".to_owned(), "it is known".to_owned());
        vec![Listed { number: 3, entry, reason, kept: keys(kept), failing: keys(failing) }]
    };
    shard(&mut parts[0]).listed = entry(&[2, 4], &[]);
    shard(&mut parts[1]).listed = entry(&[3], &[5]);
    assert_eq!(merge(&parts, "joined", false).unwrap().rotten, []);
    shard(&mut parts[1]).listed = entry(&[3], &[]);
    let joined = merge(&parts, "joined", false).unwrap();
    joined.validate().unwrap();
    let kept: Vec<String> = joined.cases[2..5].iter().map(crate::Case::key).collect();
    assert_eq!(joined.rotten[0].kept, kept);
    parts.pop();
    assert_eq!(merge(&parts, "joined", true).unwrap().rotten, []);
}

#[test]
fn an_engine_that_was_missing_once_is_missing() {
    let (_, mut parts) = split(2);
    let engine = &mut parts[1].run.engines[1];
    (engine.status, engine.reason) = (EngineStatus::Missing, Some("no image".to_owned()));
    engine.version.clear();
    let joined = merge(&parts, "joined", false).unwrap();
    assert!(joined.engines[1].is_missing());
    assert_eq!(joined.engines[1].reason.as_deref(), Some("in shard 2 of 2: no image"));
    assert_eq!(joined.engines[1].version, "9.7.0");
}
