//! What a pipeline does with runs: split them over jobs, and act on the exit code.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use leaseproof_reports::{Run, RunDir};
use tempfile::TempDir;

/// A directory in which the program runs, without any server's URL from the environment.
struct Pipeline(TempDir);

impl Pipeline {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn command(&self, program: impl AsRef<Path>) -> Command {
        let mut command = Command::new(program.as_ref());
        command.current_dir(self.0.path());
        for engine in leaseproof_engines::REGISTRY {
            if let Some(server) = engine.server() {
                command.env_remove(server.url_variable);
            }
        }
        command
    }

    /// Runs the program with the words of `line`, and asserts how it ends and what it says.
    #[track_caller]
    fn ends(&self, line: &str, code: i32, saying: &[&str]) -> String {
        let mut command = self.command(env!("CARGO_BIN_EXE_leaseproof"));
        ended(&command.args(line.split_whitespace()).output().unwrap(), code, saying)
    }

    /// The newest run under a directory of reports.
    fn run(&self, out: &str) -> Run {
        RunDir::load(self.path(out).join("latest")).unwrap()
    }
}

#[track_caller]
fn ended(output: &Output, code: i32, saying: &[&str]) -> String {
    let bytes = [&output.stdout[..], &output.stderr[..]].concat();
    let text = String::from_utf8(bytes).unwrap().replace('│', " ");
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert_eq!(output.status.code(), Some(code), "{text}");
    for words in saying {
        assert!(text.contains(words), "`{words}` is not said in: {text}");
    }
    assert!(!text.contains("panicked"), "{text}");
    text
}

/// A few contracts of several variants, so that a run takes little time.
const RUN: &str = "run --engine sqlite --contract renew/* --seed 7";

#[test]
fn shards_have_every_case_once() {
    let pipeline = Pipeline::new();
    pipeline.ends(&format!("{RUN} --out whole"), 0, &[]);
    let whole = pipeline.run("whole");
    assert_eq!(whole.shard, None);
    let mut keys = Vec::new();
    for index in 1..=3 {
        let name = format!("shard-{index}");
        pipeline.ends(
            &format!("{RUN} --shard {index}/3 --out {name}"),
            0,
            &[&format!("shard {index} of 3, 1 engine")],
        );
        let run = pipeline.run(&name);
        let shard = run.shard.as_ref().unwrap();
        assert_eq!((shard.index, shard.count), (index, 3));
        assert_eq!(shard.total as usize, whole.cases.len());
        assert_eq!(shard.planned as usize, run.cases.len());
        for (place, case) in shard.cases.iter().zip(&run.cases) {
            assert_eq!(whole.cases[*place as usize].key(), case.key());
        }
        keys.extend(run.cases.iter().map(leaseproof_reports::Case::key));
    }
    keys.sort();
    let mut all: Vec<_> = whole.cases.iter().map(leaseproof_reports::Case::key).collect();
    all.sort();
    assert_eq!(keys, all);
    merged_is_whole(&pipeline, whole);
}

/// Both runs, with what differs between two runs of the same taken out.
fn merged_is_whole(pipeline: &Pipeline, whole: Run) {
    pipeline.ends(
        "merge shard-2 shard-3/latest/run.json shard-1 --out merged",
        0,
        &["of 3 shards; reports in merged/runs/"],
    );
    let merged = pipeline.run("merged");
    for file in ["summary.md", "junit.xml", "report.html"] {
        assert!(pipeline.path("merged/latest").join(file).is_file(), "{file}");
    }
    assert_eq!(
        merged.command,
        [
            "leaseproof",
            "run",
            "--engine",
            "sqlite",
            "--contract",
            "renew/*",
            "--seed",
            "7",
            "--out",
            "shard-1"
        ]
    );
    let [merged, whole] = [merged, whole].map(|mut run| {
        run.started = jiff::Timestamp::UNIX_EPOCH;
        (run.id, run.duration_ms, run.digest) = (String::new(), 0, None);
        run.command.clear();
        // How often who won a race, and how long something took, is another in each run.
        for case in &mut run.cases {
            case.duration_ms = 0;
            case.detail.clear();
            case.evidence.clear();
        }
        for engine in &mut run.engines {
            engine.capabilities.values_mut().for_each(|state| state.detail.clear());
        }
        run
    });
    assert_eq!(merged, whole);
    pipeline.ends("merge shard-1 shard-3 --out more", 2, &["shard 2 of 3 is missing", "--partial"]);
    pipeline.ends(
        "merge shard-1 shard-1 shard-2 shard-3 --out more",
        2,
        &["shard 1 was given twice"],
    );
    pipeline.ends("merge merged --out more", 2, &["is no shard"]);
    pipeline.ends("merge absent --out more", 110, &["could not read `absent`"]);
    assert!(!pipeline.path("more").exists());
    pipeline.ends("merge shard-1 shard-3 --partial --out more", 102, &["partial: shard 2 of 3"]);
    let run = pipeline.path("shard-2/latest/run.json");
    let text = std::fs::read_to_string(&run).unwrap();
    std::fs::write(&run, text.replacen("\"kept\"", "\"unsupported\"", 1)).unwrap();
    pipeline.ends("merge shard-1 shard-2 shard-3 --out no", 110, &["the run cannot be read"]);
    std::fs::write(&run, text.replacen("repeat\": 1", "repeat\": 2", 1)).unwrap();
    pipeline.ends("merge shard-1 shard-2 shard-3 --out no", 110, &["was changed after"]);
    std::fs::write(&run, &text[..text.len() / 2]).unwrap();
    pipeline.ends("merge shard-1 shard-2 shard-3 --out no", 110, &["is cut short"]);
    assert!(!pipeline.path("no").exists());
}

#[test]
fn a_shard_without_cases_selects_nothing() {
    let pipeline = Pipeline::new();
    let one = "run --engine sqlite --contract renew/rejects-done";
    // Where nobody gives a seed, shards have the same all the same.
    pipeline.ends(&format!("{one} --shard 1/4 --repeat 3"), 0, &["seed 0", "shard 1/4"]);
    let run = pipeline.run("reports");
    assert_eq!(run.cases[0].repeats.values().sum::<u32>(), 3);
    assert_eq!(run.cases.len(), run.shard.unwrap().cases.len());
    let words = ["shard 4/4 has no case: the whole run has 1", "no more shards than it has cases"];
    pipeline.ends(&format!("{one} --shard 4/4 --out empty"), 4, &words);
    assert!(!pipeline.path("empty").exists());
    pipeline.ends(&format!("{one} --shard 5/4"), 2, &["a shard is `K/N`"]);
}

#[test]
fn an_engine_without_a_case_in_the_shard_is_not_started() {
    let pipeline = Pipeline::new();
    let run = "run --engine mysql:5.1,sqlite --contract renew/rejects-done --seed 7";
    pipeline.ends(&format!("{run} --shard 1/2 --out 1"), 96, &["mysql:5.1 is missing"]);
    pipeline.ends(
        &format!("{run} --shard 2/2 --out 2"),
        0,
        &["shard 2 of 2, 1 engine, 1 contract"],
    );
    let labels = |run: &Run| run.engines.iter().map(|one| one.label.clone()).collect::<Vec<_>>();
    assert_eq!(labels(&pipeline.run("2")), ["sqlite"]);
    // The engine that is missing fails the whole run, as it would in one piece.
    pipeline.ends("merge 2 1 --out whole", 96, &["all kept; missing: mysql:5.1"]);
    assert_eq!(labels(&pipeline.run("whole")), ["mysql:5.1", "sqlite"]);
}

#[test]
fn a_known_failure_that_is_kept_again_is_found_on_the_whole() {
    let pipeline = Pipeline::new();
    let list = "[[failure]]\nengine = 'sqlite'\ncontract = 'renew/rejects-*'\nreason = 'a test'\n";
    std::fs::write(pipeline.path("known.toml"), list).unwrap();
    let run = "run --engine sqlite --contract renew/rejects-* --known-failing known.toml";
    pipeline.ends(&format!("{run} --out whole"), 100, &["1 known failure is kept again"]);
    for index in 1..=2 {
        // What keeps the entry true may be in the other shard.
        pipeline.ends(&format!("{run} --shard {index}/2 --out shards/{index}"), 0, &[]);
    }
    let words = ["1 known failure is kept again"];
    pipeline.ends("merge shards/1 shards/2 --out merged", 100, &words);
    assert_eq!(pipeline.run("merged").rotten, pipeline.run("whole").rotten);
    // Without the link to the latest, as after an upload; the history of a broken case goes along.
    let shard = std::fs::read_dir(pipeline.path("shards/1/runs")).unwrap().next().unwrap();
    let shard = shard.unwrap().path();
    let mut run = RunDir::load(&shard).unwrap();
    let case = &mut run.cases[0];
    case.outcome = leaseproof_reports::Outcome::Broken;
    case.replay = Some(format!("leaseproof replay {} '{}'", run.id, case.key()));
    case.history = Some("histories/one.json".to_owned());
    let listed = &mut run.shard.as_mut().unwrap().listed[0];
    listed.failing.push(listed.kept.remove(0));
    run.summary = leaseproof_reports::Summary::of(&run.cases, &run.engines);
    run.seal();
    let json = leaseproof_reports::format::json::render(&run);
    std::fs::write(shard.join("run.json"), json).unwrap();
    std::fs::remove_file(pipeline.path("shards/1/latest")).unwrap();
    pipeline.ends("merge shards/1 shards/2 --out no", 110, &["one.json"]);
    std::fs::create_dir(shard.join("histories")).unwrap();
    std::fs::write(shard.join("histories/one.json"), "a history").unwrap();
    pipeline.ends("merge shards/1 shards/2 --out broken", 100, &["1 broken"]);
    let merged = pipeline.run("broken");
    let case = merged.cases.iter().find(|case| case.history.is_some()).unwrap();
    assert!(case.replay.as_ref().unwrap().contains(&merged.id));
    let history = pipeline.path("broken/latest").join(case.history.as_ref().unwrap());
    assert_eq!(std::fs::read_to_string(history).unwrap(), "a history");
    assert_eq!(merged.rotten, []);
}

#[test]
fn a_published_report_is_whole_and_unedited() {
    let pipeline = Pipeline::new();
    pipeline.ends("run --engine sqlite --level core --seed 7 --out whole", 0, &[]);
    pipeline.ends("verify-report whole/latest", 0, &["whole, consistent and as it was written"]);
    let path = pipeline.path("whole/latest/run.json");
    let text = std::fs::read_to_string(&path).unwrap();
    // Formatted anew it is the same report.
    let value: serde_json::Value = serde_json::from_str(&text).unwrap();
    std::fs::write(&path, value.to_string()).unwrap();
    pipeline.ends("verify-report whole/latest/run.json", 0, &[]);
    let edited = |from: &str, to: &str| {
        assert!(text.contains(from));
        std::fs::write(&path, text.replacen(from, to, 1)).unwrap();
    };
    edited("\"detail\": \"", "\"detail\": \"really, ");
    pipeline.ends("verify-report whole/latest", 100, &["digest: the report was changed"]);
    edited("\"outcome\": \"kept\"", "\"outcome\": \"skipped\"");
    let words = ["summary: the summary says", "digest: ", "was skipped"];
    pipeline.ends("verify-report whole/latest", 100, &words);
    edited("\"digest\": \"sha256:", "\"digests\": \"sha256:");
    pipeline.ends("verify-report whole/latest", 100, &["digest: it has none"]);
    edited("\"schema\": \"1.", "\"schema\": \"2.");
    pipeline.ends("verify-report whole/latest", 110, &["schema `2."]);
    std::fs::write(&path, &text[..1000]).unwrap();
    pipeline.ends("verify-report whole/latest", 110, &["is cut short"]);
    pipeline.ends("verify-report absent", 110, &["could not read `absent`"]);
    pipeline.ends("verify-report", 2, &["<PATH>"]);
    pipeline.ends("run --engine sqlite --contract renew/rejects-done --out one", 0, &[]);
    let words = ["partial: sqlite: claim/is-exclusive did not run"];
    pipeline.ends("verify-report one/latest", 100, &words);
}

#[test]
fn a_page_for_a_decision_is_written_from_a_run() {
    let pipeline = Pipeline::new();
    pipeline.ends("run --engine sqlite --seed 7", 0, &[]);
    let words = ["Adopt it within the known limits below", "adopt.md"];
    pipeline.ends("adopt sqlite --from latest", 0, &words);
    let page = std::fs::read_to_string(pipeline.path("reports/latest/adopt.md")).unwrap();
    for words in [
        "# sqlite 3.",
        "## Contracts by variant",
        "| claim/is-exclusive | core | kept",
        "## Known limits",
        "| ack/bulk-locks-in-order | default | unsupported: ",
        "## Settings that were read from the server",
        "| durability | journal\\_mode | `wal` |",
        "## Statements to copy",
        "### claim\n\n```sql\n",
        "## Statements on the engine's clock",
    ] {
        assert!(page.contains(words), "`{words}` is not in: {page}");
    }
    assert!(!page.contains("mislead"), "{page}");
    assert!(page.contains("of the default matrix together"), "{page}");
    pipeline.ends("run --engine sqlite --contract renew/* --out few", 0, &[]);
    pipeline.ends("adopt sqlite --from few/latest", 102, &["Undecided: not every variant"]);
    pipeline.ends("adopt mysql --from latest", 2, &["`mysql:9.7` is not", "engines are: sqlite"]);
    pipeline.ends("adopt sqlite --from absent", 110, &["could not read `absent`"]);
    pipeline.ends("adopt sqlite,mysql", 2, &["is not one engine"]);
    pipeline.ends("adopt oracle", 2, &["unknown engine `oracle`"]);
    pipeline.ends("adopt sqlite --from latest --seed 7", 2, &["--from", "--seed"]);
}

/// The script of the action with these variables; the results that it names for the next step.
#[track_caller]
fn step(pipeline: &Pipeline, step: &str, code: i32, variables: &[(&str, &str)]) -> String {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../ci/action.sh");
    let output = pipeline.path("output");
    std::fs::write(&output, "").unwrap();
    let mut command = pipeline.command(script);
    command.env("LEASEPROOF_BIN", env!("CARGO_BIN_EXE_leaseproof"));
    command.env("GITHUB_OUTPUT", &output).env("GITHUB_STEP_SUMMARY", pipeline.path("summary"));
    command.envs(variables.iter().copied());
    ended(&command.arg(step).output().unwrap(), code, &[]);
    std::fs::read_to_string(output).unwrap()
}

/// The value of a result that a step named.
fn result<'output>(output: &'output str, name: &str) -> &'output str {
    let prefix = format!("{name}=");
    output.lines().find_map(|line| line.strip_prefix(prefix.as_str())).unwrap()
}

#[test]
fn the_steps_of_the_action_run_here_too() {
    let pipeline = Pipeline::new();
    step(&pipeline, "install", 0, &[]);
    // A name that a shell would act on is a name, and selects nothing.
    let hostile = [("LEASEPROOF_ENGINES", "sqlite"), ("LEASEPROOF_CONTRACTS", "$(touch${IFS}x);*")];
    let output = step(&pipeline, "run", 0, &hostile);
    assert_eq!((result(&output, "code"), result(&output, "directory")), ("4", ""));
    assert!(!pipeline.path("x").exists());
    step(&pipeline, "summary", 0, &[("LEASEPROOF_CODE", "4"), ("LEASEPROOF_DIRECTORY", "")]);
    step(&pipeline, "verdict", 4, &[("LEASEPROOF_CODE", "4")]);
    step(&pipeline, "verdict", 110, &[("LEASEPROOF_CODE", "")]);
    for index in ["1", "2"] {
        let (shard, out) = (format!("{index}/2"), format!("shards/{index}"));
        let shard = [
            ("LEASEPROOF_ENGINES", "sqlite"),
            ("LEASEPROOF_CONTRACTS", "renew/rejects-* renew/extends-*"),
            ("LEASEPROOF_SHARD", &shard),
            ("LEASEPROOF_SEED", "7"),
            ("LEASEPROOF_OUT", &out),
        ];
        assert_eq!(result(&step(&pipeline, "run", 0, &shard), "code"), "0");
        // What is uploaded is the directory of runs.
        let uploaded = pipeline.path(&format!("down/{index}"));
        std::fs::create_dir_all(uploaded.parent().unwrap()).unwrap();
        std::fs::rename(pipeline.path(&out).join("runs"), uploaded).unwrap();
    }
    let output = step(&pipeline, "run", 0, &[("LEASEPROOF_MERGE", "down/*")]);
    let directory = result(&output, "directory").to_owned();
    assert!(pipeline.path(&directory).join("run.json").is_file(), "{output}");
    let results =
        [("LEASEPROOF_CODE", result(&output, "code")), ("LEASEPROOF_DIRECTORY", &directory)];
    step(&pipeline, "summary", 0, &results);
    step(&pipeline, "verdict", 0, &results);
    let summary = std::fs::read_to_string(pipeline.path("summary")).unwrap();
    assert!(summary.starts_with("Leaseproof wrote no report; it ended with exit code 4.\n"));
    assert!(summary.contains("**1 engine, 5 contracts: all kept**"), "{summary}");
    assert!(summary.contains("## Contracts"), "{summary}");
}

#[test]
fn a_step_summary_stays_within_its_limit() {
    const LIMIT: usize = 1_000 * 1024;
    let pipeline = Pipeline::new();
    std::fs::create_dir(pipeline.path("run")).unwrap();
    let text = format!("**the verdict**\n{}\n", "x".repeat(LIMIT - 1_000));
    std::fs::write(pipeline.path("run/summary.md"), &text).unwrap();
    let variables = [("LEASEPROOF_CODE", "0"), ("LEASEPROOF_DIRECTORY", "run")];
    step(&pipeline, "summary", 0, &variables);
    assert_eq!(std::fs::read_to_string(pipeline.path("summary")).unwrap(), format!("{text}\n"));
    step(&pipeline, "summary", 0, &variables);
    let full = std::fs::metadata(pipeline.path("summary")).unwrap().len();
    assert!(full <= LIMIT as u64);
    std::fs::write(pipeline.path("summary"), "x".repeat(500_000)).unwrap();
    step(&pipeline, "summary", 0, &variables);
    let summary = std::fs::read_to_string(pipeline.path("summary")).unwrap();
    assert!(summary.len() < 501_000 && summary.contains("**the verdict**\n\nThe rest is"));
}

/// Every input of the action reaches the script, and every variable that the action sets is read there.
#[test]
fn the_action_and_its_script_agree() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let [action, script] = ["action.yml", "ci/action.sh"]
        .map(|name| std::fs::read_to_string(root.join(name)).unwrap());
    let inputs = action.split("inputs:\n").nth(1).unwrap().split("\noutputs:").next().unwrap();
    let names = inputs.lines().filter_map(|line| line.strip_prefix("  ")?.strip_suffix(':'));
    for name in names.filter(|name| !name.starts_with(' ')) {
        assert!(action.contains(&format!("${{{{ inputs.{name} }}}}")), "`{name}` is not used");
    }
    for line in action.lines().filter_map(|line| line.trim().split_once(": ${{")) {
        let (variable, _) = line;
        if variable.starts_with("LEASEPROOF_") {
            assert!(script.contains(variable), "`{variable}` is not read");
        }
    }
    // Text of an input that stands in a script would be executed.
    let scripts = action.lines().filter(|line| line.trim().starts_with("run:"));
    assert!(scripts.into_iter().all(|line| !line.contains("${{")), "{action}");
}
