//! `leaseproof upgrade` and `leaseproof gate` as their users meet them, on the engine that is always there.

use std::fs;
use std::path::Path;
use std::process::Command;

use leaseproof_reports::baseline::Baseline;
use leaseproof_reports::{Loaded, RunDir};

/// The exit code of a command, and what its user reads with the diagnostics' line breaks undone.
fn run(directory: &Path, line: &str) -> (i32, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_leaseproof"));
    let command = command.args(line.split_whitespace()).current_dir(directory);
    let output = command.output().unwrap();
    let text = String::from_utf8([output.stdout, output.stderr].concat()).unwrap();
    let text = text.replace('│', " ").split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(!text.contains("panicked"), "{text}");
    (output.status.code().unwrap_or(-1), text)
}

#[track_caller]
fn ends(directory: &Path, line: &str, code: i32, saying: &[&str]) -> String {
    let (ended, text) = run(directory, line);
    assert_eq!(ended, code, "`{line}`: {text}");
    for words in saying {
        assert!(text.contains(words), "`{words}` is not said by `{line}`: {text}");
    }
    text
}

const MEASURE: &str = "upgrade sqlite sqlite --only measurements --groups 3 --scenario queue-state \
    --counters-only --seed 7";

/// The gate must be able to alarm, and must not alarm on a server beside itself.
#[test]
fn counted_work_tells_a_lost_index_from_nothing() {
    let directory = tempfile::tempdir().unwrap();
    let directory = directory.path();
    let said = ["worse:", "more work", "VM steps/claim", "the plan of claim", "in 3 groups"];
    let text = ends(directory, &format!("{MEASURE} --control no-index"), 103, &said);
    let head = text.split_whitespace().find(|word| word.ends_with("-head")).unwrap();
    let base = head.replace("-head", "-base");
    // Both sides are runs like any other, and compare the same later.
    ends(directory, &format!("compare {base} {head} --counters-only"), 103, &["in 3 groups"]);
    let comparison = directory.join("reports/runs").join(head.trim_end_matches("-head"));
    for file in ["comparison.json", "comparison.md", "comparison.html", "comparison-junit.xml"] {
        assert!(comparison.join(file).is_file(), "{file}");
    }
    let (code, text) = run(directory, MEASURE);
    assert!(matches!(code, 0 | 102), "{code}: {text}");
    assert!(!text.contains("more work"), "{text}");
}

#[test]
fn sides_that_cannot_be_compared_are_refused_at_once() {
    let directory = tempfile::tempdir().unwrap();
    let directory = directory.path();
    ends(
        directory,
        "upgrade sqlite mysql:9.7",
        2,
        &["`sqlite` and `mysql`", "two versions of one"],
    );
    let text = ends(directory, "upgrade sqlite url=ftp://me:hush@host", 2, &["`postgres://`"]);
    assert!(!text.contains("hush"), "{text}");
    ends(directory, "upgrade sqlite sqlite --scenario x", 4, &["no scenario is called `x`"]);
    ends(directory, "upgrade sqlite sqlite --groups 1", 2, &["--groups"]);
    assert!(!directory.join("reports").exists(), "nothing is written before there is something");
}

const GATE: &str = "gate sqlite --baseline accepted --only contracts --contract renew/never-shortens --matrix default";

#[test]
fn a_gate_holds_a_server_to_its_baseline() {
    let directory = tempfile::tempdir().unwrap();
    let directory = directory.path();
    ends(directory, GATE, 2, &["there is no baseline `accepted/sqlite.json`", "--update"]);
    ends(directory, &format!("{GATE} --update"), 0, &["wrote accepted/sqlite.json"]);
    ends(directory, GATE, 0, &["fine:", "all the same"]);
    ends(
        directory,
        &format!("{GATE} --update"),
        0,
        &["all the same", "wrote accepted/sqlite.json"],
    );
    let from = "gate sqlite --baseline accepted --from latest";
    ends(directory, from, 0, &["fine:"]);
    // What is asked for and not in the baseline is no pass, nor does it take the baseline's place.
    let other = GATE.replace("never-shortens", "extends-current-owner");
    ends(directory, &other, 102, &["no case was decided in both", "inconclusive:"]);
    let accepted = || fs::read(directory.join("accepted/sqlite.json")).unwrap();
    let before = accepted();
    ends(directory, &format!("{other} --update"), 2, &["was not written", "would be lost"]);
    assert_eq!(accepted(), before, "a part of the baseline was lost");
    // One half is renewed, and the other stays.
    let measure =
        "gate sqlite --baseline accepted --only measurements --scenario fault-probe --update";
    ends(directory, measure, 0, &["wrote accepted/sqlite.json"]);
    let both = RunDir::load_baseline(directory.join("accepted/sqlite.json")).unwrap();
    assert!(both.run.is_some_and(|run| run.cases.len() == 1) && both.bench.is_some());
    let narrow = measure.replace("fault-probe", "open-loop");
    ends(directory, &narrow, 2, &["was not written", "would be lost"]);
    ends(directory, GATE, 0, &["fine:"]);
    let profile = measure.replace("--update", "--profile full");
    ends(directory, &profile, 2, &["the profiles differ: `gate-quick` against `gate-full`"]);
    ends(
        directory,
        "gate mysql --baseline accepted/sqlite.json --from latest",
        2,
        &["engines are: sqlite"],
    );
    ends(directory, "gate mysql:9.7 --baseline accepted", 2, &["there are sqlite.json"]);
}

#[test]
fn a_bad_baseline_is_refused_and_left_as_it_was() {
    let directory = tempfile::tempdir().unwrap();
    let directory = directory.path();
    ends(directory, &format!("{GATE} --update"), 0, &[]);
    let file = directory.join("accepted/sqlite.json");
    let whole = fs::read_to_string(&file).unwrap();
    let bad = [
        (whole[..whole.len() / 2].to_owned(), "cut short"),
        (whole.replace("\"kept\"", "\"broken\""), "changed"),
        (String::new(), "is empty"),
        ("{}".to_owned(), "is not the report"),
        (whole.replace("\"schema\": \"1.0\"", "\"schema\": \"9.0\""), "9.0"),
    ];
    for (text, words) in bad {
        fs::write(&file, &text).unwrap();
        ends(directory, GATE, 110, &["accepted/sqlite.json", words]);
        ends(directory, &format!("{GATE} --update"), 110, &[words]);
        assert_eq!(fs::read_to_string(&file).unwrap(), text, "it was overwritten");
    }
    fs::write(&file, &whole).unwrap();
    let run = RunDir::load(directory.join("reports/latest")).unwrap();
    let run_json = directory.join("reports/latest/run.json").display().to_string();
    ends(directory, &format!("gate sqlite --baseline {run_json}"), 110, &["is no baseline"]);
    // A baseline of another engine.
    let mut other = run;
    for engine in &mut other.engines {
        (engine.label, engine.name) = ("mysql:9.7".to_owned(), "mysql".to_owned());
    }
    for case in &mut other.cases {
        case.engine = "mysql:9.7".to_owned();
    }
    let other = Loaded { run: Some(other), bench: None };
    let file = directory.join("accepted/mysql.json");
    Baseline::of(&other, "mysql:9.7").unwrap().write(&file).unwrap();
    let gate = GATE.replace("accepted", "accepted/mysql.json");
    ends(directory, &gate, 2, &["no engine is in both runs: mysql:9.7 against sqlite"]);
}

/// The action asks about an upgrade where it is given two engines, and shows the comparison.
#[test]
fn the_action_decides_on_an_upgrade() {
    let directory = tempfile::tempdir().unwrap();
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../ci/action.sh");
    let step = |name: &str, variables: &[(&str, &str)]| {
        let mut command = Command::new("bash");
        let command = command.arg(&script).arg(name).current_dir(directory.path());
        let command = command.env("LEASEPROOF_BIN", env!("CARGO_BIN_EXE_leaseproof"));
        let output = command.envs(variables.iter().copied()).output().unwrap();
        assert!(output.status.success(), "{output:?}");
        String::from_utf8(output.stdout).unwrap()
    };
    let asked = [
        ("LEASEPROOF_BASE", "sqlite"),
        ("LEASEPROOF_HEAD", "sqlite"),
        ("LEASEPROOF_ONLY", "contracts"),
        ("LEASEPROOF_MATRIX", "default"),
        ("LEASEPROOF_CONTRACTS", "renew/never-shortens"),
    ];
    let outputs = directory.path().join("outputs");
    let named = outputs.display().to_string();
    let text = step("run", &[&asked[..], &[("GITHUB_OUTPUT", &named)]].concat());
    assert!(text.contains("exit code 0"), "{text}");
    let outputs = fs::read_to_string(outputs).unwrap();
    let run = outputs.lines().find_map(|line| line.strip_prefix("directory=")).unwrap();
    let summary = step("summary", &[("LEASEPROOF_DIRECTORY", run)]);
    assert!(summary.starts_with("**fine: "), "{summary}");
}
