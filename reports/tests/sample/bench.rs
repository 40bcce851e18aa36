//! Bench runs that the tests render: test data of plausible shape, and never a result.

use std::{collections::BTreeMap, sync::Mutex};

use hdrhistogram::{
    Histogram,
    serialization::{Serializer, V2DeflateSerializer},
};
use leaseproof_reports::{
    Host, Tool,
    bench::{
        BENCH_SCHEMA, BenchCell, BenchEngine, BenchRun, Conditions, Latency, Plan, Reading, Repeat,
    },
};

use super::HOSTILE;

/// How many repeats each cell has.
const REPEATS: u32 = 5;
/// How long each repeat lasts, in seconds.
const SECONDS: u32 = 15;

/// Claims on two engines that differ in what they show.
pub(crate) fn bench() -> BenchRun {
    bench_of(&["postgres", "sqlite"], &[1, 4, 16], &[1, 10], &["skip-locked", "for-update"])
}

/// A run of 208 cells, as the whole table of a full profile.
pub(crate) fn bench_great() -> BenchRun {
    let strategies = ["skip-locked", "for-update", "optimistic"];
    let workers = [1, 2, 4, 8, 16, 32];
    let engines = ["mariadb", "mysql", "postgres", "sqlite"];
    let mut run = bench_of(&engines, &workers, &[1, 10, 100], &strategies);
    run.cells.truncate(208);
    run
}

/// Text that no rendering may trust wherever text can be, a violation, and a cell without repeats.
pub(crate) fn bench_hostile() -> BenchRun {
    let mut run = bench();
    run.profile = HOSTILE.to_owned();
    run.command.push(HOSTILE.to_owned());
    run.host.kernel = HOSTILE.to_owned();
    run.conditions.cpu = HOSTILE.to_owned();
    run.conditions.fsyncs_per_s = None;
    let engine = &mut run.engines[0];
    for text in [&mut engine.title, &mut engine.version, &mut engine.provider] {
        text.push_str(HOSTILE);
    }
    engine.settings.insert(HOSTILE.to_owned(), HOSTILE.to_owned());
    engine.plans[0].sql = format!("SELECT '{HOSTILE}'");
    engine.plans[0].plan = HOSTILE.to_owned();
    let cell = &mut run.cells[0];
    cell.violations = vec![format!("two claims won: {HOSTILE}")];
    let cell = &mut run.cells[1];
    cell.parameters.insert(HOSTILE.to_owned(), HOSTILE.to_owned());
    for repeat in &mut cell.repeats {
        let hidden = Reading::NotObservable(HOSTILE.to_owned());
        repeat.readings.insert("waits".to_owned(), hidden);
        repeat.readings.insert(HOSTILE.to_owned(), Reading::Value(1.0));
        repeat.errors.insert(HOSTILE.to_owned(), 3);
        repeat.blockers.insert(HOSTILE.to_owned(), 3);
        let latency = repeat.latencies["claim"].clone();
        repeat
            .latencies
            .insert(HOSTILE.to_owned(), Latency { histogram: HOSTILE.into(), ..latency });
    }
    run.cells[2].repeats.clear();
    run
}

fn bench_of(engines: &[&str], workers: &[u32], batches: &[u32], strategies: &[&str]) -> BenchRun {
    let mut cells = Vec::new();
    for engine in engines {
        for strategy in strategies {
            for batch in batches {
                for workers in workers {
                    cells.push(cell(engine, strategy, *batch, *workers));
                }
            }
        }
    }
    BenchRun {
        schema: BENCH_SCHEMA.to_owned(),
        tool: Tool { name: "leaseproof".to_owned(), version: "0.1.0".to_owned() },
        id: "20300102T030405Z-b0b1b2".to_owned(),
        started: "2030-01-02T03:04:05.678Z".parse().expect("a time"),
        duration_ms: 754_321,
        command: ["leaseproof", "bench", "--seed", "7"].map(str::to_owned).to_vec(),
        seed: 7,
        profile: "quick".to_owned(),
        turn_about: None,
        shard: None,
        partial: None,
        left: 0,
        host: Host {
            os: "linux".to_owned(),
            arch: "x86_64".to_owned(),
            kernel: "6.12.0".to_owned(),
            cpus: 2,
            memory_mib: 7_936,
        },
        conditions: Conditions {
            cpu: "Sample CPU at 2.40 GHz".to_owned(),
            file_system: "ext4".to_owned(),
            fsyncs_per_s: Some(1_834.0),
            load_before: Some(0.31),
            load_after: Some(1.92),
        },
        engines: engines.iter().map(|name| engine(name)).collect(),
        cells,
    }
}

fn engine(name: &str) -> BenchEngine {
    BenchEngine {
        name: name.to_owned(),
        title: if name == "sqlite" { "SQLite" } else { "PostgreSQL" }.to_owned(),
        version: if name == "sqlite" { "3.50.4" } else { "PostgreSQL 18.1 (Debian 18.1-1)" }.to_owned(),
        provider: if name == "sqlite" { "embedded" } else { "container" }.to_owned(),
        isolation: "read committed".to_owned(),
        durability: BTreeMap::from([
            ("fsync".to_owned(), "on".to_owned()),
            ("synchronous_commit".to_owned(), "on".to_owned()),
        ]),
        settings: BTreeMap::from([("max_connections".to_owned(), "100".to_owned())]),
        housekeeping: Vec::new(),
        plans: vec![Plan {
            statement: "claim_batch_lock".to_owned(),
            sql: "SELECT id\nFROM outbox\nWHERE state = 'ready'\nORDER BY run_at\nLIMIT $1\nFOR UPDATE SKIP LOCKED".to_owned(),
            plan: "Limit\n  ->  LockRows\n        ->  Index Scan using outbox_claim on outbox".to_owned(),
            fingerprint: "Limit>LockRows>IndexScan(outbox_claim)".to_owned(),
        }],
    }
}

fn cell(engine: &str, strategy: &str, batch: u32, workers: u32) -> BenchCell {
    let parameters = [
        ("batch", batch.to_string()),
        ("strategy", strategy.to_owned()),
        ("workers", workers.to_string()),
    ];
    let repeats = (0..REPEATS).map(|number| repeat(engine, strategy, batch, workers, number));
    BenchCell {
        engine: engine.to_owned(),
        scenario: "claim-scaling".to_owned(),
        parameters: parameters.map(|(name, value)| (name.to_owned(), value)).into(),
        repeats: repeats.collect(),
        violations: Vec::new(),
    }
}

/// A deterministic wobble of a few per cent, so that intervals have a width.
fn wobble(number: u32, salt: u32) -> f64 {
    let mixed = (number * 37 + salt * 101 + 13).wrapping_mul(2_654_435_761) >> 16;
    1.0 + (f64::from(mixed % 1_000) / 1_000.0 - 0.5) * 0.12
}

fn repeat(engine: &str, strategy: &str, batch: u32, workers: u32, number: u32) -> Repeat {
    let salt = batch * 1_000 + workers;
    let flat = engine == "sqlite";
    let busy = f64::from(workers);
    let scale = if flat { 1.0 } else { busy.powf(0.8) / (1.0 + busy / 40.0) };
    let penalty = if strategy == "for-update" { 1.0 + busy / 12.0 } else { 1.0 };
    let rate = 420.0 * scale / penalty / f64::from(batch).powf(0.2) * wobble(number, salt);
    let pages = 16.0 + f64::from(batch) * 1.4 * busy.sqrt();
    let hidden = |reason: &str| Reading::NotObservable(reason.to_owned());
    let skips =
        if flat { hidden("the engine has no SKIP LOCKED") } else { Reading::Value(busy * 0.9) };
    let waits = if strategy == "for-update" { 3.1 * busy } else { 0.0 };
    let readings = [
        ("claims_per_s", Reading::Value(rate)),
        ("rows_per_s", Reading::Value(rate * f64::from(batch))),
        (
            "pages_touched_per_claim",
            if flat {
                hidden("no counter of pages is read")
            } else {
                Reading::Value(pages * (1.0 + (wobble(number, salt) - 1.0) / 20.0))
            },
        ),
        ("skipped_rows_per_claim", skips),
        ("lock_waits_per_claim", Reading::Value(waits / 10.0)),
        ("lock_wait_ms_per_claim", Reading::Value(waits * 12.0)),
        ("jain_index", Reading::Value(if flat { 1.0 / busy.sqrt() } else { 0.99 })),
        ("client_cpu_ms_per_1k_claims", Reading::Value(31.0 * wobble(number, salt + 1))),
    ];
    let per_worker = |worker: u32| {
        let share = if flat { 2.0 / f64::from(worker + 2) } else { wobble(worker, salt) };
        (rate * f64::from(SECONDS) / busy * share).max(0.0) as u64
    };
    Repeat {
        seed: 7_000 + u64::from(number),
        order: number * 24 + workers,
        group: None,
        seconds: f64::from(SECONDS),
        readings: readings.map(|(name, reading)| (name.to_owned(), reading)).into(),
        series: (0..SECONDS)
            .map(|second| {
                (rate * wobble(second, salt + number) * (1.0 - f64::from(second) * 0.01)) as u64
            })
            .collect(),
        latencies: BTreeMap::from([
            ("ack".to_owned(), latency(900.0 * busy.sqrt(), number)),
            ("claim".to_owned(), latency(1_700.0 * busy.sqrt() * penalty, number + 1)),
        ]),
        workers: (0..workers).map(per_worker).collect(),
        errors: if penalty > 2.0 { [("40P01".to_owned(), 2)].into() } else { BTreeMap::new() },
        blockers: if penalty > 1.1 {
            [("claim waits for claim".to_owned(), 31)].into()
        } else {
            BTreeMap::new()
        },
    }
}

/// Latencies with a long tail around a median of `median_us`, each made once.
fn latency(median_us: f64, number: u32) -> Latency {
    static MADE: Mutex<BTreeMap<(u64, u32), Latency>> = Mutex::new(BTreeMap::new());
    let key = (median_us.to_bits(), number);
    let mut made = MADE.lock().expect("no maker panics");
    made.entry(key).or_insert_with(|| long_tail(median_us, number)).clone()
}

fn long_tail(median_us: f64, number: u32) -> Latency {
    let mut histogram = Histogram::<u64>::new(3).expect("three digits are allowed");
    // Each step towards the tail is finer and stands for fewer operations.
    for (least, width, weight) in
        [(0.0, 0.9, 300), (0.9, 0.09, 30), (0.99, 0.009, 3), (0.999, 0.001, 1)]
    {
        for step in 0..20_u32 {
            let quantile = least + width * (f64::from(step) + 0.5) / 20.0;
            let tail = (-(1.0_f64 - quantile).ln()).powf(1.7);
            let us = median_us * (0.45 + 0.95 * tail) * wobble(number, 3);
            histogram.record_n((us * 1_000.0) as u64, weight).expect("the histogram grows");
        }
    }
    let mut bytes = Vec::new();
    V2DeflateSerializer::new().serialize(&histogram, &mut bytes).expect("memory takes it");
    let at = |quantile: f64| histogram.value_at_quantile(quantile) as f64 / 1_000.0;
    Latency {
        count: histogram.len(),
        p50_us: at(0.5),
        p90_us: at(0.9),
        p99_us: at(0.99),
        p999_us: at(0.999),
        max_us: histogram.max() as f64 / 1_000.0,
        histogram: base64::Engine::encode(&base64::engine::general_purpose::STANDARD, bytes),
    }
}
