//! Runs that were measured turn about: what the machine did to both sides drops out.

use std::path::Path;

use leaseproof_reports::{
    Loaded, RunDir,
    bench::{BenchRun, Reading, Repeat},
    compare::{Comparison, Gate, Judgement, MetricChange, Verdict, compare},
};

use crate::sample;

const GROUPS: u32 = 10;

/// One side: in each group the machine is as fast as `pace` says, and each turn a little off.
fn side(rate: f64, pages: f64, pace: impl Fn(u32) -> f64) -> BenchRun {
    let mut run = sample::bench();
    run.turn_about = Some("one comparison".to_owned());
    run.cells.truncate(1);
    let first = run.cells[0].repeats[0].clone();
    let turn = |number: u32| {
        let (group, wobble) = (number / 2, f64::from(number % 3) * 0.01);
        let reading = |value: f64| Reading::Value(value * (1.0 + wobble));
        let readings = [
            ("claims_per_s".to_owned(), reading(rate * pace(group))),
            ("pages_per_claim".to_owned(), Reading::Value(pages)),
        ];
        Repeat { group: Some(group), readings: readings.into(), ..first.clone() }
    };
    run.cells[0].repeats = (0..2 * GROUPS).map(turn).collect();
    run
}

/// A machine that is three times slower in some minutes than in others.
fn storm(group: u32) -> f64 {
    1.0 / f64::from(1 + group % 3)
}

fn compared(base: BenchRun, head: BenchRun) -> Comparison {
    let loaded = |run| Loaded { run: None, bench: Some(run) };
    compare(&loaded(base), &loaded(head), Gate::default()).unwrap()
}

fn metric<'found>(found: &'found Comparison, name: &str) -> &'found MetricChange {
    let metrics = &found.measurements.as_ref().unwrap().metrics;
    metrics.iter().find(|metric| metric.metric == name).unwrap()
}

#[test]
fn a_storm_that_both_sides_meet_hides_nothing() {
    let found = compared(side(1000.0, 9.0, storm), side(800.0, 9.0, storm));
    assert_eq!(found.verdict, Verdict::Worse);
    assert_eq!(found.measurements.as_ref().unwrap().groups, Some(10));
    let rate = metric(&found, "claims_per_s");
    let values = rate.values.unwrap();
    assert_eq!(rate.judgement, Judgement::Worse);
    assert!((values.ratio.unwrap() - 0.8).abs() < 0.01, "{rate:?}");
    assert!(values.floor.is_some_and(|floor| floor < 0.05), "{rate:?}");
    // The same numbers, each side for itself, say nothing.
    let (mut base, head) = (side(1000.0, 9.0, storm), side(800.0, 9.0, storm));
    base.turn_about = None;
    let alone = compared(base, head);
    assert_eq!(metric(&alone, "claims_per_s").judgement, Judgement::Inconclusive);
}

#[test]
fn a_server_beside_itself_is_equal() {
    let found = compared(side(1000.0, 9.0, storm), side(1000.0, 9.0, storm));
    assert_eq!(found.verdict, Verdict::Fine, "{:?}", found.measurements);
}

/// A side that differs from itself by more than from the other is no evidence.
#[test]
fn what_the_same_server_differs_by_is_no_change() {
    let mut base = side(1000.0, 9.0, storm);
    for repeat in base.cells[0].repeats.iter_mut().step_by(2) {
        if let Some(Reading::Value(rate)) = repeat.readings.get_mut("claims_per_s") {
            *rate *= 1.4;
        }
    }
    let found = compared(base, side(1000.0, 9.0, storm));
    let rate = metric(&found, "claims_per_s");
    assert_eq!(rate.judgement, Judgement::Inconclusive, "{rate:?}");
}

#[test]
fn counted_work_is_judged_by_what_can_be_counted() {
    let more = |workers: &str, housekeeping: &[&str]| {
        let sides = [9.0, 9.5].map(|pages| {
            let mut run = side(1000.0, pages, storm);
            run.cells[0].parameters.insert("workers".to_owned(), workers.to_owned());
            let counters = housekeeping.iter().map(|counter| (*counter).to_owned());
            run.engines[0].housekeeping = counters.collect();
            run
        });
        let [base, head] = sides;
        metric(&compared(base, head), "pages_per_claim").judgement
    };
    assert_eq!(more("1", &[]), Judgement::Worse, "5.6 % more of one worker");
    assert_eq!(more("8", &[]), Judgement::Equal, "5.6 % more of workers that meet each other");
    assert_eq!(more("1", &["pages"]), Judgement::Equal, "5.6 % more with housekeeping");
}

/// A percentile of a few operations is shown and decides nothing.
#[test]
fn a_thin_tail_is_not_judged() {
    let thin = |p99: f64, count: u64| {
        let mut run = side(1000.0, 9.0, |_| 1.0);
        for repeat in &mut run.cells[0].repeats {
            let latency = repeat.latencies.get_mut("claim").unwrap();
            (latency.p99_us, latency.count) = (p99, count);
        }
        run
    };
    let judged = |count| {
        let found = compared(thin(1000.0, count), thin(3000.0, count));
        metric(&found, "claim_p99_us").judgement
    };
    assert_eq!(judged(999), Judgement::Shown);
    assert_eq!(judged(1000), Judgement::Worse);
}

/// The golden file was written by the minor version before this one; all but a few of its cells were left out.
#[test]
fn an_older_minor_version_is_read() {
    let older = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/bench-1.0");
    let bench = RunDir::load_bench(older).unwrap();
    assert_eq!((bench.schema.as_str(), bench.turn_about.as_deref()), ("1.0", None));
}
