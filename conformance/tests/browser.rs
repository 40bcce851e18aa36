//! The page of a report in a real browser: nothing on its console, nothing on top of anything else,
//! and everything within reach of a keyboard.
//!
//! It runs where `chromium` and `chromedriver` are installed; with `LEASEPROOF_BROWSER=required` they
//! must be. Screenshots are left in cargo's directory for the results of tests.

#[path = "browser/driver.rs"]
mod driver;
#[allow(dead_code, unused_imports, reason = "the tests of the reports use all of the samples")]
#[path = "../../reports/tests/sample/mod.rs"]
mod sample;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use driver::Driver;
use leaseproof_reports::{Report, format};
use serde_json::{Value, json};

/// Text whose boxes overlap, in charts and in tables, and what is wider than the window.
const OVERLAPS: &str = r"
    const found = [];
    if (document.documentElement.scrollWidth > window.innerWidth) {
        found.push('the page is wider than the window');
    }
    const cross = (a, b) => Math.min(a.right, b.right) - Math.max(a.left, b.left) > 1
        && Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > 1;
    for (const group of document.querySelectorAll('svg, .legend, .counts, nav ul, tr')) {
        const parts = [...group.querySelectorAll(':scope > text, :scope > li, :scope > td, :scope > th')]
            .filter(part => getComputedStyle(part).position !== 'sticky')
            .map(part => [part.textContent.trim(), part.getBoundingClientRect()])
            .filter(([, box]) => box.width > 0);
        parts.forEach(([text, box], place) => parts.slice(place + 1).forEach(([other, against]) => {
            if (cross(box, against)) { found.push(text + ' / ' + other); }
        }));
    }
    return found;";

/// What a keyboard must reach: every cell of the matrix and of the tables, outside their evidence.
const CELLS: &str = "return [...document.querySelectorAll('main button[popovertarget]')]
    .filter(button => !button.closest('[popover]')).map(button => button.getAttribute('popovertarget'));";

/// What has the focus, or `null` when it is the page itself.
const FOCUS: &str = "const on = document.activeElement;
    return on === document.body || !on ? null : (on.getAttribute('popovertarget') || on.tagName);";

fn written(name: &str) -> PathBuf {
    let directory = Path::new(env!("CARGO_TARGET_TMPDIR"));
    std::fs::create_dir_all(directory).unwrap();
    directory.join(name)
}

#[tokio::test]
async fn a_page_works_in_a_browser() {
    let Some(driver) = Driver::start() else {
        assert!(
            std::env::var("LEASEPROOF_BROWSER").is_err(),
            "LEASEPROOF_BROWSER is set, and `chromium` and `chromedriver` cannot be started"
        );
        eprintln!("not run: `chromium` and `chromedriver` are not installed");
        return;
    };
    let (run, bench) = (sample::hostile(), sample::bench_hostile());
    let page = written("report.html");
    let report = Report { run: Some(&run), bench: Some(&bench) };
    std::fs::write(&page, format::html::render(report)).unwrap();
    let seen = driver.visit(&page).await;
    let shapes = [(1280, "light"), (1280, "dark"), (380, "light"), (380, "dark"), (760, "print")];
    for (width, scheme) in shapes {
        seen.shape(width, scheme).await;
        let overlaps = seen.run(OVERLAPS).await;
        assert_eq!(overlaps, json!([]), "at {width} in {scheme}");
        let picture = seen.picture(true).await;
        std::fs::write(written(&format!("report-{width}-{scheme}.png")), picture).unwrap();
    }
    seen.shape(1280, "light").await;
    reach_everything(&seen).await;
    open_and_close(&seen).await;
    assert_eq!(seen.console().await, Vec::<Value>::new());
    seen.leave().await;
}

/// From the top of the page, Tab alone reaches every cell.
async fn reach_everything(seen: &driver::Seen) {
    let cells = seen.run(CELLS).await;
    let mut missing: BTreeSet<&str> =
        cells.as_array().unwrap().iter().filter_map(Value::as_str).collect();
    assert!(missing.len() > 30, "{missing:?}");
    for _ in 0..missing.len() * 4 {
        seen.press("\u{E004}").await;
        match seen.run(FOCUS).await {
            Value::String(focus) => drop(missing.remove(focus.as_str())),
            _ => break,
        }
    }
    assert!(missing.is_empty(), "not reached with Tab: {missing:?}");
}

/// Enter on a cell shows its evidence, and Escape hides it and returns to the cell.
async fn open_and_close(seen: &driver::Seen) {
    const OPEN: &str = "return [...document.querySelectorAll(':popover-open')].map(it => it.id);";
    let cells = seen.run(CELLS).await;
    let id = cells[0].as_str().unwrap().to_owned();
    seen.run(&format!("document.querySelector('main button[popovertarget=\"{id}\"]').focus();"))
        .await;
    seen.press("\u{E007}").await;
    assert_eq!(seen.run(OPEN).await, json!([id]));
    let text = seen.run(&format!("return document.getElementById('{id}').innerText;")).await;
    assert!(text.as_str().unwrap().contains("<script>alert(1)</script>"), "{text}");
    std::fs::write(written("report-evidence.png"), seen.picture(false).await).unwrap();
    seen.press("\u{E00C}").await;
    assert_eq!(seen.run(OPEN).await, json!([]));
    assert_eq!(seen.run(FOCUS).await, json!(id));
}
