//! The run directory on a real file system: what is written, what is left alone, what is refused.

mod sample;

use std::{
    error::Error,
    fs,
    os::unix::fs::symlink,
    path::{Path, PathBuf},
};

use leaseproof_reports::{ReadError, RunDir, RunDirError, SchemaError, Summary};

const ID: &str = "20300102T030405Z-a1b2c3";

fn names(directory: &Path) -> Vec<String> {
    let entries = fs::read_dir(directory).unwrap();
    let mut names: Vec<String> =
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

fn written(root: &Path, id: &str) -> RunDir {
    let run_dir = RunDir::create(root, id).unwrap();
    run_dir.write_run(&sample::hostile()).unwrap();
    run_dir
}

#[test]
fn a_run_reads_back_from_each_of_its_names() {
    let root = tempfile::tempdir().unwrap();
    let run_dir = written(root.path(), ID);
    run_dir.publish().unwrap();
    assert_eq!(names(run_dir.path()), ["junit.xml", "report.html", "run.json", "summary.md"]);
    let paths: [PathBuf; 3] = [
        run_dir.path().to_owned(),
        root.path().join("latest"),
        root.path().join("latest/run.json"),
    ];
    for path in paths {
        assert_eq!(RunDir::load(&path).unwrap(), sample::hostile());
    }
}

#[test]
fn variants_with_spaces_have_histories_and_read_back() {
    let root = tempfile::tempdir().unwrap();
    let run_dir = RunDir::create(root.path(), ID).unwrap();
    let mut run = sample::full();
    for case in run.cases.iter_mut().filter(|case| case.is_known_failure()) {
        let history = run_dir.write_history(&case.key(), b"x").unwrap();
        assert!(history.contains("repeatable-read") && !history.contains(' '), "{history}");
        case.history = Some(history);
    }
    run_dir.write_run(&run).unwrap();
    assert_eq!(RunDir::load(run_dir.path()).unwrap(), run);
}

#[test]
fn no_run_is_overwritten() {
    let root = tempfile::tempdir().unwrap();
    written(root.path(), ID);
    let error = RunDir::create(root.path(), ID).unwrap_err();
    assert!(matches!(&error, RunDirError::Exists { path } if path.ends_with(ID)), "{error}");
    let error = RunDir::create(root.path(), "../outside").unwrap_err();
    assert!(matches!(error, RunDirError::InvalidId { .. }), "{error}");
}

#[test]
fn a_run_that_contradicts_itself_is_not_written() {
    let root = tempfile::tempdir().unwrap();
    let run_dir = RunDir::create(root.path(), ID).unwrap();
    let mut run = sample::kept();
    run.cases.pop();
    let error = run_dir.write_run(&run).unwrap_err();
    assert!(matches!(error, RunDirError::Invalid { source: SchemaError::Summary { .. } }));
    assert!(names(run_dir.path()).is_empty());
}

#[test]
fn a_run_without_cases_is_written_and_refused_by_its_reader() {
    let root = tempfile::tempdir().unwrap();
    let run_dir = RunDir::create(root.path(), ID).unwrap();
    let mut run = sample::kept();
    run.cases.clear();
    run.summary = Summary::of(&run.cases, &run.engines);
    run_dir.write_run(&run).unwrap();
    let error = RunDir::load(run_dir.path()).unwrap_err();
    assert_eq!(error.source().unwrap().to_string(), "a report with no cases");
}

#[test]
fn latest_is_relative_and_moves_to_the_newest() {
    let root = tempfile::tempdir().unwrap();
    let latest = root.path().join("latest");
    let first = written(root.path(), "1-a");
    first.publish().unwrap();
    first.publish().unwrap();
    assert_eq!(fs::read_link(&latest).unwrap(), Path::new("runs/1-a"));
    written(root.path(), "2-b").publish().unwrap();
    assert_eq!(fs::read_link(&latest).unwrap(), Path::new("runs/2-b"));
    assert_eq!(names(root.path()), ["latest", "runs"]);
}

#[test]
fn a_dangling_latest_is_replaced() {
    let root = tempfile::tempdir().unwrap();
    symlink("runs/gone", root.path().join("latest")).unwrap();
    written(root.path(), ID).publish().unwrap();
    RunDir::load(root.path().join("latest")).unwrap();
}

#[test]
fn a_latest_of_somebody_else_is_left_alone() {
    let root = tempfile::tempdir().unwrap();
    let latest = root.path().join("latest");
    let run_dir = written(root.path(), ID);
    fs::create_dir(&latest).unwrap();
    fs::write(latest.join("notes"), "mine").unwrap();
    let error = run_dir.publish().unwrap_err();
    assert!(error.to_string().contains("is not a link"), "{error}");
    assert_eq!(fs::read(latest.join("notes")).unwrap(), b"mine");
    fs::remove_dir_all(&latest).unwrap();
    fs::write(&latest, "mine").unwrap();
    assert!(matches!(run_dir.publish(), Err(RunDirError::NotALink { .. })));
    assert_eq!(fs::read(&latest).unwrap(), b"mine");
    assert_eq!(names(root.path()), ["latest", "runs"]);
}

#[test]
fn nothing_is_published_before_it_is_written() {
    let root = tempfile::tempdir().unwrap();
    let run_dir = RunDir::create(root.path(), ID).unwrap();
    assert!(matches!(run_dir.publish(), Err(RunDirError::NothingToPublish { .. })));
    assert_eq!(names(root.path()), ["runs"]);
}

#[test]
fn each_history_keeps_its_own_file() {
    let root = tempfile::tempdir().unwrap();
    let run_dir = RunDir::create(root.path(), ID).unwrap();
    let key = "claim/is-exclusive/postgres:18/default";
    let first = run_dir.write_history(key, b"first").unwrap();
    let second = run_dir.write_history(key, "second").unwrap();
    assert_eq!(first, "histories/claim+is-exclusive+postgres@18+default.json");
    assert_eq!(second, "histories/claim+is-exclusive+postgres@18+default~2.json");
    assert_eq!(fs::read(run_dir.path().join(first)).unwrap(), b"first");
    let outside = run_dir.write_history("../../../evil\0", b"x").unwrap();
    assert!(run_dir.path().join(outside).is_file());
    assert_eq!(names(&run_dir.path().join("histories")).len(), 3);
}

#[test]
fn what_cannot_be_written_is_named() {
    let root = tempfile::tempdir().unwrap();
    let file = root.path().join("a-file");
    fs::write(&file, "x").unwrap();
    let error = RunDir::create(&file, ID).unwrap_err();
    assert_eq!(error.to_string(), format!("could not write `{}`", file.join("runs").display()));
    assert!(error.source().is_some());

    let run_dir = written(root.path(), ID);
    fs::remove_dir_all(run_dir.path()).unwrap();
    fs::write(run_dir.path(), "a file where the directory was").unwrap();
    let error = run_dir.write_run(&sample::kept()).unwrap_err();
    let path = run_dir.path().join("run.json");
    assert_eq!(error.to_string(), format!("could not write `{}`", path.display()));
    let error = run_dir.write_history("a/b/c", b"x").unwrap_err();
    assert!(error.to_string().contains("histories`"), "{error}");
}

#[test]
fn a_report_that_cannot_take_its_name_leaves_nothing_behind() {
    let root = tempfile::tempdir().unwrap();
    let run_dir = RunDir::create(root.path(), ID).unwrap();
    fs::create_dir(run_dir.path().join("run.json")).unwrap();
    let error = run_dir.write_run(&sample::kept()).unwrap_err();
    assert!(error.to_string().contains("run.json"), "{error}");
    assert!(error.source().unwrap().to_string().contains("directory"), "{error:?}");
    assert_eq!(names(run_dir.path()), ["run.json"]);
}

#[test]
fn a_truncated_report_is_located() {
    let root = tempfile::tempdir().unwrap();
    let run_dir = written(root.path(), ID);
    let path = run_dir.path().join("run.json");
    let text = fs::read_to_string(&path).unwrap();
    for cut in [0, 1, text.len() / 3, text.len() - 3] {
        let end = (cut..).find(|end| text.is_char_boundary(*end)).unwrap();
        fs::write(&path, &text[..end]).unwrap();
        let error = RunDir::load(run_dir.path()).unwrap_err();
        let ReadError::Truncated { path: named, line, column } = &error else {
            panic!("at {end}: {error:?}");
        };
        assert_eq!((named, *line), (&path, text[..end].lines().count().max(1)));
        assert!(error.to_string().contains(&format!("line {line}, column {column}")), "{error}");
    }
}

#[test]
fn what_is_not_a_report_is_named() {
    let root = tempfile::tempdir().unwrap();
    let path = root.path().join("run.json");
    assert!(
        matches!(RunDir::load(root.path()), Err(ReadError::Open { path: named, .. }) if named == path)
    );
    fs::write(&path, "[1, 2]").unwrap();
    assert!(matches!(RunDir::load(&path), Err(ReadError::Malformed { line: 1, .. })));
    fs::write(&path, b"{\"schema\": \"\xff\"}").unwrap();
    assert!(matches!(RunDir::load(&path), Err(ReadError::Malformed { .. })));
}

#[test]
fn versions_are_read_by_their_major() {
    let root = tempfile::tempdir().unwrap();
    let path = root.path().join("run.json");
    let mut json = serde_json::to_value(sample::kept()).unwrap();
    json["schema"] = "1.9".into();
    json["added_in_1_9"] = true.into();
    json["cases"][0]["added_in_1_9"] = 1.into();
    fs::write(&path, json.to_string()).unwrap();
    assert_eq!(RunDir::load(&path).unwrap().schema, "1.9");

    // A report of another major may lack everything but its version and its writer.
    fs::write(&path, r#"{"schema": "2.0", "tool": {"version": "3.1.4"}, "cases": 0}"#).unwrap();
    let error = RunDir::load(&path).unwrap_err();
    let cause = error.source().unwrap().to_string();
    assert!(cause.contains("`2.0`") && cause.contains("`leaseproof 3.1.4`"), "{cause}");
}

#[test]
fn measurements_read_back_and_keep_what_was_there() {
    let root = tempfile::tempdir().unwrap();
    let run_dir = RunDir::create(root.path(), ID).unwrap();
    let bench = sample::bench_hostile();
    run_dir.write_bench(&bench).unwrap();
    run_dir.publish().unwrap();
    let written =
        ["bench.json", "bench.txt", "bmf.json", "history.csv", "report.html", "summary.md"];
    assert!(written.iter().all(|name| names(run_dir.path()).contains(&(*name).to_owned())));
    let latest = root.path().join("latest");
    assert_eq!(RunDir::load_bench(&latest).unwrap(), bench);
    assert_eq!(RunDir::load_bench(latest.join("bench.json")).unwrap(), bench);
    assert!(matches!(RunDir::load(&latest), Err(ReadError::Open { .. })));
    run_dir.write_run(&sample::kept()).unwrap();
    let loaded = RunDir::load_any(&latest).unwrap();
    assert_eq!((loaded.run, loaded.bench), (Some(sample::kept()), Some(bench)));
    let summary = fs::read_to_string(latest.join("summary.md")).unwrap();
    assert!(summary.contains("## Contracts") && summary.contains("## Measurements"), "{summary}");
    let page = fs::read_to_string(latest.join("report.html")).unwrap();
    let again = RunDir::write_page(run_dir.path(), RunDir::load_any(&latest).unwrap().report());
    assert_eq!(fs::read_to_string(again.unwrap()).unwrap(), page);
    let only = RunDir::load_any(latest.join("bench.json")).unwrap();
    assert!(only.run.is_none() && only.bench.is_some());
}
