//! The renderings of a run with every outcome and hostile text, compared with files that a person
//! has read. `LEASEPROOF_BLESS=1` writes the files anew.

mod sample;

use std::{env, fs, path::Path};

use leaseproof_reports::{CapabilityState, Case, Report, RunDir, bench, format, history, schema};

#[track_caller]
fn compare(file: &str, actual: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(file);
    if env::var_os("LEASEPROOF_BLESS").is_some_and(|value| value == "1") {
        fs::write(&path, actual).unwrap();
    }
    let expected = fs::read_to_string(&path).unwrap_or_default();
    assert!(
        expected == actual,
        "`{file}` differs; read what changed and run again with LEASEPROOF_BLESS=1:\n{actual}"
    );
}

#[test]
fn the_published_schema_is_the_one_of_the_types() {
    compare("schema/run-1.json", &schema::json_schema());
    compare("schema/bench-1.json", &bench::json_schema());
    compare("schema/history-1.json", &history::json_schema());
}

#[test]
fn json() {
    compare("tests/golden/run.json", &format::json::render(&sample::kept()));
}

#[test]
fn a_report_of_1_0_stays_readable() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/run-1.0.json");
    let run = RunDir::load(path).unwrap();
    assert_eq!(run.schema, "1.0");
    assert_eq!(run.cases.len(), 12);
    assert_eq!(run.matrix_name, "full");
    assert_eq!((run.summary.known, run.rotten.len()), (1, 1));
    let known = run.case("claim/is-exclusive/mariadb:11.8/default").unwrap();
    assert!(known.is_known_failure());
    assert_eq!(known.observations[Case::LOSER], "1020 (retryable)");
    let skip_locked = &run.engines[3].capabilities["skip-locked"];
    assert_eq!(skip_locked, &CapabilityState::unprobed(false));
    assert_eq!(run.engines[0].contradictions().count(), 1);
}

#[test]
fn markdown() {
    compare("tests/golden/summary.md", &format::markdown::render(&sample::hostile()));
    compare("tests/golden/summary-full.md", &format::markdown::render(&sample::full()));
}

#[test]
fn bench_summary() {
    let (run, bench) = (sample::kept(), sample::bench_hostile());
    let report = Report { run: Some(&run), bench: Some(&bench) };
    compare("tests/golden/summary-bench.md", &format::markdown::render_report(report));
}

#[test]
fn the_summary_of_a_great_run_fits_a_step() {
    let bench = sample::bench_great();
    let summary = format::markdown::render_report(Report { run: None, bench: Some(&bench) });
    assert!(summary.len() < 200 * 1024, "{} bytes", summary.len());
    assert!(!summary.contains("Left out"), "{summary}");
}

#[test]
fn junit() {
    compare("tests/golden/junit.xml", &format::junit::render(&sample::hostile()));
}

#[test]
fn table() {
    compare("tests/golden/table.txt", &format::table::render(&sample::hostile(), false));
    compare("tests/golden/table-kept.txt", &format::table::render(&sample::kept(), false));
    compare("tests/golden/table-full.txt", &format::table::render(&sample::full(), false));
}

#[test]
fn losers() {
    let [narrow, wide] =
        [80, 160].map(|width| format::table::render_losers(&sample::full(), width));
    compare("tests/golden/losers.txt", &format!("{narrow}\n{wide}"));
    compare(
        "tests/golden/losers-hostile.txt",
        &format::table::render_losers(&sample::hostile(), 80),
    );
}
