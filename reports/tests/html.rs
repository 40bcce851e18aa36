//! The page as a reader gets it: complete, harmless, small and fast.

mod sample;

use std::time::{Duration, Instant};

use leaseproof_reports::{
    Report, Run,
    bench::{BenchRun, Reading},
    format::html::render,
};

fn page(run: Option<&Run>, bench: Option<&BenchRun>) -> String {
    render(Report { run, bench })
}

#[test]
fn each_half_is_a_page_by_itself() {
    let (run, bench) = (sample::full(), sample::bench());
    let contracts = page(Some(&run), None);
    assert!(contracts.contains("claim/</span><wbr>is-exclusive"), "{contracts}");
    assert!(!contracts.contains("id=\"measurements\""));
    let measurements = page(None, Some(&bench));
    assert!(
        measurements.contains("id=\"measurements\"") && !measurements.contains("id=\"contracts\"")
    );
    let both = page(Some(&run), Some(&bench));
    assert!(both.contains("id=\"measurements\"") && both.contains("id=\"contracts\""));
    for page in [contracts, measurements, both] {
        assert!(page.starts_with("<!DOCTYPE html>") && page.trim_end().ends_with("</html>"));
    }
}

#[test]
fn nothing_in_a_page_acts_on_its_reader() {
    let page = page(Some(&sample::hostile()), Some(&sample::bench_hostile()));
    for harm in ["<script", "javascript:", "http://y", "\u{202E}", "\x1b", "\0"] {
        let harm_or_text = page.matches(harm).count();
        assert_eq!(harm_or_text, page.matches(&format!("]({harm}")).count(), "{harm:?}");
    }
    assert!(page.contains("&#60;script&#62;"), "hostile text is shown");
    for address in ["src=", "url(", "@import"] {
        assert!(!page.contains(address), "{address}");
    }
}

#[test]
fn what_is_not_observable_is_never_a_number() {
    let mut bench = sample::bench();
    for repeat in &mut bench.cells[5].repeats {
        let hidden = Reading::NotObservable("the probe was off".to_owned());
        repeat.readings.insert("skipped_rows_per_claim".to_owned(), hidden);
    }
    let page = page(None, Some(&bench));
    assert!(page.contains("title=\"the probe was off\">not observable</td>"));
    // What no cell of an engine shows is said once, and has no column of its own.
    assert!(page.contains("<dd>the engine has no SKIP LOCKED</dd>"));
    assert!(!page.contains("title=\"the engine has no SKIP LOCKED\""));
    bench.cells[0].violations = vec!["two claims won".to_owned()];
    let page = self::page(None, Some(&bench));
    assert_eq!(page.matches("Violated, and so no result").count(), 2);
    assert!(page.contains("no result</td>"));
}

#[test]
fn two_hundred_cells_are_small_and_soon_there() {
    let (run, bench) = (sample::full(), sample::bench_great());
    assert!(bench.cells.len() >= 200);
    let mut soonest = Duration::MAX;
    let mut page = String::new();
    for _ in 0..3 {
        let clock = Instant::now();
        page = self::page(Some(&run), Some(&bench));
        soonest = soonest.min(clock.elapsed());
    }
    let (cells, kib) = (bench.cells.len(), page.len() / 1024);
    println!("{cells} cells: {kib} KiB in {} ms", soonest.as_millis());
    assert!(page.len() < 2_000_000, "{} bytes", page.len());
    // Without optimisation, and beside other tests, a time says nothing.
    assert!(cfg!(debug_assertions) || soonest.as_secs_f64() < 1.0, "{soonest:?}");
}
