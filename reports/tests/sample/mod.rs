//! Runs that the tests render: one in which everything is kept, one with every outcome and with text
//! that no rendering may trust, and one of every variant.

#[allow(dead_code, reason = "not every test that has the samples uses each of them")]
mod bench;
mod full;

use std::collections::BTreeMap;

use leaseproof_reports::{
    CapabilityState, Case, ContractInfo, EngineRun, EngineStatus, Host, ImageInfo, Level, Outcome,
    Rotten, Run, SCHEMA, Summary, Tool,
};

#[allow(unused_imports, reason = "not every test that has the samples uses each of them")]
pub(crate) use bench::{bench, bench_great, bench_hostile};
pub(crate) use full::full;

/// Markdown, HTML, line breaks, an escape sequence, and characters that XML cannot hold.
const HOSTILE: &str = "row `1` | <script>alert(1)</script>\n| --- |\r\n\x1b[31mred\x1b[0m \0\x08\u{FFFF}\u{202E}]]> ![x](y)";

/// Every contract kept by four engines.
pub(crate) fn kept() -> Run {
    let engines = vec![
        engine("postgres:18", "PostgreSQL 18.1"),
        engine("mysql:9.7", "9.7.0"),
        engine("mariadb:11.8", "11.8.3-MariaDB"),
        engine("sqlite", "3.50.4"),
    ];
    let ids = ["claim/is-exclusive", "ack/owner-only", "renew/never-shortens"];
    let mut cases = Vec::new();
    for id in ids {
        for engine in &engines {
            cases.push(case(id, &engine.label, Outcome::Kept));
        }
    }
    Run {
        schema: SCHEMA.to_owned(),
        tool: Tool { name: "leaseproof".to_owned(), version: "0.1.0".to_owned() },
        id: "20300102T030405Z-a1b2c3".to_owned(),
        started: "2030-01-02T03:04:05.678Z".parse().expect("a time"),
        duration_ms: 12_345,
        command: ["leaseproof", "run", "--seed", "7"].map(str::to_owned).to_vec(),
        seed: 7,
        repeat: 1,
        matrix_name: "default".to_owned(),
        host: Host {
            os: "linux".to_owned(),
            arch: "x86_64".to_owned(),
            kernel: "6.12.0".to_owned(),
            cpus: 2,
            memory_mib: 7_936,
        },
        contracts: ids.map(contract).to_vec(),
        rotten: Vec::new(),
        shard: None,
        partial: None,
        digest: None,
        summary: Summary::of(&cases, &engines),
        engines,
        cases,
    }
}

/// Every outcome, a missing engine, repeats, variants, and hostile text wherever text can be.
pub(crate) fn hostile() -> Run {
    let mut run = kept();
    run.repeat = 50;
    run.command.push(HOSTILE.to_owned());
    run.engines[0].version = format!("PostgreSQL {HOSTILE}");
    run.engines[0].durability.insert("commit|delay".to_owned(), "<b>0</b>".to_owned());
    let mysql = &mut run.engines[1];
    mysql.status = EngineStatus::Missing;
    mysql.reason = Some("image `mysql:9.7` is not here | and <cannot> be pulled".to_owned());
    mysql.remedy = Some("`make images`".to_owned());
    for unknown in [&mut mysql.version, &mut mysql.provider, &mut mysql.isolation] {
        unknown.clear();
    }
    mysql.image = None;
    mysql.tls = None;
    mysql.durability.clear();
    mysql.capabilities.clear();
    for case in &mut run.cases {
        if case.engine == "mysql:9.7" {
            spoil(case, Outcome::Missing);
        }
    }
    let outcomes = [
        ("claim/is-exclusive/postgres:18/default", Outcome::Broken),
        ("ack/owner-only/postgres:18/default", Outcome::Inconclusive),
        ("renew/never-shortens/mariadb:11.8/default", Outcome::Errored),
        ("ack/owner-only/mariadb:11.8/default", Outcome::Missing),
        ("ack/owner-only/sqlite/default", Outcome::Skipped),
    ];
    for (key, outcome) in outcomes {
        let found = run.cases.iter_mut().find(|case| case.key() == key);
        spoil(found.expect("a sample case"), outcome);
    }
    let mut variant = case("claim/is-exclusive", "sqlite", Outcome::Kept);
    variant.variant = "skip-locked".to_owned();
    spoil(&mut variant, Outcome::Unsupported);
    run.cases.push(variant);
    spoil_what_is_beside_the_outcomes(&mut run);
    run.summary = Summary::of(&run.cases, &run.engines);
    run
}

/// One case that took 12 ms.
pub(crate) fn case(id: &str, engine: &str, outcome: Outcome) -> Case {
    Case {
        id: id.to_owned(),
        engine: engine.to_owned(),
        level: Level::Core,
        variant: "default".to_owned(),
        outcome,
        duration_ms: 12,
        detail: "one of two claims won".to_owned(),
        seed: 7,
        repeats: [(outcome, 1)].into(),
        evidence: Vec::new(),
        history: None,
        replay: None,
        known: None,
        observations: BTreeMap::new(),
    }
}

fn spoil(case: &mut Case, outcome: Outcome) {
    case.outcome = outcome;
    case.detail = format!("two claims won: {HOSTILE}");
    case.seed = 4_242;
    case.repeats = [(Outcome::Kept, 47), (outcome, 3)].into();
    case.evidence = vec!["w1 claim ok fence=1".to_owned(), format!("w2 claim ok {HOSTILE}")];
    case.history = Some("histories/claim.json".to_owned());
    case.replay = Some(format!("leaseproof replay latest '{}'", case.key()));
}

/// A known failure, an entry that is kept again, observations and a false declaration.
fn spoil_what_is_beside_the_outcomes(run: &mut Run) {
    run.matrix_name = HOSTILE.to_owned();
    let mut known = case("renew/never-shortens", "sqlite", Outcome::Kept);
    known.variant = "skip-locked repeatable-read database-clock".to_owned();
    spoil(&mut known, Outcome::Broken);
    known.known = Some(format!("it is known: {HOSTILE}"));
    for key in [Case::LOSER, HOSTILE] {
        known.observations.insert(key.to_owned(), format!("1020 {HOSTILE}"));
    }
    run.cases.push(known);
    let kept = run.cases.iter().filter(|case| case.outcome == Outcome::Kept);
    run.rotten = vec![Rotten {
        entry: format!("postgres:18 {HOSTILE}"),
        reason: HOSTILE.to_owned(),
        kept: kept.map(Case::key).collect(),
    }];
    let absent = CapabilityState::probed(true, false, HOSTILE);
    let capabilities = &mut run.engines[0].capabilities;
    capabilities.insert(format!("nowait {HOSTILE}"), absent);
}

fn engine(label: &str, version: &str) -> EngineRun {
    let (name, requested) = label.split_once(':').unwrap_or((label, "bundled"));
    let has = name != "sqlite";
    let skip_locked = CapabilityState::probed(has, has, "two sessions tried it");
    EngineRun {
        label: label.to_owned(),
        name: name.to_owned(),
        requested: requested.to_owned(),
        version: version.to_owned(),
        status: EngineStatus::Ready,
        reason: None,
        remedy: None,
        provider: "container".to_owned(),
        image: Some(ImageInfo {
            name: label.to_owned(),
            digest: "sha256:00ff".to_owned(),
            suite: None,
            packages: vec![format!("{name}={requested}")],
        }),
        isolation: "read committed".to_owned(),
        clock: "logical".to_owned(),
        tls: Some(false),
        durability: BTreeMap::from([("fsync".to_owned(), "on".to_owned())]),
        settings: BTreeMap::from([("max_connections".to_owned(), "100".to_owned())]),
        facts: Default::default(),
        capabilities: BTreeMap::from([("skip-locked".to_owned(), skip_locked)]),
    }
}

fn contract(id: &str) -> ContractInfo {
    ContractInfo {
        id: id.to_owned(),
        promise: "one worker at most holds an event".to_owned(),
        level: Level::Core,
        source: "the design of the reference statements".to_owned(),
    }
}
