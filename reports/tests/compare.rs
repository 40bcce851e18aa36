//! Two runs side by side, compared with files that a person has read, and how long it takes.

mod sample;
mod turn_about;

use std::{env, fs, path::Path, time::Instant};

use leaseproof_reports::{
    Case, Loaded, Outcome, Partial, Run, Summary,
    bench::{BenchRun, Reading},
    compare::{Change, Comparison, Gate, Incomparable, Judgement, Verdict, compare},
    format::comparison,
};

#[track_caller]
fn golden(file: &str, actual: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden").join(file);
    if env::var_os("LEASEPROOF_BLESS").is_some_and(|value| value == "1") {
        fs::write(&path, actual).unwrap();
    }
    let expected = fs::read_to_string(&path).unwrap_or_default();
    assert!(
        expected == actual,
        "`{file}` differs; read what changed and run again with LEASEPROOF_BLESS=1:\n{actual}"
    );
}

fn both(run: Run, bench: BenchRun) -> Loaded {
    Loaded { run: Some(run), bench: Some(bench) }
}

/// The metric of a cell, in every repeat times `factor`.
fn scale(bench: &mut BenchRun, cell: usize, metric: &str, factor: f64) {
    for repeat in &mut bench.cells[cell].repeats {
        if let Some(Reading::Value(value)) = repeat.readings.get_mut(metric) {
            *value *= factor;
        }
    }
}

/// A run in which most kinds of change occur once.
fn changed() -> Loaded {
    let mut run = sample::hostile();
    run.id = "20300103T030405Z-c0c1c2".to_owned();
    run.cases.remove(2);
    let outcomes = [Outcome::Broken, Outcome::Unsupported, Outcome::Errored];
    let kept = run.cases.iter_mut().filter(|case| case.outcome == Outcome::Kept);
    for (case, outcome) in kept.zip(outcomes) {
        case.outcome = outcome;
        case.repeats = [(outcome, 1)].into();
        case.replay = Some(format!("leaseproof replay latest '{}'", case.key()));
    }
    let loser = run.cases.iter_mut().find(|case| case.observations.contains_key(Case::LOSER));
    loser.unwrap().observations.insert(Case::LOSER.to_owned(), "zero rows".to_owned());
    run.cases[0].outcome = Outcome::Kept;
    run.rotten.clear();
    run.summary = Summary::of(&run.cases, &run.engines);
    let mut bench = sample::bench_hostile();
    scale(&mut bench, 3, "claims_per_s", 0.6);
    scale(&mut bench, 4, "claims_per_s", 1.6);
    scale(&mut bench, 5, "claims_per_s", 0.9);
    scale(&mut bench, 6, "pages_touched_per_claim", 1.2);
    bench.cells[7].violations = vec!["two claims won".to_owned()];
    bench.cells.remove(8);
    bench.cells.truncate(9);
    bench.engines[0].plans[0].fingerprint = "Limit>LockRows>SeqScan".to_owned();
    both(run, bench)
}

fn comparison() -> Comparison {
    let mut bench = sample::bench_hostile();
    bench.cells.truncate(10);
    let base = both(sample::hostile(), bench);
    compare(&base, &changed(), Gate::default()).unwrap()
}

#[test]
fn every_format_is_the_one_that_was_read() {
    let found = comparison();
    assert_eq!(found.verdict, Verdict::Worse);
    golden("compare.txt", &comparison::table(&found, 160));
    golden("compare.md", &comparison::markdown(&found));
    golden("compare.json", &comparison::json(&found));
    golden("compare.html", &comparison::html(&found));
    golden("compare-junit.xml", &comparison::junit(&found));
}

#[test]
fn nothing_in_a_page_acts_on_its_reader() {
    let page = comparison::html(&comparison());
    for harm in ["<script", "javascript:", "\u{202E}", "\x1b", "src=", "url("] {
        assert!(!page.contains(harm), "{harm:?}");
    }
}

#[test]
fn a_run_equals_itself() {
    let base = both(sample::kept(), sample::bench());
    let found =
        compare(&base, &base, Gate { throughput: 0.3, tail: 0.3, ..Gate::default() }).unwrap();
    assert_eq!(found.verdict, Verdict::Fine, "{}", comparison::table(&found, 160));
    let measurements = found.measurements.unwrap();
    assert_eq!(measurements.count(Judgement::Worse), 0);
    assert_eq!(measurements.count(Judgement::Better), 0);
}

#[test]
fn what_a_run_could_not_tell_is_not_equal_to_itself() {
    let full = both(sample::full(), sample::bench());
    let found = compare(&full, &full, Gate::default()).unwrap();
    assert_eq!(found.verdict, Verdict::Inconclusive);
    let changes = found.contracts.unwrap().changes;
    assert!(!changes.is_empty() && changes.iter().all(|change| change.change == Change::Undecided));
}

/// What the base knows and the head does not say is not fine, however good the rest is.
#[test]
fn half_a_run_is_not_the_whole() {
    let whole = both(sample::kept(), sample::bench());
    let halves = [
        (Loaded { bench: None, ..whole.clone() }, "measurements"),
        (Loaded { run: None, ..whole.clone() }, "contracts"),
    ];
    let gate = Gate { throughput: 0.3, tail: 0.3, ..Gate::default() };
    for (half, what) in halves {
        let found = compare(&whole, &half, gate).unwrap();
        assert_eq!(found.verdict, Verdict::Inconclusive);
        assert_eq!(found.notes, [format!("only the base has {what}; they are not compared")]);
        let found = compare(&half, &whole, gate).unwrap();
        assert_eq!(found.verdict, Verdict::Inconclusive);
        assert_eq!(found.notes, [format!("only the head has {what}; they are not compared")]);
    }
}

/// Counted work alone decides, and nothing was counted.
#[test]
fn what_nothing_is_known_of_is_not_fine() {
    let counters_only = Gate { wall_clock: false, ..Gate::default() };
    let mut bench = sample::bench();
    for repeat in bench.cells.iter_mut().flat_map(|cell| &mut cell.repeats) {
        repeat.readings.retain(|name, _| name.ends_with("_per_s"));
    }
    let times = Loaded { run: None, bench: Some(bench.clone()) };
    let found = compare(&times, &times, counters_only).unwrap();
    assert_eq!(found.verdict, Verdict::Inconclusive, "{}", comparison::table(&found, 160));
    assert!(found.notes.contains(&"no metric of both runs could be judged".to_owned()));
    bench.cells.clear();
    let empty = Loaded { run: None, bench: Some(bench) };
    assert_eq!(compare(&empty, &times, Gate::default()).unwrap().verdict, Verdict::Inconclusive);
    assert_eq!(compare(&empty, &empty, Gate::default()).unwrap().verdict, Verdict::Inconclusive);
}

#[test]
fn an_upgrade_is_measured_against_what_was_before() {
    let labelled = |version: &str| {
        let mut bench = sample::bench();
        let name = |name: &mut String| *name = format!("{name}:{version}");
        bench.engines.iter_mut().for_each(|engine| name(&mut engine.name));
        bench.cells.iter_mut().for_each(|cell| name(&mut cell.engine));
        bench.engines[0].version = format!("PostgreSQL {version}");
        Loaded { run: None, bench: Some(bench) }
    };
    let found = compare(&labelled("18"), &labelled("19"), Gate::default()).unwrap();
    let measurements = found.measurements.unwrap();
    assert_eq!((measurements.compared, measurements.cells.len()), (24, 0));
    assert_eq!(found.notes, ["postgres:19 differs: version PostgreSQL 18 → PostgreSQL 19"]);
}

#[test]
fn what_must_not_be_compared_is_refused_or_marked() {
    let base = sample::bench();
    let only = |bench: &BenchRun| Loaded { run: None, bench: Some(bench.clone()) };
    let compared = |change: fn(&mut BenchRun)| {
        let mut head = base.clone();
        change(&mut head);
        compare(&only(&base), &only(&head), Gate::default())
    };
    let refused = compared(|head| "full".clone_into(&mut head.profile)).unwrap_err();
    assert!(matches!(refused, Incomparable::Profiles { .. }), "{refused}");
    let refused = compared(|head| {
        head.engines.iter_mut().for_each(|engine| engine.name.push('x'));
        head.cells.iter_mut().for_each(|cell| cell.engine.push('x'));
    });
    assert!(matches!(refused.unwrap_err(), Incomparable::Engines { .. }));
    let client = compared(|head| "0.2.0".clone_into(&mut head.tool.version)).unwrap();
    assert_eq!(client.verdict, Verdict::Inconclusive);
    assert!(client.notes[0].contains("client 0.1.0 → 0.2.0; times are not judged"));
    let pages = client.measurements.unwrap();
    let pages = pages.metrics.iter().filter(|metric| metric.metric == "pages_touched_per_claim");
    assert!(
        pages.clone().count() > 0
            && pages.clone().all(|metric| metric.reason.is_empty() || metric.values.is_some())
    );
    let set_up = compared(|head| {
        head.engines[0].durability.insert("fsync".to_owned(), "off".to_owned());
    });
    let set_up = set_up.unwrap();
    assert_eq!(set_up.verdict, Verdict::Inconclusive);
    let measurements = set_up.measurements.unwrap();
    assert_eq!((measurements.compared, measurements.cells.len()), (12, 12));
    assert!(measurements.cells[0].change.contains("fsync on → off"));
    let run = Loaded { run: Some(sample::kept()), bench: None };
    assert_eq!(compare(&run, &only(&base), Gate::default()), Err(Incomparable::Kinds));
}

#[test]
fn five_thousand_cases_take_less_than_a_second() {
    let mut run = sample::kept();
    run.cases = (0..5_000)
        .map(|number| {
            let engine = run.engines[number % 4].label.clone();
            let mut case = sample::case(&format!("claim/x-{}", number / 4), &engine, Outcome::Kept);
            case.observations.insert(Case::LOSER.to_owned(), "zero rows".to_owned());
            case
        })
        .collect();
    run.summary = Summary::of(&run.cases, &run.engines);
    let base = both(run.clone(), sample::bench_great());
    for case in &mut run.cases[..500] {
        case.outcome = Outcome::Broken;
    }
    let head = both(run, sample::bench_great());
    let clock = Instant::now();
    let found = compare(&base, &head, Gate::default()).unwrap();
    let text = comparison::table(&found, 120);
    let took = clock.elapsed();
    println!("5000 cases and 208 cells compared in {} ms", took.as_millis());
    assert!(text.contains("500 broke"), "{text}");
    // Without optimisation, and beside other tests, a time says nothing.
    assert!(cfg!(debug_assertions) || took.as_secs_f64() < 1.0, "{took:?}");
}

/// What could not be measured is no fault of the engine, and no proof that it has none.
#[test]
fn what_could_not_be_measured_is_neither_worse_nor_fine() {
    const LOST: &str = "repeat 1: 2 events went in, 1 are there";
    const GONE: &str = "repeat 2: could not be measured: the server was gone";
    let with = |violations: &[&str]| {
        let mut bench = sample::bench();
        bench.cells.truncate(2);
        bench.engines.truncate(1);
        bench.cells[0].violations = violations.iter().map(|text| (*text).to_owned()).collect();
        Loaded { run: None, bench: Some(bench) }
    };
    let gate = Gate { throughput: 0.3, tail: 0.3, ..Gate::default() };
    let verdict =
        |base: &[&str], head: &[&str]| compare(&with(base), &with(head), gate).unwrap().verdict;
    assert_eq!(verdict(&[], &[]), Verdict::Fine);
    for (base, head) in [(&[][..], &[GONE][..]), (&[GONE], &[]), (&[GONE], &[GONE])] {
        assert_eq!(verdict(base, head), Verdict::Inconclusive, "{base:?} {head:?}");
    }
    assert_eq!(verdict(&[LOST], &[GONE]), Verdict::Inconclusive);
    assert_eq!(verdict(&[GONE], &[GONE, LOST]), Verdict::Worse);
    assert_eq!(verdict(&[], &[LOST]), Verdict::Worse);
    assert_eq!(verdict(&[LOST], &[]), Verdict::Fine);
}

/// A run that lacks a part by its own account is compared as far as it goes, and that is no verdict.
#[test]
fn what_is_incomplete_is_not_fine() {
    let whole = both(sample::kept(), sample::bench());
    let gate = Gate { throughput: 0.3, tail: 0.3, ..Gate::default() };
    let verdict = |change: fn(&mut Loaded)| {
        let mut part = whole.clone();
        change(&mut part);
        let verdicts = [(&part, &whole), (&whole, &part), (&part, &part)];
        verdicts.map(|(base, head)| compare(base, head, gate).unwrap().verdict)
    };
    assert_eq!(verdict(|_| {}), [Verdict::Fine; 3]);
    assert_eq!(verdict(|run| run.bench.as_mut().unwrap().left = 1), [Verdict::Inconclusive; 3]);
    let partial = |run: &mut Loaded| {
        run.run.as_mut().unwrap().partial = Some(Partial { count: 2, missing: vec![2] });
    };
    assert_eq!(verdict(partial), [Verdict::Inconclusive; 3]);
}

/// Where it is not known that the machine is the same, times say nothing and counted work does.
#[test]
fn times_of_machines_that_may_differ_are_not_judged() {
    let base = Loaded { run: None, bench: Some(sample::bench()) };
    for change in [
        |bench: &mut BenchRun| bench.conditions.cpu.clear(),
        |bench: &mut BenchRun| bench.conditions.cpu.push_str(" and elsewhere another"),
        |bench: &mut BenchRun| bench.engines[0].provider.push_str(" of somebody else"),
    ] {
        let mut other = base.clone();
        change(other.bench.as_mut().unwrap());
        let found = compare(&base, &other, Gate::default()).unwrap();
        assert_eq!(found.verdict, Verdict::Inconclusive);
        assert!(found.notes.iter().any(|note| note.contains("times are not judged")));
        let metrics = found.measurements.unwrap().metrics;
        assert!(metrics.iter().any(|metric| metric.judgement == Judgement::Equal));
    }
}
