//! `leaseproof compare` and `leaseproof report` as their users meet them.

use std::fs;
use std::path::Path;
use std::process::Command;

use leaseproof_reports::{Outcome, Run, RunDir, Summary};
use tempfile::TempDir;

const CONTRACT: &str = "renew/extends-current-owner";

/// A directory with one real run of one contract, which is its `latest`.
fn with_a_run() -> TempDir {
    let directory = tempfile::tempdir().unwrap();
    let arguments = ["run", "--engine", "sqlite", "--contract", CONTRACT, "--seed", "7"];
    assert_eq!(run(directory.path(), &arguments).0, 0);
    directory
}

/// The exit code of a command, and what its user reads with the diagnostics' line breaks undone.
fn run(directory: &Path, arguments: &[&str]) -> (i32, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_leaseproof"));
    let output = command.args(arguments).current_dir(directory).output().unwrap();
    let bytes = [output.stdout, output.stderr].concat();
    let text = String::from_utf8(bytes).unwrap().replace('│', " ");
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(!text.contains("panicked"), "{text}");
    (output.status.code().unwrap_or(-1), text)
}

/// A copy of the run in which something changed.
fn changed(directory: &Path, id: &str, change: impl FnOnce(&mut Run)) {
    let root = directory.join("reports");
    let mut run = RunDir::load(root.join("latest")).unwrap();
    id.clone_into(&mut run.id);
    change(&mut run);
    run.summary = Summary::of(&run.cases, &run.engines);
    run.seal();
    RunDir::create(&root, id).unwrap().write_run(&run).unwrap();
}

#[track_caller]
fn ends(directory: &Path, arguments: &[&str], code: i32, saying: &[&str]) {
    let (ended, text) = run(directory, arguments);
    assert_eq!(ended, code, "{text}");
    for words in saying {
        assert!(text.contains(words), "`{words}` is not said in: {text}");
    }
}

#[test]
fn the_exit_code_says_what_became_of_the_head() {
    let directory = with_a_run();
    let directory = directory.path();
    changed(directory, "broke", |run| run.cases[0].outcome = Outcome::Broken);
    changed(directory, "undecided", |run| run.cases[0].outcome = Outcome::Errored);
    ends(directory, &["compare", "latest", "reports/latest"], 0, &["fine: 1 cases compared"]);
    ends(directory, &["compare", "latest", "broke"], 103, &["broke", CONTRACT, "worse:"]);
    ends(directory, &["compare", "broke", "latest"], 0, &["1 fixed"]);
    ends(directory, &["compare", "latest", "undecided"], 102, &["inconclusive:"]);
    ends(directory, &["compare", "latest", "latest"], 0, &["both sides are the same run"]);
    ends(directory, &["compare", "--help"], 0, &["102", "103", "--counters-only"]);
    ends(directory, &["compare", "latest"], 2, &["HEAD"]);
    ends(directory, &["compare", "latest", "broke", "--tail", "0"], 2, &["at least 0.1"]);
}

#[test]
fn every_format_is_written() {
    let directory = with_a_run();
    let directory = directory.path();
    changed(directory, "broke", |run| run.cases[0].outcome = Outcome::Broken);
    let starts = [
        ("table", "base"),
        ("markdown", "**worse:"),
        ("json", "{"),
        ("html", "<!DOCTYPE html>"),
        ("junit", "<?xml"),
    ];
    for (format, start) in starts {
        let (code, text) = run(directory, &["compare", "latest", "broke", "--format", format]);
        assert_eq!(code, 103, "{format}");
        assert!(text.starts_with(start), "{format}: {text}");
    }
}

#[test]
fn what_cannot_be_compared_is_said() {
    let directory = with_a_run();
    let directory = directory.path();
    let text = fs::read_to_string(directory.join("reports/latest/run.json")).unwrap();
    let write = |name: &str, text: &str| fs::write(directory.join(name), text).unwrap();
    write("short.json", &text[..text.len() / 2]);
    write("edited.json", &text.replace("\"kept\": 1", "\"kept\": 2"));
    write("seed.json", &text.replacen("\"seed\": 7", "\"seed\": 8", 1));
    write("newer.json", &text.replacen("\"schema\": \"1.0\"", "\"schema\": \"2.0\"", 1));
    let compare = |head: &'static str| ["compare", "latest", head];
    ends(directory, &compare("absent"), 110, &["the run cannot be read", "absent"]);
    ends(directory, &compare("short.json"), 110, &["`short.json` is cut short", "line"]);
    ends(directory, &compare("edited.json"), 110, &["the summary says"]);
    ends(directory, &compare("seed.json"), 110, &["`seed.json`", "changed"]);
    ends(directory, &compare("newer.json"), 110, &["schema `2.0` cannot be read", "reads `1.x`"]);
    changed(directory, "other", |run| {
        run.engines[0].label = "postgres:18".to_owned();
        run.engines[0].name = "postgres".to_owned();
        run.cases[0].engine = "postgres:18".to_owned();
    });
    ends(
        directory,
        &compare("other"),
        2,
        &["the runs must not be compared", "no engine is in both"],
    );
}

#[test]
fn a_page_is_rendered_anew() {
    let directory = with_a_run();
    let page = directory.path().join("reports/latest/report.html");
    let before = fs::read_to_string(&page).unwrap();
    assert!(before.contains(CONTRACT.split('/').next_back().unwrap()), "{before}");
    for named in ["latest", "reports/latest/run.json"] {
        fs::remove_file(&page).unwrap();
        ends(directory.path(), &["report", named], 0, &["report.html"]);
        assert_eq!(fs::read_to_string(&page).unwrap(), before);
    }
    ends(directory.path(), &["report", "absent"], 110, &["the run cannot be read"]);
}
