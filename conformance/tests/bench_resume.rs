//! A bench that was interrupted, and what it can be resumed by.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use leaseproof_reports::RunDir;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

/// Four cells, two of which are measured twice.
const BENCH: &str = "bench --engine sqlite --scenario open-loop --scenario backlog-depth";

fn command(directory: &Path, line: &str) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_leaseproof"));
    command.args(line.split_whitespace()).current_dir(directory);
    command
}

#[track_caller]
fn ends(directory: &Path, line: &str, code: i32, saying: &str) {
    let output = command(directory, line).output().unwrap();
    let text = String::from_utf8([output.stdout, output.stderr].concat()).unwrap();
    let text = text.replace('│', " ").split_whitespace().collect::<Vec<_>>().join(" ");
    assert_eq!(output.status.code(), Some(code), "`{line}`: {text}");
    assert!(text.contains(saying), "`{saying}` is not said by `{line}`: {text}");
}

/// Begins the bench, interrupts it when the first repeat was saved, and returns its run directory.
fn interrupted(directory: &Path) -> PathBuf {
    let line = format!("{BENCH} --seed 7 --out reports");
    let mut bench = command(directory, &line).stdout(Stdio::null()).stderr(Stdio::null()).spawn();
    let bench = bench.as_mut().unwrap();
    let runs = directory.join("reports/runs");
    let saved = loop {
        assert_eq!(bench.try_wait().unwrap(), None, "it ended before it was interrupted");
        let run = fs::read_dir(&runs).into_iter().flatten().flatten().next();
        match run.map(|run| run.path()).filter(|run| run.join("bench.json").is_file()) {
            Some(run) => break run,
            None => std::thread::yield_now(),
        }
    };
    kill(Pid::from_raw(i32::try_from(bench.id()).unwrap()), Signal::SIGINT).unwrap();
    assert_eq!(bench.wait().unwrap().code(), Some(130));
    saved
}

#[test]
fn an_interrupted_bench_says_so_and_goes_on() {
    let directory = tempfile::tempdir().unwrap();
    let directory = directory.path();
    let run = interrupted(directory);
    let file = run.join("bench.json");
    let text = fs::read_to_string(&file).unwrap();
    let part = RunDir::load_bench(&run).unwrap();
    assert!((1..6).contains(&part.left), "{}", part.left);
    let summary = fs::read_to_string(run.join("summary.md")).unwrap();
    let incomplete = format!("incomplete: {} repeat", part.left);
    assert!(summary.contains(&incomplete), "{summary}");
    assert!(!directory.join("reports/latest").exists(), "half a run is not the latest");

    let resume = format!("{BENCH} --resume {}", run.display());
    for (from, to, saying) in [
        ("\"version\": \"0.1.0\"", "\"version\": \"0.0.9\"", "leaseproof was 0.0.9 and is 0.1.0"),
        ("\"synchronous\": \"", "\"synchronous\": \"not ", "is not what was measured before"),
        ("\"schema\": \"1.", "\"schema\": \"9.", "schema"),
    ] {
        assert!(text.contains(from), "{from} is not in {text}");
        let edited = text.replacen(from, to, 1);
        fs::write(&file, &edited).unwrap();
        ends(directory, &resume, 110, saying);
        assert_eq!(fs::read_to_string(&file).unwrap(), edited, "it was written over");
    }

    // What could not be measured is measured again, and what was measured is kept.
    fs::write(&file, &text).unwrap();
    ends(directory, &resume, 0, "4 cells");
    let whole = RunDir::load_bench(directory.join("reports/latest")).unwrap();
    assert_eq!((whole.left, whole.cells.len()), (0, 4));
    let first = |run: &leaseproof_reports::bench::BenchRun| run.cells[0].repeats.clone();
    assert!(!first(&part).is_empty(), "nothing was measured before the interrupt");
    for before in &part.cells {
        // In which order cells are measured is drawn from the seed, so a cell may have had one of its repeats.
        let after = whole.cells.iter().find(|cell| cell.key() == before.key()).unwrap();
        for repeat in &before.repeats {
            assert!(after.repeats.contains(repeat), "{}: {repeat:?} is not kept", before.key());
        }
    }
    let mut failed = whole.clone();
    let cell = &mut failed.cells[1];
    cell.violations.push("repeat 1: could not be measured: the server was gone".to_owned());
    cell.repeats[0].readings.clear();
    fs::write(&file, serde_json::to_string(&failed).unwrap()).unwrap();
    ends(directory, &resume, 0, "4 cells");
    let mended = RunDir::load_bench(&run).unwrap();
    assert_eq!(first(&mended), first(&whole));
    assert!(mended.cells[1].is_result() && !mended.cells[1].repeats[0].readings.is_empty());
}
