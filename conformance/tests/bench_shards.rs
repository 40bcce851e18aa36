//! Benches that are split over the jobs of a CI matrix, and joined.

use std::path::Path;
use std::process::Command;

use leaseproof_reports::RunDir;

const BENCH: &str = "bench --engine sqlite --scenario open-loop --scenario fault-probe --seed 7";

#[track_caller]
fn ends(directory: &Path, line: &str, code: i32) -> String {
    let mut command = Command::new(env!("CARGO_BIN_EXE_leaseproof"));
    let output = command.args(line.split_whitespace()).current_dir(directory).output().unwrap();
    let text = String::from_utf8([output.stdout, output.stderr].concat()).unwrap();
    assert_eq!(output.status.code(), Some(code), "`{line}`: {text}");
    text
}

/// The cells of the newest run under a directory of reports, in their order.
fn cells(directory: &Path, out: &str) -> Vec<String> {
    let run = RunDir::load_bench(directory.join(out).join("latest")).unwrap();
    assert_eq!(run.seed, 7);
    run.cells.iter().map(|cell| format!("{}: {}", cell.key(), cell.repeats.len())).collect()
}

#[test]
fn the_parts_of_a_bench_are_the_whole() {
    let directory = tempfile::tempdir().unwrap();
    let directory = directory.path();
    ends(directory, &format!("{BENCH} --out whole"), 0);
    for part in ["1", "2"] {
        ends(directory, &format!("{BENCH} --out part{part} --shard {part}/2"), 0);
        let own = cells(directory, &format!("part{part}"));
        let scenario = |cell: &String| cell.split('/').nth(1).map(str::to_owned);
        assert!(own.iter().all(|cell| scenario(cell) == scenario(&own[0])), "{own:?}");
    }
    ends(directory, "merge part1 part2 --out merged", 0);
    assert_eq!(cells(directory, "merged"), cells(directory, "whole"));
    let alone = ends(directory, "merge part1 --out incomplete", 2);
    assert!(alone.contains("shard 2"), "{alone}");
    assert!(!directory.join("incomplete").exists());
}
